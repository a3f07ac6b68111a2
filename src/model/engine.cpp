#include "windtunnel/model/engine.hpp"

#include <string_view>

namespace windtunnel::model {

bool engine_numbers_of(const std::string& name, EngineNumbers& numbers) {
    constexpr std::string_view narrow_cache = "+kv8";
    std::string_view format = name;
    EngineNumbers found;
    if (format.ends_with(narrow_cache)) {
        found.kv_bytes = 1.0;
        format.remove_suffix(narrow_cache.size());
    }
    if (format == "bf16" || format == "fp16")
        found.dense = {2.0, Precision::bf16};
    else if (format == "fp8")
        found.dense = {1.0, Precision::fp8};
    else if (format == "fp4" || format == "nvfp4")
        found.dense = {0.5 + 1.0 / 16.0, Precision::nvfp4};
    else if (format == "int8" || format == "w8a8")
        found.dense = {1.0, Precision::int8};
    else if (format == "w4a16" || format == "int4")
        found.dense = {0.5 + 2.0 / 128.0, Precision::bf16};
    else if (format == "w4a8")
        found.dense = {0.5 + 2.0 / 128.0, Precision::int8};
    else
        return false;
    found.experts = found.dense;
    if (bytes_per_element(found.dense.compute) >= 2.0) found.dispatch_bytes = 2.0;
    numbers = found;
    return true;
}

}  // namespace windtunnel::model
