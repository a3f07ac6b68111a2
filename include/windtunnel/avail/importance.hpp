#pragma once
/// Which component limits the system, and levels of a hierarchy.
#include <optional>
#include <string>

#include "windtunnel/avail/independent.hpp"

namespace windtunnel::avail {

/// Importance of one member of a class for a reward that is 1 while the system works (0 while not).
///
/// Model:   B = P(works | member works) - P(works | it does not). Criticality = B x (1 - a)/U, a = availability of the
///          member, U = unavailability of the system. Improvement: availability gained when no member of the class ever
///          fails. Fussell-Vesely: P(a minimal cut with a member of the class has failed)/U. Risk achievement = P(fails
///          | member does not work)/U. Risk reduction = U/P(fails | member works).
/// Inputs:  independent classes (independent.hpp), whose numbers are all that the reward reads; kind: of these.
/// Returns: a reason instead where they are not independent, or a reward is neither 0 nor 1.
/// Source:  Rausand and Hoyland, System Reliability Theory, 2004, chapter 5.
[[nodiscard]] IndependentAnswer importance(const model::Chain& chain, const model::ChainMeasure& of,
                                           model::MeasureKind kind, const std::string& component);

/// Share of the downtime that begins with this transition (a component: with its failure).
///
/// Model:   in the long run a state s outside the working ones is entered by transition i with frequency f_i(s) and
///          lasts h(s) on average until the system works again: sum of f_i(s) h(s) over all i is the downtime.
/// Inputs:  a chain whose transitions have rates, up to 1,200 states in which the system does not work, or sweeps.
/// Source:  any text on Markov chains (mean first passage).
[[nodiscard]] IndependentAnswer downtime_share(const model::Chain& chain, const model::ChainMeasure& of,
                                               const std::string& cause);

/// Probability that a level works: binomial tails of its members, which are levels or classes, multiplied.
/// Source: any text on reliability (series of k-of-n groups).
[[nodiscard]] IndependentAnswer level_availability(const model::Chain& chain, const std::string& name,
                                                   std::optional<double> time);

}  // namespace windtunnel::avail
