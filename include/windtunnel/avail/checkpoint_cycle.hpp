#pragma once
/// A job in intervals with checkpoints, under Poisson failures: mean, variance and optimum of the regenerative cycle.
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

struct CycleMoments {
    double mean = 0.0;
    double variance = 0.0;
    double clean = 1.0;  ///< probability that an attempt sees no failure that goes back to the checkpoint
};

/// Time until `work` of work and its checkpoint are done, from one checkpoint to the next.
///
/// Model:   first step: an attempt of length L = work + write ends well with probability exp(-a L), a = rate of the
///          failures that go back to the checkpoint; otherwise its recovery and another attempt follow. The other
///          failures add their recovery and lost work and the attempt goes on: a compound Poisson time. Recoveries
///          with `failures_in_recovery` are attempts that a failure of any kind begins anew, each drawn anew.
/// Inputs:  work, write >= 0; mtbf > 0.
/// Returns: both moments exactly.
/// Limits:  failures are independent of each other; with failures_in_recovery the recovery that was under way starts
///          again, whatever the second failure was.
/// Source:  Daly, Future Generation Computer Systems 22(3), 2006, section 3 (mean); first-step analysis, any text on
///          renewal theory (variance).
[[nodiscard]] CycleMoments cycle_moments(const model::CheckpointCycle& job, double work);

/// Work / interval cycles: mean and standard deviation of the wall time, and work over mean.
struct WallTime {
    double mean = 0.0;
    double deviation = 0.0;
    double efficiency = 0.0;
};
[[nodiscard]] WallTime wall_time(const model::CheckpointCycle& job, double interval);

/// The interval of a rule. Young sqrt(2 d M); Daly's higher-order form; optimum: M (1 + W(-exp(-1 - d/M))), the zero of
/// the derivative of mean time per work, W the main branch of Lambert; M = mean time between the failures that go back
/// to the checkpoint for the optimum. `given`: that of the job.
/// Source:  Young 1974; Daly 2006, equation 37; Lambert's function: Corless et al., Adv. Comput. Math. 5, 1996.
[[nodiscard]] double interval_of(const model::CheckpointCycle& job, model::IntervalRule rule);

}  // namespace windtunnel::avail
