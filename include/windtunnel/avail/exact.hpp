#pragma once
/// The exact answer for jobs that are Markov: the twin of the Monte Carlo histories.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/job.hpp"

namespace windtunnel::avail {

struct ExactAnswer {
    double goodput = 0.0;         ///< useful / wall in the long run
    double availability = 0.0;    ///< share of time neither recovering nor waiting, in the long run
    PerSecond stop_rate;          ///< failures per wall time
    std::optional<Seconds> wall;  ///< expected time to do num_steps
    double shortage = 0.0;        ///< share of time with fewer nodes than the job needs
};

struct ExactOrReason {
    std::optional<ExactAnswer> answer;
    std::string reason;  ///< why there is none
};

/// Shortages more frequent than this are not left out silently: there is no exact answer then.
inline constexpr double negligible_shortage = 1e-6;

/// Goodput and expected time by the segment formula of checkpoint.hpp.
///
/// Model:   exponential failures that stop the job, no ladder, restart times with a Laplace transform, repairs in place
///          that take no time; enough spares: the chain of nodes under repair (spare_shortage) says so, or no class
///          takes a node. Ageing::while_running = failures excluded during restarts.
/// Limits:  the long run: no end effects of a horizon.
[[nodiscard]] ExactOrReason exact_answer(const JobOnCluster& job);

/// Share of time with fewer nodes than the job needs, when failures go on while it is down.
///
/// Model:   birth and death: k nodes under repair, all at once; failures at `rate` while k <= spares, then at
///          rate x (1 - (k - spares)/members). Only the mean of the repair law matters (insensitivity of a queue with
///          a server for each customer), so mixed laws enter with their mean.
/// Source:  machine-repair model, any text on queues.
[[nodiscard]] double spare_shortage(PerSecond rate, std::uint64_t members, Seconds mean_repair, int spares);

}  // namespace windtunnel::avail
