#pragma once
/// Time of the event loop: whole nanoseconds outside, fractions of 2^-20 ns inside, so that a stretch of equal steps
/// can be added up in one product and gives the same bits as one step after the other.
///
/// Model:   integers only; a duration is at most 2^62 fractions (73 minutes).
/// Source:  derived here.
#include <cmath>
#include <compare>
#include <cstdint>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::serve {

using Ticks = std::int64_t;  ///< durations in 2^-20 ns
inline constexpr int tick_bits = 20;
inline constexpr double ticks_per_second = 1e9 * static_cast<double>(Ticks{1} << tick_bits);
inline constexpr double most_ticks = 4.6e18;

/// To the nearest tick; longer than 73 minutes becomes 73 minutes.
[[nodiscard]] inline Ticks ticks_of(Seconds time) noexcept {
    const double ticks = time.value() * ticks_per_second;
    return ticks >= most_ticks ? static_cast<Ticks>(most_ticks) : static_cast<Ticks>(std::llround(ticks));
}

struct Moment {
    std::int64_t ns = 0;
    Ticks fraction = 0;  ///< 0 to 2^20 - 1

    friend constexpr auto operator<=>(const Moment&, const Moment&) noexcept = default;

    [[nodiscard]] constexpr Moment after(Ticks duration) const noexcept {
        const Ticks sum = fraction + duration;
        return {ns + (sum >> tick_bits), sum & ((Ticks{1} << tick_bits) - 1)};
    }
    /// First whole nanosecond that is not before: what the world outside sees.
    [[nodiscard]] constexpr std::int64_t ceiling() const noexcept { return ns + (fraction > 0 ? 1 : 0); }
};

inline constexpr std::int64_t never = INT64_MAX;

[[nodiscard]] constexpr double seconds_of(std::int64_t ns) noexcept {
    return static_cast<double>(ns) * 1e-9;
}

}  // namespace windtunnel::serve
