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

double EngineParameter::get(const EngineEfficiency& set) const noexcept {
    if (const auto* share = std::get_if<double EngineEfficiency::*>(&member)) return set.**share;
    return (set.**std::get_if<Seconds EngineEfficiency::*>(&member)).value();
}

void EngineParameter::put(EngineEfficiency& set, double value) const noexcept {
    if (const auto* share = std::get_if<double EngineEfficiency::*>(&member))
        set.** share = value;
    else
        set.**std::get_if<Seconds EngineEfficiency::*>(&member) = Seconds{value};
}

const std::vector<EngineParameter>& engine_parameters() {
    using E = EngineEfficiency;
    // clang-format off: one parameter per line
    static const std::vector<EngineParameter> all{
        {"weights", &E::weights, "", 0.05, 1.0, "share of memory bandwidth, weights of matrix products"},
        {"cache", &E::cache, "", 0.05, 1.0, "share of memory bandwidth, key/value cache"},
        {"gemm", &E::gemm, "", 0.02, 1.0, "share of dense peak, 16 bit products"},
        {"gemm_8", &E::gemm_8, "", 0.02, 1.0, "share of dense peak, products of 8 bit or less"},
        {"attention", &E::attention, "", 0.02, 1.0, "share of 16 bit peak, prefill attention"},
        {"latent_attention", &E::latent_attention, "", 0.02, 1.0,
         "share of 16 bit peak, absorbed MLA attention of decode"},
        {"grouped_memory", &E::grouped_memory, "", 0.02, 1.0, "share of memory bandwidth, expert weights"},
        {"grouped_gemm", &E::grouped_gemm, "", 0.01, 1.0, "share of dense peak, grouped expert products"},
        {"scale_up", &E::scale_up, "", 0.02, 1.0, "share of the bandwidth inside a domain, large collectives"},
        {"scale_out", &E::scale_out, "", 0.02, 1.0, "share of the bandwidth between domains"},
        {"streaming_passes", &E::streaming_passes, "", 0.0, 200.0,
         "times that a layer moves its tokens x hidden in 16 bit"},
        {"permute_passes", &E::permute_passes, "", 0.0, 100.0,
         "times that an expert layer moves tokens x top_k x hidden"},
        {"all_reduce_latency", &E::all_reduce_latency, "us", 0.0, 1e-3, "of an all-reduce of a few bytes"},
        {"all_to_all_latency", &E::all_to_all_latency, "us", 0.0, 1e-3,
         "of dispatch and of combine, waiting for the slowest rank included"},
        {"all_to_all_issue", &E::all_to_all_issue, "us", 0.0, 1e-3,
         "of dispatch and of combine on the cores, which no overlap hides"},
        {"fixed_per_layer", &E::fixed_per_layer, "us", 0.0, 1e-3, "start of the kernels of a layer"},
        {"fixed_per_expert_layer", &E::fixed_per_expert_layer, "us", 0.0, 1e-3, "more for a layer with experts"},
        {"fixed_per_latent_layer", &E::fixed_per_latent_layer, "us", 0.0, 1e-3, "more for a layer with MLA"},
        {"fixed_per_step", &E::fixed_per_step, "ms", 0.0, 0.1, "scheduler, sampler and host gap of a step"},
        {"fixed_per_sequence", &E::fixed_per_sequence, "us", 0.0, 1e-3, "host work of a sequence in a step"},
        {"eager_floor_per_layer", &E::eager_floor_per_layer, "ms", 0.0, 0.02,
         "least time of a layer in a step with prefill"},
        {"eager_floor_per_expert_layer", &E::eager_floor_per_expert_layer, "ms", 0.0, 0.02,
         "more for a layer with experts"},
        {"first_token_fixed", &E::first_token_fixed, "ms", 0.0, 5.0,
         "of a request beside its steps: tokenizer, hand-over, sampling"},
        {"group_reads", &E::group_reads, "", 0.0, 1.0,
         "query heads of a group beyond the first that read its keys and values again"},
        {"natural_skew", &E::natural_skew, "", 1.0, 50.0,
         "load of the fullest card over the mean where nothing balances the experts"},
        {"aligned_share", &E::aligned_share, "", 0.0, 1.0,
         "requests of a closed loop with equal lengths that start together"},
    };
    // clang-format on
    return all;
}

}  // namespace windtunnel::model
