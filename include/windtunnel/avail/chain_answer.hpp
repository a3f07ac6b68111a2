#pragma once
/// What is asked of a chain, answered exactly.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

struct MeasureAnswer {
    std::string name;
    double value = 0.0;  ///< infinite: the target may never be reached; not a number: unknown
    double error = 0.0;  ///< estimated, relative to the value, rewards >= 0
    std::string method;  ///< "elimination", "197 sweeps", "1201 steps", "first passage"
};

/// One value of the second constant of a break-even surface.
struct BreakEvenRow {
    std::size_t break_even = 0;   ///< index in Chain::break_evens
    std::optional<double> over;   ///< value of the second constant
    std::optional<double> value;  ///< of the unknown one at which the measure meets its target
    std::string note;             ///< where there is no value: the target is met, or missed, over the whole range
};

struct ChainAnswer {
    std::uint64_t num_states = 0;
    std::uint64_t num_transitions = 0;
    std::uint32_t num_closed_classes = 0;
    double residual = 0.0;                ///< of the long run; 0 when nobody asked for it
    std::vector<MeasureAnswer> measures;  ///< in the order of the chain's
    std::vector<BreakEvenRow> break_evens;
    std::vector<std::string> unknown;     ///< constants that nobody published: the measures have no value
    std::vector<base::Finding> findings;  ///< not empty: nothing else counts
};

/// Every measure by the engine that solves it exactly.
///
/// Model:   rates alone: the state space and markov_measures.hpp. Fixed times alone: their one history
///          (fixed_times.hpp). Other laws: independent members (independent.hpp; clocks.hpp for the long run), phases,
///          or a semi-Markov process (clocks.hpp), in this order. Steps of discrete time: steps.hpp. Then what rests on
///          other measures: derivatives (derivatives.hpp; for measures that are no steady-state reward of rates the
///          difference of five points), ranges, importance, levels, formulas, break-even values by bisection.
/// Returns: findings instead of numbers for a wrong model (state_space.hpp), a long run of a chain that ends in a state
///          that cannot be left, sweeps that do not converge, a time that is too long for the rates, laws that no exact
///          engine solves. Where a constant is unknown: no number but the break-even values.
/// Source:  Trivedi and Bobbio, Reliability and Availability Engineering, 2017.
[[nodiscard]] ChainAnswer answer_chain(const model::Chain& chain);

}  // namespace windtunnel::avail
