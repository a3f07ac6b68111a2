#include "windtunnel/calibrate/parameters.hpp"

#include <array>

namespace windtunnel::calibrate {
namespace {

using model::Efficiency;

template <double Efficiency::*member>
constexpr Parameter number(std::string_view name, std::string_view unit, double prior, double lower, double upper,
                           double width) {
    return {name,
            unit,
            prior,
            lower,
            upper,
            width,
            [](const Efficiency& set) { return set.*member; },
            [](Efficiency& set, double value) { set.*member = value; }};
}

template <double Efficiency::*member>
constexpr Parameter hidden(std::string_view name, double prior, double lower, double width) {
    return {name,
            "1 - value",
            prior,
            lower,
            1.0,
            width,
            [](const Efficiency& set) { return 1.0 - set.*member; },
            [](Efficiency& set, double value) { set.*member = 1.0 - value; }};
}

template <Seconds Efficiency::*member, int per_second>
constexpr Parameter time(std::string_view name, std::string_view unit, double prior, double lower, double upper,
                         double width) {
    return {name,
            unit,
            prior,
            lower,
            upper,
            width,
            [](const Efficiency& set) { return (set.*member).value() * per_second; },
            [](Efficiency& set, double value) { set.*member = Seconds{value / per_second}; }};
}

constexpr std::array table{
    number<&Efficiency::gemm>("gemm", "fraction of peak", 0.75, 0.3, 0.98, 0.15),
    number<&Efficiency::gemm_half_size>("gemm_half_size", "elements", 200.0, 20.0, 1000.0, 0.5),
    number<&Efficiency::attention>("attention", "fraction of 16-bit peak", 0.45, 0.1, 0.9, 0.4),
    number<&Efficiency::grouped_gemm>("grouped_gemm", "fraction of a dense product", 0.85, 0.4, 1.0, 0.1),
    number<&Efficiency::memory>("memory", "fraction of bandwidth", 0.70, 0.3, 0.95, 0.2),
    number<&Efficiency::scale_up>("scale_up", "fraction of bandwidth", 0.75, 0.2, 0.98, 0.25),
    number<&Efficiency::scale_out>("scale_out", "fraction of bandwidth", 0.80, 0.2, 0.98, 0.25),
    hidden<&Efficiency::scale_up_hidden>("scale_up_hidden", 0.9, 0.1, 0.3),
    hidden<&Efficiency::scale_out_hidden>("scale_out_hidden", 0.5, 0.02, 0.5),
    time<&Efficiency::kernel_launch, 1'000'000>("kernel_launch", "us", 5.0, 1.0, 15.0, 0.4),
    time<&Efficiency::host_per_layer_pass, 1000>("host_per_layer_pass", "ms", 0.3, 1e-4, 5.0, 2.0),
    time<&Efficiency::moe_routing, 1'000'000>("moe_routing", "us", 60.0, 5.0, 1000.0, 0.5),
    time<&Efficiency::fixed_per_step, 1000>("fixed_per_step", "ms", 20.0, 2.0, 60.0, 0.5),
    number<&Efficiency::low_precision_cast>("low_precision_cast", "multiple of the bytes", 1.0, 0.2, 6.0, 0.5),
};

}  // namespace

std::span<const Parameter> parameters() {
    return table;
}

const Parameter* find_parameter(std::string_view name) {
    for (const Parameter& parameter : table)
        if (parameter.name == name) return &parameter;
    return nullptr;
}

Efficiency prior_efficiency() {
    Efficiency efficiency;
    for (const Parameter& parameter : table) parameter.set(efficiency, parameter.prior);
    efficiency.host_per_layer_pass = Seconds{0.0};  // only where the host is the bound: then its set frees the value
    return efficiency;
}

}  // namespace windtunnel::calibrate
