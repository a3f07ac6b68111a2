#pragma once
/// The exact engines for the measures of one chain, and which of them takes which measure.
#include <cstdint>
#include <vector>

#include "windtunnel/avail/chain_answer.hpp"

namespace windtunnel::avail {

/// Answers each wanted measure, or adds a finding with the reason why no engine does.
/// Model:   see answer_chain.
/// Source:  of each engine's header.
void solve_chain(const model::Chain& chain, const std::vector<std::uint8_t>& wanted, ChainAnswer& answer);

/// The chain with clocks as rates where the shares of time stay as they are; itself where there are none.
[[nodiscard]] model::Chain rates_for_shares(const model::Chain& chain);

}  // namespace windtunnel::avail
