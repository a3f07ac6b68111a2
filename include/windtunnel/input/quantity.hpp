#pragma once
/// Text with a unit to a number: "400 Gbit/s", "64 GiB", "1.5 us", "0.08 USD/kWh", "12 %". 1 GB = 1e9 B, 1 GiB = 2^30
/// B.
#include <array>
#include <string>
#include <string_view>

namespace windtunnel::input {

/// Exponents of time, data, work (floating-point operations), energy and money.
using Dimension = std::array<int, 5>;

/// "data/time", "time", "a plain number".
[[nodiscard]] std::string dimension_name(const Dimension& dimension);

struct ParsedQuantity {
    double value = 0.0;  ///< in seconds, bytes, operations, joules, US dollars
    Dimension dimension{};
    std::string problem;  ///< empty: read
};

/// Number and unit; a unit is one symbol or symbol/symbol. A lone number has no dimension, "%" is a hundredth.
[[nodiscard]] ParsedQuantity parse_quantity(std::string_view text);

/// Reads a quantity of the dimension that `example` has. problem: what is wrong, without the text itself;
/// expected: "data/time, for example \"400 Gbit/s\"".
struct CheckedQuantity {
    double value = 0.0;
    std::string problem;
    std::string expected;
};
[[nodiscard]] CheckedQuantity read_quantity(std::string_view text, std::string_view example);

}  // namespace windtunnel::input
