#pragma once
/// The two-state machine: up for an exponential time, down for an exponential time.
#include "windtunnel/base/quantity.hpp"

namespace windtunnel::avail {

/// mu / (lambda + mu) with lambda = 1/mean_up and mu = 1/mean_down. Holds for every law with these means.
[[nodiscard]] double steady_availability(Seconds mean_up, Seconds mean_down) noexcept;

/// Probability to be up at `time` after a start in the up state. Source: any text on Markov chains.
[[nodiscard]] double transient_availability(Seconds mean_up, Seconds mean_down, Seconds time) noexcept;

/// Mean of transient_availability over [0, time].
[[nodiscard]] double interval_availability(Seconds mean_up, Seconds mean_down, Seconds time) noexcept;

}  // namespace windtunnel::avail
