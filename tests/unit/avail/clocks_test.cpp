#include "windtunnel/avail/clocks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/fixed_times.hpp"
#include "windtunnel/avail/independent.hpp"
#include "windtunnel/avail/renewal.hpp"
#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;
using model::Chain;
using model::MeasureKind;
using model::TimeLaw;
using enum model::TimeLawKind;

TimeLaw fixed(double time) {
    return {deterministic, 1.0, time, {}, {}};
}
TimeLaw exponential_of(double mean_time) {
    return {exponential, 1.0, mean_time, {}, {}};
}

/// n members, each up for a life and down for a repair of its own.
Chain members(std::int64_t n, const TimeLaw& life, const TimeLaw& repair) {
    Chain chain;
    chain.variables = {{"up", 0, n, n}};
    model::ChainTransition failure, mend;
    failure.name = "failure";
    failure.guard = [](State s) { return s[0] > 0.0 ? 1.0 : 0.0; };
    failure.rate = mend.rate = [](State) { return 0.0; };
    failure.updates = {{0, [](State s) { return s[0] - 1.0; }, {}}};
    failure.clock = model::TransitionClock{life, model::ClockMemory::lapses, [](State s) { return s[0]; }};
    mend.name = "repair";
    const auto down = static_cast<double>(n);
    mend.guard = [down](State s) { return s[0] < down ? 1.0 : 0.0; };
    mend.updates = {{0, [](State s) { return s[0] + 1.0; }, {}}};
    mend.clock = model::TransitionClock{repair, model::ClockMemory::lapses, [down](State s) { return down - s[0]; }};
    chain.transitions = {failure, mend};
    chain.components = {{"up", 0, n, life, repair, 0, 1, true, {}}};
    return chain;
}

void ask(Chain& chain, MeasureKind kind, std::optional<double> time = {}) {
    if (chain.rewards.empty()) {
        model::ChainReward up;
        up.per_time = [](State s) { return s[0]; };
        chain.rewards.push_back(up);
    }
    model::ChainMeasure measure;
    measure.kind = kind;
    measure.time = time;
    if (kind == MeasureKind::mean_time || kind == MeasureKind::frequency || kind == MeasureKind::probability)
        measure.target = [](State s) { return s[0] == 0.0 ? 1.0 : 0.0; };
    else
        measure.reward = 0;
    chain.measures.push_back(measure);
}

TEST(Renewal, FixedLivesAreCounted) {
    // Up 3, down 1: failures at 3, 7, 11; at time 10 two failures and two repairs, up for 3 + 3 + 2.
    const TimeLaw life = fixed(3.0), repair = fixed(1.0);
    const RenewalAnswer at = renewal_at(life, &repair, 10.0);
    EXPECT_NEAR(at.failures, 2.0, 1e-12);
    EXPECT_NEAR(at.availability, 1.0, 1e-12);
    EXPECT_NEAR(at.up_time, 8.0, 1e-2);  // the path is seen at its points only
}

TEST(Renewal, ExponentialLawsGiveTheTwoStateMachine) {
    // l = 1, m = 3: A(t) = 3/4 + e^-4t/4.
    const TimeLaw life = exponential_of(1.0), repair = exponential_of(1.0 / 3.0);
    const RenewalAnswer at = renewal_at(life, &repair, 0.5);
    EXPECT_NEAR(at.availability, 0.75 + 0.25 * std::exp(-2.0), 1e-9);
    EXPECT_NEAR(at.up_time, 0.375 + (1.0 - std::exp(-2.0)) / 16.0, 1e-9);
    EXPECT_LT(at.error, 1e-8);
}

