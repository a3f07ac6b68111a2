#include "windtunnel/base/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

namespace windtunnel::base {

namespace {

struct Unit {
    double size;
    const char* name;
};

/// In the largest unit that leaves at least one, else in the smallest. Expects units from large to small.
std::string in_best_unit(double value, std::span<const Unit> units) {
    for (const Unit& unit : units)
        if (std::abs(value) >= unit.size || unit.size == units.back().size || value == 0.0)
            return value == 0.0 ? fmt::format("0 {}", units.back().name)
                                : fmt::format("{:.3g} {}", value / unit.size, unit.name);
    return shortest_text(value);
}

constexpr Unit byte_units[] = {{tib, "TiB"}, {gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}, {1.0, "B"}};
constexpr Unit time_units[] = {{86400.0, "d"}, {3600.0, "h"}, {60.0, "min"}, {1.0, "s"},
                               {1e-3, "ms"},   {1e-6, "us"},  {1e-9, "ns"}};

}  // namespace

std::string shortest_text(double value) {
    return fmt::format("{}", value);
}
std::string text_of(Bytes size) {
    return in_best_unit(size.value(), byte_units);
}
std::string text_of(Seconds time) {
    return in_best_unit(time.value(), time_units);
}

}  // namespace windtunnel::base
