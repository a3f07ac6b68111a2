#pragma once
/// The ladder of recovery as an absorbing Markov chain.
#include <vector>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/recovery_machine.hpp"

namespace windtunnel::avail {

/// Which states can be reached from a state, itself included, over all rows whatever their probability.
[[nodiscard]] std::vector<bool> reachable(const model::RecoveryMachine& machine, std::size_t from);

/// What a run from `from` to the final state does.
struct MachineVisits {
    std::vector<double> visits;  ///< mean number of entries by state, the first included
    std::vector<Seconds> time;   ///< mean time in each state, all visits
    std::vector<double> events;  ///< mean number by row of the table
    Seconds total;
    bool ends = true;  ///< false: the final state may never be reached; the rest has no meaning
};

/// Mean visits from (I - Q)^-1.
///
/// Model:   an action of time T with limit c ends as its row's events with their probabilities when T <= c, and as
///          `error` otherwise (without such a row: as its events all the same, at the limit); mean time E min(T, c).
///          Elimination without subtractions of the chain that begins anew at `from` after the final state.
/// Inputs:  probabilities of a state that is left sum to 1.
/// Source:  Kemeny and Snell, Finite Markov Chains, 1960, chapter 3; Grassmann, Taksar, Heyman 1985.
[[nodiscard]] MachineVisits machine_visits(const model::RecoveryMachine& machine, std::size_t from);

/// The same by one path: entries by state. At most `most_steps`.
[[nodiscard]] std::vector<std::uint64_t> walk_machine(const model::RecoveryMachine& machine, std::size_t from,
                                                      base::Draws& draws, std::uint64_t most_steps = 1'000'000);

/// E min(T, limit) and P(T <= limit).
struct Truncated {
    Seconds mean;
    double within = 1.0;
};
[[nodiscard]] Truncated truncated(const model::Law& law, std::optional<Seconds> limit);

/// Expected time of rungs that are tried in order until one succeeds: sum of t_i x prod (1 - s_j), j < i.
/// Source: any text on probability.
[[nodiscard]] Seconds ladder_time(const std::vector<double>& success, const std::vector<Seconds>& mean_time);

}  // namespace windtunnel::avail
