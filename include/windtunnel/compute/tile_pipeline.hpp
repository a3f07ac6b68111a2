#pragma once
/// Tiles on their way through the engines of a core: move in, load, compute, move out.
#include <cstddef>
#include <span>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::compute {

/// Model:   n equal tiles pass k engines in order; an engine works on one tile at a time, in order. Between two engines
///          lie `slots` buffers: a tile holds one from when the first engine begins to write it until the second has
///          read it. Two or more (double buffer): sum s + (n-1) max s. One: sum s + (n-1) max (s_i + s_i+1).
/// Inputs:  n >= 0, times >= 0, slots >= 1.
/// Returns: time of all tiles, >= 0.
/// Limits:  equal tiles; engines share no bandwidth.
/// Source:  flow shop with equal jobs; buffers as counting semaphores, derived here and checked against
///          simulated_pipeline_time.
[[nodiscard]] Seconds pipeline_time(int tiles, std::span<const Seconds> stages, int slots) noexcept;

/// One buffer for the whole way: a tile leaves before the next comes in. n x sum s.
[[nodiscard]] Seconds unbuffered_time(int tiles, std::span<const Seconds> stages) noexcept;

/// The slow twin: tile by tile through in-order engines, with `slots[i]` buffers between engine i and i + 1 and at most
/// `in_flight` tiles on the way (0: any number). Times of stage i and tile j in `times[j * k + i]`: tiles may differ.
[[nodiscard]] Seconds simulated_pipeline_time(int tiles, std::size_t stages, std::span<const Seconds> times,
                                              std::span<const int> slots, int in_flight);

}  // namespace windtunnel::compute
