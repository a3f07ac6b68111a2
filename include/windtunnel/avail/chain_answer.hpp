#pragma once
/// What is asked of a chain, answered exactly.
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

struct MeasureAnswer {
    std::string name;
    double value = 0.0;  ///< infinite: the target may never be reached
    double error = 0.0;  ///< estimated, relative to the value, rewards >= 0
    std::string method;  ///< "elimination", "197 sweeps", "1201 steps", "first passage"
};

struct ChainAnswer {
    std::uint64_t num_states = 0;
    std::uint64_t num_transitions = 0;
    std::uint32_t num_closed_classes = 0;
    double residual = 0.0;                ///< of the long run; 0 when nobody asked for it
    std::vector<MeasureAnswer> measures;  ///< in the order of the chain's
    std::vector<base::Finding> findings;  ///< not empty: nothing else counts
};

/// State space, then every measure.
///
/// Model:   long run by elimination or sweeps (stationary.hpp), times by uniformisation (uniformisation.hpp), first
///          passages by renewal. Measures at the same time share one pass.
/// Returns: findings instead of numbers for a wrong model (state_space.hpp), a long run of a chain that ends in a state
///          that cannot be left, sweeps that do not converge, a time that is too long for the rates.
/// Source:  Trivedi and Bobbio, Reliability and Availability Engineering, 2017.
[[nodiscard]] ChainAnswer answer_chain(const model::Chain& chain);

}  // namespace windtunnel::avail
