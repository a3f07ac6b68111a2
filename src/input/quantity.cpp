#include "windtunnel/input/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "windtunnel/base/nearest.hpp"
#include "windtunnel/base/quantity.hpp"

namespace windtunnel::input {
namespace {

constexpr Dimension none{0, 0, 0, 0, 0}, time_{1, 0, 0, 0, 0}, data{0, 1, 0, 0, 0}, work{0, 0, 1, 0, 0},
    frequency{-1, 0, 0, 0, 0}, energy{0, 0, 0, 1, 0}, power{-1, 0, 0, 1, 0}, money{0, 0, 0, 0, 1};

struct Unit {
    std::string_view symbol;
    double factor;
    Dimension dimension;
};

constexpr Unit units[] = {
    {"%", 0.01, none},
    {"ns", 1e-9, time_},
    {"us", 1e-6, time_},
    {"ms", 1e-3, time_},
    {"s", 1.0, time_},
    {"min", 60.0, time_},
    {"h", 3600.0, time_},
    {"day", 86400.0, time_},
    {"days", 86400.0, time_},
    {"week", 7 * 86400.0, time_},
    {"weeks", 7 * 86400.0, time_},
    {"year", 365 * 86400.0, time_},
    {"years", 365 * 86400.0, time_},
    {"Hz", 1.0, frequency},
    {"MHz", 1e6, frequency},
    {"GHz", 1e9, frequency},
    {"B", 1.0, data},
    {"kB", 1e3, data},
    {"MB", 1e6, data},
    {"GB", 1e9, data},
    {"TB", 1e12, data},
    {"PB", 1e15, data},
    {"KiB", base::kib, data},
    {"MiB", base::mib, data},
    {"GiB", base::gib, data},
    {"TiB", base::tib, data},
    {"PiB", 1024.0 * base::tib, data},
    {"bit", 0.125, data},
    {"kbit", 125.0, data},
    {"Mbit", 125e3, data},
    {"Gbit", 125e6, data},
    {"Tbit", 125e9, data},
    {"FLOP", 1.0, work},
    {"MFLOP", 1e6, work},
    {"GFLOP", 1e9, work},
    {"TFLOP", 1e12, work},
    {"PFLOP", 1e15, work},
    {"EFLOP", 1e18, work},
    {"ZFLOP", 1e21, work},
    {"YFLOP", 1e24, work},
    {"J", 1.0, energy},
    {"kJ", 1e3, energy},
    {"MJ", 1e6, energy},
    {"GJ", 1e9, energy},
    {"Wh", 3600.0, energy},
    {"kWh", 3.6e6, energy},
    {"MWh", 3.6e9, energy},
    {"GWh", 3.6e12, energy},
    {"W", 1.0, power},
    {"kW", 1e3, power},
    {"MW", 1e6, power},
    {"GW", 1e9, power},
    {"USD", 1.0, money},
};

const Unit* find_unit(std::string_view symbol) {
    for (const Unit& unit : units)
        if (unit.symbol == symbol) return &unit;
    return nullptr;
}

/// Names the nearest unit only where it shares something with what was written: "y" is not near to "%".
std::string unknown_unit(std::string_view symbol) {
    std::vector<std::string> names;
    for (const Unit& unit : units) names.emplace_back(unit.symbol);
    const std::string nearest = base::nearest_name(symbol, names);
    const std::string text = fmt::format("unknown unit \"{}\"", symbol.substr(0, 40));
    const auto longer = std::max(symbol.size(), nearest.size());
    const bool alike = symbol.size() <= 40 && static_cast<std::size_t>(base::edit_distance(symbol, nearest)) < longer;
    return alike ? text + ", nearest known: " + nearest : text;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// The value so far times or over one unit symbol.
void apply_unit(ParsedQuantity& quantity, std::string_view symbol, int sign) {
    const Unit* unit = find_unit(symbol);
    if (unit == nullptr) {
        quantity.problem = unknown_unit(symbol);
        return;
    }
    quantity.value = sign > 0 ? quantity.value * unit->factor : quantity.value / unit->factor;
    for (std::size_t i = 0; i < quantity.dimension.size(); ++i) quantity.dimension[i] += sign * unit->dimension[i];
}

std::string expected_text(const Dimension& wanted, std::string_view text, std::string_view example) {
    // "400 Gbit" where a rate is wanted: offer the user's own number.
    const std::string rate = fmt::format("{}/s", trimmed(text));
    const ParsedQuantity as_rate = parse_quantity(rate);
    const bool fits =
        example.find('/') != std::string_view::npos && as_rate.problem.empty() && as_rate.dimension == wanted;
    return fmt::format("{}, for example \"{}\"", dimension_name(wanted), fits ? std::string_view{rate} : example);
}

}  // namespace

std::string dimension_name(const Dimension& dimension) {
    constexpr std::string_view names[] = {"time", "data", "work", "energy", "money"};
    std::string above, below;
    for (std::size_t i = 0; i < dimension.size(); ++i) {
        std::string& side = dimension[i] > 0 ? above : below;
        for (int n = std::abs(dimension[i]); n > 0; --n) {
            if (!side.empty()) side += ' ';
            side += names[i];
        }
    }
    if (above.empty() && below.empty()) return "a plain number";
    if (below.empty()) return above;
    return (above.empty() ? std::string{"1"} : above) + "/" + below;
}

ParsedQuantity parse_quantity(std::string_view text) {
    ParsedQuantity quantity;
    std::string_view rest = trimmed(text);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), quantity.value);
    if (error == std::errc::result_out_of_range) {
        quantity.problem = "the number is out of range";
        return quantity;
    }
    if (error != std::errc{}) {
        quantity.problem = "no number at its start";
        return quantity;
    }
    rest = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
    if (!std::isfinite(quantity.value)) {
        quantity.problem = "the number is not finite";
        return quantity;
    }
    if (rest.empty()) return quantity;
    const std::size_t slash = rest.find('/');
    apply_unit(quantity, rest.substr(0, slash), +1);
    if (quantity.problem.empty() && slash != std::string_view::npos) apply_unit(quantity, rest.substr(slash + 1), -1);
    if (quantity.problem.empty() && !std::isfinite(quantity.value)) quantity.problem = "the number is out of range";
    return quantity;
}

CheckedQuantity read_quantity(std::string_view text, std::string_view example) {
    const Dimension wanted = parse_quantity(example).dimension;
    const ParsedQuantity quantity = parse_quantity(text);
    if (!quantity.problem.empty()) return {0.0, quantity.problem, expected_text(wanted, text, example)};
    if (quantity.dimension != wanted)
        return {0.0, "is " + dimension_name(quantity.dimension), expected_text(wanted, text, example)};
    return {quantity.value, {}, {}};
}

}  // namespace windtunnel::input
