#pragma once
/// What happens to one job in one trial, event by event.
#include <cstdint>
#include <string>
#include <vector>

#include "windtunnel/avail/job.hpp"

namespace windtunnel::avail {

/// Where the wall clock went. The phases sum to `wall` (rounding).
struct History {
    Seconds wall;             ///< until the work was done, or the horizon
    Seconds useful;           ///< work that counted at full speed: completed steps x step time
    Seconds slowed;           ///< what slow members added to the time of steps
    Seconds checkpoint;       ///< writing checkpoints
    Seconds lost;             ///< work that was done and had to be done again
    Seconds detection;        ///< standing still until a failure is noticed
    Seconds recovery;         ///< rungs of the ladder and restarts
    Seconds waiting;          ///< for a spare node or a repair in place
    bool finished = false;    ///< the work is done; false: the horizon, or the trial's limit of events, came first
    std::uint64_t stops = 0;  ///< failures that stopped the job or struck while it was down
    std::uint64_t checkpoints = 0;        ///< written completely
    int fewest_spares = 0;                ///< lowest level of the pool
    double spare_seconds = 0.0;           ///< level of the pool x time
    Seconds without_spare;                ///< the pool is empty
    std::vector<std::uint64_t> failures;  ///< by class
    std::vector<Seconds> time_lost;  ///< by class that began the outage: all from detection to waiting, and lost work;
                                     ///< slow members: slowed
    std::vector<std::uint64_t> recoveries;  ///< by rung that succeeded; the last number: plain restarts
};

/// One line of a printed history.
struct HistoryEvent {
    Seconds at;               ///< wall clock
    std::string what;         ///< "GPU HBM memory fails", "restart succeeds", "a node returns", ...
    double steps_done = 0.0;  ///< progress just after it
    int spares = 0;
};

/// Event-driven history of trial `trial`: a pure function of its arguments.
///
/// Model:   The job computes, stands still to write a checkpoint every checkpoint_steps (none at the end of the work),
///          and is stopped by failures of its classes. After a stop the rungs that cover every failure of the outage
///          are tried in order, then the restart, which always succeeds. A rung that needs no spare and keeps the work
///          mends in place; any other rung and the restart first replace nodes from the pool, in order, and wait where
///          it is empty or where a member is repaired in place. Nodes come back to the pool after their repair. A
///          failure during an outage joins it: the ladder starts again for both. Slow members lengthen steps until they
///          are repaired; only the slowest counts, because the job is synchronous. Lost: nothing; the step under way;
///          all work since the last complete checkpoint.
///          A stop is noticed after the time of its class, in which the job stands still; a further failure meanwhile
///          is noticed with it. Corruption goes on until it is noticed; then the ladder's rungs that keep work cannot
///          help, and all work since the last checkpoint before it is lost. A rung whose time passes its limit ends
///          there without success. A checkpoint with a background part counts from its end on; a rollback before that
///          goes to the one before.
/// Inputs:  num_steps, horizon or both.
/// Returns: phases that sum to wall time.
/// Limits:  a checkpoint's background part is shorter than an interval. A slot of the job is renewed with its node;
/// other members of a replaced node keep their
///          age. Without a horizon a trial ends unfinished at 100 times its failure-free time; always after 10^6
///          events.
[[nodiscard]] History history(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial);

/// The same history with its events, at most the first `most` ones.
[[nodiscard]] History history(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial,
                              std::vector<HistoryEvent>& events, std::size_t most = 100'000);

/// Wall time without any failure: steps, and checkpoints between them. Expects num_steps.
[[nodiscard]] Seconds failure_free_time(const JobOnCluster& job);

}  // namespace windtunnel::avail
