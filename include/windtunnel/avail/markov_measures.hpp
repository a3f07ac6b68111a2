#pragma once
/// The measures of a chain whose transitions all have rates.
#include <vector>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/state_space.hpp"

namespace windtunnel::avail {

/// Fills answer.measures[m] for each wanted m: steady_state, frequency, variance, transient, accumulated,
/// time_averaged, mean_time, reward_until and probability; measures at the same time share one pass.
/// Model:   stationary.hpp, uniformisation.hpp.
/// Returns: findings in `answer` instead of numbers.
/// Source:  Trivedi and Bobbio, Reliability and Availability Engineering, 2017.
void answer_markov(const model::Chain& chain, const StateSpace& space, const std::vector<std::uint8_t>& wanted,
                   ChainAnswer& answer);

}  // namespace windtunnel::avail
