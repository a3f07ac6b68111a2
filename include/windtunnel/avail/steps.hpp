#pragma once
/// A chain in discrete time: at most one transition in a step, or the chain in continuous time seen at every step.
#include <string>
#include <vector>

#include "windtunnel/avail/sparse_chain.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Transitions of one step as rates per step: a chain in continuous time with these rates has the shares of the chain
/// in discrete time.
///
/// Model:   linear: probability rate x step. exponential: (1 - exp(-exit rate x step)) x rate / exit rate; the shares
///          are those of other rates, so the long run is biased by about exit rate x step / 2 of itself.
/// Inputs:  step > 0; linear: exit rate x step <= 1 in every state, otherwise `problem`.
/// Source:  any text on Markov chains.
struct StepChain {
    SparseChain chain;
    std::string problem;
};
[[nodiscard]] StepChain step_chain(const SparseChain& chain, double step, model::StepMode mode);

/// Expected rewards after k whole steps: at the last step, and the sum over steps 0 .. k - 1 times the step.
///
/// Model:   linear and exponential: powers of the step matrix; skeleton: uniformisation over the whole time, seen at
///          its end; its sum needs the state at every step.
/// Limits:  k x transitions at most 10^10.
struct StepAnswer {
    std::vector<double> at_end;
    std::vector<double> accumulated;
    bool complete = true;
};
[[nodiscard]] StepAnswer walk_steps(const SparseChain& chain, const StepChain& steps, model::StepMode mode, double step,
                                    std::uint64_t number, const std::vector<const std::vector<double>*>& rewards);

}  // namespace windtunnel::avail
