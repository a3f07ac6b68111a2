#pragma once
/// Numbers of the random streams of this room (base/philox.hpp). Fixed once and for all: another number is another
/// answer.
#include <cstdint>

namespace windtunnel::avail {

inline constexpr std::uint32_t memoryless_failures = 0xA000'0000;  ///< times and classes of exponential failures
inline constexpr std::uint32_t restart_times = 0xA000'0001;
inline constexpr std::uint32_t ladder_draws = 0xA000'0002;      ///< times and successes of rungs
inline constexpr std::uint32_t ageing_failures = 0xA100'0000;   ///< + class: lives of its members
inline constexpr std::uint32_t repair_times = 0xA200'0000;      ///< + class
inline constexpr std::uint32_t timed_paths = 0xA300'0000;       ///< of a chain, to a time
inline constexpr std::uint32_t long_paths = 0xA300'0001;        ///< cycles and windows of the long run
inline constexpr std::uint32_t pilot_paths = 0xA300'0002;       ///< trial: number of the walk
inline constexpr std::uint32_t target_paths = 0xA310'0000;      ///< + measure: until its target
inline constexpr std::uint32_t biased_paths = 0xA320'0000;      ///< + measure: importance sampling
inline constexpr std::uint32_t split_paths = 0xA330'0000;       ///< + measure: splitting
inline constexpr std::uint32_t clock_times = 0xA340'0000;       ///< + clock, of the paths with the trial of the clock
inline constexpr std::uint32_t elementary_walks = 0xA350'0000;  ///< trajectories over the ranges of constants

}  // namespace windtunnel::avail
