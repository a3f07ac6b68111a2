#pragma once
/// Classes of members that fail and are repaired without regard to anything else: products of single members.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/renewal.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Why the classes of this chain are not independent; empty: they are, and every transition belongs to one.
[[nodiscard]] std::string why_not_independent(const model::Chain& chain);

/// A number with its estimated relative error, or why there is none.
struct IndependentAnswer {
    double value = 0.0;
    double error = 0.0;
    std::string reason;
};

/// Transient measures, integrals and first passages of independent members with laws of any kind.
///
/// Model:   the number of working members of a class at a time is binomial with the availability of one member, from
///          its renewal equation (renewal.hpp); classes are independent. Rewards are summed over all numbers. Events
///          count members x expected failures (or repairs) x a reward that is the same in all states. Integrals over
///          time by Simpson on the renewal grid, halved until they agree. First passage: P(not there at t) integrated,
///          where members are not repaired and the target is never left, or where every first failure leads there.
/// Limits:  product of (members + 1) at most 10^6.
/// Source:  Barlow and Proschan, Statistical Theory of Reliability, 1975.
class IndependentMembers {
public:
    explicit IndependentMembers(const model::Chain& chain) : chain_{chain} {}
    [[nodiscard]] IndependentAnswer answer(const model::ChainMeasure& measure) const;
    /// Probability that a member of the class works, in the long run or at a time.
    [[nodiscard]] IndependentAnswer availability(const model::ChainComponent& component,
                                                 std::optional<double> time) const;

private:
    template <class Visit>
    void for_all_states(const std::vector<double>& up, const Visit& visit) const;
    [[nodiscard]] double expected(const model::StateFunction& reward, const std::vector<double>& up) const;
    [[nodiscard]] IndependentAnswer events(const model::ChainReward& reward, double time) const;
    [[nodiscard]] IndependentAnswer integrated(const model::ChainReward& reward, double time) const;
    [[nodiscard]] IndependentAnswer first_passage(const model::ChainMeasure& measure) const;
    [[nodiscard]] std::string passage_obstacle(const model::ChainMeasure& measure, bool& any_failure) const;
    const model::Chain& chain_;
};

}  // namespace windtunnel::avail
