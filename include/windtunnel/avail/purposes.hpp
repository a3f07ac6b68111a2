#pragma once
/// Numbers of the random streams of this room (base/philox.hpp). Fixed once and for all: another number is another
/// answer.
#include <cstdint>

namespace windtunnel::avail {

inline constexpr std::uint32_t memoryless_failures = 0xA000'0000;  ///< times and classes of exponential failures
inline constexpr std::uint32_t restart_times = 0xA000'0001;
inline constexpr std::uint32_t ladder_draws = 0xA000'0002;     ///< times and successes of rungs
inline constexpr std::uint32_t ageing_failures = 0xA100'0000;  ///< + class: lives of its members
inline constexpr std::uint32_t repair_times = 0xA200'0000;     ///< + class

}  // namespace windtunnel::avail