TEST(Clocks, SemiMarkovRatesKeepProbabilitiesAndMeanTimes) {
    // A fixed time of 2 races with a rate of 0.5: it wins with e^-1, the state lasts 2 (1 - e^-1).
    Chain chain;
    chain.variables = {{"s", 0, 2, 0}};
    model::ChainTransition timer, other;
    timer.name = "timer";
    timer.guard = other.guard = [](State s) { return s[0] == 0.0 ? 1.0 : 0.0; };
    timer.rate = [](State) { return 0.0; };
    timer.clock = model::TransitionClock{fixed(2.0), model::ClockMemory::lapses, {}};
    timer.updates = {{0, [](State) { return 1.0; }, {}}};
    other.name = "other";
    other.rate = [](State) { return 0.5; };
    other.updates = {{0, [](State) { return 2.0; }, {}}};
    chain.transitions = {timer, other};
    model::ChainMeasure first, time;
    first.kind = MeasureKind::probability;
    first.target = [](State s) { return s[0] == 1.0 ? 1.0 : 0.0; };
    time.kind = MeasureKind::mean_time;
    time.target = [](State s) { return s[0] > 0.0 ? 1.0 : 0.0; };
    chain.measures = {first, time};
    const ChainAnswer answer = answer_chain(chain);
    ASSERT_TRUE(answer.findings.empty()) << answer.findings.front().text();
    EXPECT_NEAR(answer.measures[0].value, std::exp(-1.0), 1e-12);
    EXPECT_NEAR(answer.measures[1].value, 2.0 * (1.0 - std::exp(-1.0)), 1e-12);
}

TEST(Clocks, AClockThatGoesOnIsNoSemiMarkovProcess) {
    Chain chain = members(1, fixed(5.0), fixed(1.0));
    chain.components.clear();
    chain.variables.push_back({"noise", 0, 1, 0});
    model::ChainTransition flip;
    flip.name = "flip";
    flip.rate = [](State) { return 1.0; };
    flip.updates = {{1, [](State s) { return 1.0 - s[1]; }, {}}};
    chain.transitions.push_back(flip);
    ask(chain, MeasureKind::steady_state);
    const ChainAnswer answer = answer_chain(chain);
    ASSERT_EQ(answer.findings.size(), 1u);
    EXPECT_NE(answer.findings[0].message.find("goes on after \"flip\""), std::string::npos)
        << answer.findings[0].message;
}

/// Three engines for one model: phases, the renewal equation, insensitivity.
TEST(Clocks, EnginesAgreeOnErlangLivesAndHyperexponentialRepairs) {
    const TimeLaw life{gamma, 2.0, 1.0, {}, {}}, repair{hyperexponential, 1.0, 1.0, {0.7, 0.3}, {0.2, 1.5}};
    Chain chain = members(2, life, repair);
    ask(chain, MeasureKind::steady_state);
    ask(chain, MeasureKind::transient, 3.0);
    const ChainAnswer independent = answer_chain(chain);
    chain.components.clear();  // now only phases are left
    const ChainAnswer phased = answer_chain(chain);
    ASSERT_TRUE(independent.findings.empty());
    ASSERT_TRUE(phased.findings.empty()) << phased.findings.front().text();
    const double up = 2.0 / (2.0 + 0.59);
    EXPECT_NEAR(independent.measures[0].value, 2.0 * up, 1e-12);
    EXPECT_NEAR(phased.measures[0].value, 2.0 * up, 1e-10);
    EXPECT_NEAR(independent.measures[1].value, phased.measures[1].value, 1e-7);
    EXPECT_EQ(independent.measures[1].method, "independent members");
}

TEST(Independent, FirstOfManyWeibullLives) {
    // min of n Weibull lives is Weibull with scale / n^(1/k): mean = scale n^(-1/k) Gamma(1 + 1/k).
    Chain chain = members(16, {weibull, 0.5, 2.0, {}, {}}, fixed(0.0));
    ask(chain, MeasureKind::mean_time);
    chain.measures[0].target = [](State s) { return s[0] < 16.0 ? 1.0 : 0.0; };
    const ChainAnswer answer = answer_chain(chain);
    ASSERT_TRUE(answer.findings.empty());
    EXPECT_NEAR(answer.measures[0].value, 2.0 / 256.0 * 2.0, 1e-9);
}

TEST(FixedTimes, TwoMembersThatAreDueTogetherFailTogether) {
    Chain chain = members(2, fixed(4.0), fixed(1.0));
    ask(chain, MeasureKind::accumulated, 10.0);  // up 2 x 4, down 1, up 2 x 4, down 1
    const FixedHistory history = fixed_history(chain, 10.0);
    EXPECT_EQ(history.events.size(), 8u);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_DOUBLE_EQ(answer.measures[0].value, 16.0);
}

}  // namespace
}  // namespace windtunnel::avail
