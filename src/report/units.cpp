#include "windtunnel/report/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace windtunnel::report {
namespace {

struct Step {
    double size;
    std::string_view unit;
};

/// Four significant digits with the largest unit that leaves a number of at least one.
std::string scaled(double value, std::span<const Step> steps) {
    if (!std::isfinite(value)) return fmt::format("{} {}", value, steps.front().unit);
    const Step* chosen = &steps.front();
    for (const Step& step : steps) {
        if (std::abs(value) >= step.size * 0.99995) chosen = &step;
    }
    const double number = value / chosen->size;
    const std::string text = std::abs(number) >= 9999.5 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
    return chosen->unit.empty() ? text : fmt::format("{} {}", text, chosen->unit);
}

constexpr std::array time_steps{Step{1e-9, "ns"},  Step{1e-6, "us"},  Step{1e-3, "ms"},  Step{1.0, "s"},
                                Step{60.0, "min"}, Step{3600.0, "h"}, Step{86400.0, "d"}};
constexpr std::array byte_steps{Step{1.0, "B"}, Step{base::kib, "KiB"}, Step{base::mib, "MiB"}, Step{base::gib, "GiB"},
                                Step{base::tib, "TiB"}};
constexpr std::array byte_rate_steps{Step{1.0, "B/s"}, Step{1e3, "kB/s"}, Step{1e6, "MB/s"}, Step{1e9, "GB/s"},
                                     Step{1e12, "TB/s"}};
constexpr std::array flop_rate_steps{Step{1.0, "FLOP/s"}, Step{1e9, "GFLOP/s"}, Step{1e12, "TFLOP/s"},
                                     Step{1e15, "PFLOP/s"}, Step{1e18, "EFLOP/s"}};
constexpr std::array money_steps{Step{1.0, "USD"}, Step{1e3, "k USD"}, Step{1e6, "M USD"}, Step{1e9, "G USD"}};
constexpr double watt_hour = 3600.0;
constexpr std::array energy_steps{Step{watt_hour, "Wh"}, Step{1e3 * watt_hour, "kWh"}, Step{1e6 * watt_hour, "MWh"},
                                  Step{1e9 * watt_hour, "GWh"}};
constexpr std::array count_steps{Step{1.0, ""}, Step{1e6, "M"}, Step{1e9, "G"}, Step{1e12, "T"}, Step{1e15, "P"}};

}  // namespace

std::string human(Seconds time) {
    return time.value() == 0.0 ? "0 s" : scaled(time.value(), time_steps);
}
std::string human(Bytes size) {
    return scaled(size.value(), byte_steps);
}
std::string human(BytesPerSecond rate) {
    return scaled(rate.value(), byte_rate_steps);
}
std::string human(FlopsPerSecond rate) {
    return scaled(rate.value(), flop_rate_steps);
}
std::string human(Usd money) {
    return scaled(money.value(), money_steps);
}
std::string human(Joules energy) {
    return scaled(energy.value(), energy_steps);
}

std::string human_count(double count) {
    constexpr double exact_below = 1e6;
    if (std::abs(count) < exact_below && count == std::floor(count)) return grouped(static_cast<std::int64_t>(count));
    constexpr double whole_above = 1e3;
    if (std::abs(count) < exact_below && std::abs(count) >= whole_above) return grouped(std::llround(count));
    return scaled(count, count_steps);
}

std::string percent(double fraction) {
    return fmt::format("{:.2f} %", 100.0 * fraction);
}

std::string grouped(std::int64_t number) {
    std::string digits = fmt::format("{}", number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

}  // namespace windtunnel::report
