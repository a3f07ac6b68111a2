#include <fmt/format.h>

#include "binders.hpp"

namespace windtunnel::input {

model::Efficiency bind_efficiency(const Values& values, Findings& findings) {
    using model::Evidence;
    model::Efficiency efficiency;
    if (values.has_bad()) return efficiency;
    efficiency.name = values.text("name");
    efficiency.version = values.text("version");
    efficiency.evidence =
        enum_of<Evidence>(values.text("evidence"), {{"measured", Evidence::measured},
                                                    {"fitted", Evidence::fitted},
                                                    {"assumed", Evidence::assumed},
                                                    {"first_principles", Evidence::first_principles}});
    efficiency.gemm = values.number("gemm");
    efficiency.gemm_half_size = values.number("gemm_half_size");
    efficiency.attention = values.number("attention");
    efficiency.grouped_gemm = values.number("grouped_gemm");
    efficiency.memory = values.number("memory");
    efficiency.scale_up = values.number("scale_up");
    efficiency.scale_out = values.number("scale_out");
    efficiency.scale_up_hidden = values.number("scale_up_hidden");
    efficiency.scale_out_hidden = values.number("scale_out_hidden");
    efficiency.kernel_launch = Seconds{values.number("kernel_launch")};
    efficiency.host_per_layer_pass = Seconds{values.number("host_per_layer_pass")};
    efficiency.moe_routing = Seconds{values.number("moe_routing")};
    efficiency.fixed_per_step = Seconds{values.number("fixed_per_step")};
    efficiency.low_precision_cast = values.number("low_precision_cast");
    efficiency.memory_context = Bytes{values.number("memory_context")};
    efficiency.memory_fragmentation = values.number("memory_fragmentation");
    for (const Values& release : values["release"].tables)
        efficiency.releases.push_back({release.text("name"), release.number("factor")});
    if (!efficiency.releases.empty()) efficiency.choose_release(efficiency.releases.back().release);
    efficiency.fitted_min_cards = values.integer("fitted_min_cards");
    efficiency.fitted_max_cards = values.integer("fitted_max_cards");
    efficiency.fitted_min_hidden = values.integer("fitted_min_hidden");
    efficiency.fitted_max_hidden = values.integer("fitted_max_hidden");
    efficiency.fitted_min_sequence = values.integer("fitted_min_sequence");
    efficiency.fitted_max_sequence = values.integer("fitted_max_sequence");
    efficiency.step_time_error_90 = values.number("step_time_error_90");
    for (const std::string what : {"cards", "hidden", "sequence"}) {
        const int least = values.integer("fitted_min_" + what), most = values.integer("fitted_max_" + what);
        if (least > most)
            findings.push_back(finding_at(values["fitted_min_" + what].place, "fitted_min_" + what,
                                          fmt::format("{} is above fitted_max_{} {}", least, what, most),
                                          fmt::format("at most {}", most)));
    }
    return efficiency;
}

model::EngineEfficiency bind_engine_efficiency(const Values& values) {
    using model::Evidence;
    model::EngineEfficiency efficiency;
    if (values.has_bad()) return efficiency;
    efficiency.name = values.text("name");
    efficiency.evidence =
        enum_of<Evidence>(values.text("evidence"), {{"measured", Evidence::measured},
                                                    {"fitted", Evidence::fitted},
                                                    {"assumed", Evidence::assumed},
                                                    {"first_principles", Evidence::first_principles}});
    for (const model::EngineParameter& parameter : model::engine_parameters())
        parameter.put(efficiency, values.number(parameter.name));
    efficiency.relative_error_90 = values.number("relative_error_90");
    return efficiency;
}

}  // namespace windtunnel::input
