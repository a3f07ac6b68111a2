#pragma once
/// How often to write a checkpoint, and what failures then cost: closed forms for exponential failures.
#include "windtunnel/base/quantity.hpp"

namespace windtunnel::avail {

/// First-order optimum sqrt(2 x write x mtbf). Source: Young, Communications of the ACM 17(9), 1974.
[[nodiscard]] Seconds young_interval(Seconds write, Seconds mtbf) noexcept;

/// Higher-order optimum; mtbf when writing takes twice the mtbf or longer. Work time, without the write.
/// Source: Daly, Future Generation Computer Systems 22(3), 2006, equation 37.
[[nodiscard]] Seconds daly_interval(Seconds write, Seconds mtbf) noexcept;

/// write/interval + interval/(2 mtbf): first-order share of the time that checkpoints and lost work take.
[[nodiscard]] double first_order_overhead(Seconds interval, Seconds write, Seconds mtbf) noexcept;

/// May a failure strike while the job restarts (and start the restart anew)?
enum class RestartFailures { possible, excluded };

/// Expected wall time to get `work` seconds of work and then `write` seconds of checkpoint done.
///
/// Model:   failures are Poisson with mean distance mtbf; each throws the segment back to its beginning and costs one
///          restart. (e^{s/M} - 1)(M + R), s = work + write; R = mean restart, or what it takes with failures inside.
/// Inputs:  work, write >= 0; mtbf > 0, may be infinite; mean_restart as `restart_duration` gives it.
/// Source:  Daly 2006, section 3, equation 13 for deterministic restarts with failures inside.
[[nodiscard]] Seconds expected_segment_time(Seconds work, Seconds write, Seconds mtbf, Seconds mean_restart) noexcept;

/// Expected time until a restart comes through. `survival` = probability that no failure strikes one attempt (its
/// Laplace transform at 1/mtbf): mtbf (1/survival - 1), every attempt drawn anew. `excluded` gives `mean` itself.
[[nodiscard]] Seconds restart_duration(Seconds mean, double survival, Seconds mtbf, RestartFailures failures) noexcept;

}  // namespace windtunnel::avail
