#pragma once
/// Chains whose transitions take other than exponential times, as chains with rates alone.
#include <memory>
#include <string>

#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Clocks of exponential laws become rates (members / mean); the others stay. Says the same chain.
[[nodiscard]] model::Chain with_exponential_clocks_as_rates(const model::Chain& chain);

/// A chain with the same shares of time, frequencies and first passages, or why there is none.
struct RateChain {
    model::Chain chain;
    std::string reason;  ///< empty: the chain holds, as far as `conflict` stays empty while its rates are evaluated
    std::shared_ptr<std::string> conflict = std::make_shared<std::string>();
};

/// Semi-Markov process: every clock starts anew in every state.
///
/// Model:   a clock that races with exponential transitions of total rate a wins with probability L(a), the Laplace
///          transform of its law; the state lasts (1 - L)/a on average, so a rate a L/(1 - L) (1/mean for a = 0) gives
///          the same probabilities and the same mean time in every state. Long run and first passages depend on these
///          alone. Exponential transitions keep their rates.
/// Limits:  long run, means and probabilities without a time. One running clock in a state, one member each; a clock
///          that goes on over a transition of another is a conflict, found when the rates are evaluated.
/// Source:  Cinlar, Introduction to Stochastic Processes, 1975, chapter 10.
[[nodiscard]] RateChain semi_markov_rates(const model::Chain& chain);

/// Every law of several members replaced by the exponential law of the same mean.
///
/// Model:   classes whose members fail and are repaired independently are in each state as long as with exponential
///          laws of the same means, in the long run (insensitivity).
/// Limits:  long run and frequencies; every clock belongs to an independent component.
[[nodiscard]] RateChain rates_of_equal_means(const model::Chain& chain);

/// Exponential phases in place of laws: a counter for each phase of each clock.
///
/// Model:   clocks start in phase 1; counters hold the members in the later phases. Erlang, hyperexponential (as a
///          Coxian law of falling rates) and phase-type laws that start in phase 1. All measures hold exactly.
/// Limits:  clocks whose members only leave by firing, and that lapse, or keep their phase, while not possible.
/// Source:  Neuts, Matrix-Geometric Solutions in Stochastic Models, 1981; Cox, Proc. Camb. Phil. Soc. 51, 1955.
[[nodiscard]] RateChain with_phases(const model::Chain& chain);

}  // namespace windtunnel::avail
