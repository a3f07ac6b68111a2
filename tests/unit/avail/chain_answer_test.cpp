#include "windtunnel/avail/chain_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"
#include "windtunnel/avail/uniformisation.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;
using model::Chain;
using model::MeasureKind;

constexpr double rounding = 1e-12;

/// n units, `up` of them work; each fails at `fail`, each of at most `crews` failed ones is repaired at `repair`.
Chain repairman(int n, double fail, double repair, int crews) {
    Chain chain;
    chain.variables = {{"up", 0, n, n}};
    model::ChainTransition failure, mend;
    failure.rate = [=](State s) { return fail * s[0]; };
    failure.updates = {{0, [](State s) { return s[0] - 1; }, {}}};
    mend.rate = [=](State s) { return repair * std::min<double>(crews, n - s[0]); };
    mend.updates = {{0, [](State s) { return s[0] + 1; }, {}}};
    chain.transitions = {failure, mend};
    return chain;
}

void ask(Chain& chain, MeasureKind kind, model::StateFunction reward, std::optional<double> time = {}) {
    model::ChainReward one;
    one.per_time = std::move(reward);
    chain.rewards.push_back(one);
    model::ChainMeasure measure;
    measure.kind = kind;
    measure.time = time;
    measure.reward = chain.rewards.size() - 1;
    chain.measures.push_back(measure);
}

void reach(Chain& chain, MeasureKind kind, model::StateFunction target, std::optional<double> time = {},
           model::StateFunction avoid = {}) {
    model::ChainMeasure measure;
    measure.kind = kind;
    measure.time = time;
    measure.target = std::move(target);
    measure.avoid = std::move(avoid);
    chain.measures.push_back(measure);
}

double up_is_one(State s) {
    return s[0];
}
double is_down(State s) {
    return s[0] == 0.0 ? 1.0 : 0.0;
}

TEST(ChainAnswer, TwoStatesByHand) {
    // lambda = 1, mu = 3: A = 3/4; A(t) = 3/4 + e^-4t / 4; its integral = 3t/4 + (1 - e^-4t)/16;
    // failures per time in the long run = 3/4; mean time to the first = 1.
    Chain chain = repairman(1, 1.0, 3.0, 1);
    ask(chain, MeasureKind::steady_state, up_is_one);
    ask(chain, MeasureKind::transient, up_is_one, 0.5);
    ask(chain, MeasureKind::accumulated, up_is_one, 0.5);
    ask(chain, MeasureKind::time_averaged, up_is_one, 500.0);
    reach(chain, MeasureKind::frequency, is_down);
    reach(chain, MeasureKind::mean_time, is_down);
    reach(chain, MeasureKind::probability, is_down, 2.0);
    const ChainAnswer answer = answer_chain(chain);
    ASSERT_TRUE(answer.findings.empty());
    EXPECT_EQ(answer.num_states, 2u);
    const double decay = std::exp(-2.0);
    EXPECT_NEAR(answer.measures[0].value, 0.75, rounding);
    EXPECT_NEAR(answer.measures[1].value, 0.75 + 0.25 * decay, rounding);
    EXPECT_NEAR(answer.measures[2].value, 0.375 + (1.0 - decay) / 16.0, rounding);
    EXPECT_NEAR(answer.measures[3].value, 0.75 + 1.0 / 16.0 / 500.0, rounding);
    EXPECT_NEAR(answer.measures[4].value, 0.75, rounding);
    EXPECT_NEAR(answer.measures[5].value, 1.0, rounding);
    EXPECT_NEAR(answer.measures[6].value, 1.0 - decay, rounding);
}

TEST(ChainAnswer, VarianceOfTheTimeAverageOfTwoStates) {
    // 2 l m / ((l+m)^3 T) x [1 - (1 - e^-(l+m)T) / ((l+m)T)], l = 1, m = 3, T = 5: 6/(64 x 5) x (1 - (1 - e^-20)/20)
    Chain chain = repairman(1, 1.0, 3.0, 1);
    ask(chain, MeasureKind::variance, up_is_one, 5.0);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_NEAR(answer.measures[0].value / (6.0 / 320.0 * (1.0 - (1.0 - std::exp(-20.0)) / 20.0)), 1.0, 1e-11);
}

TEST(ChainAnswer, LongAndShortTimesAgreeWithTheClosedFormWhenTheLongRunIsTaken) {
    // 10,000 mean times: A(t) is the long run; the integral keeps 1/16 from the start.
    Chain chain = repairman(1, 1.0, 3.0, 1);
    ask(chain, MeasureKind::accumulated, up_is_one, 1e4);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_NEAR(answer.measures[0].value, 7500.0 + 1.0 / 16.0, 1e-8);
    EXPECT_LT(std::stoi(answer.measures[0].method), 1000);  // of about 40,000 steps
}

TEST(ChainAnswer, RareStatesKeepTheirRelativeAccuracy) {
    // 30 units, failure 1e-8, one crew with rate 1: share of k failed = share of none x 30!/(30-k)! x 1e-8k.
    Chain chain = repairman(30, 1e-8, 1.0, 1);
    ask(chain, MeasureKind::steady_state, is_down);
    const double expected = std::exp(std::lgamma(31.0) - 30.0 * std::log(1e8));
    EXPECT_NEAR(answer_chain(chain).measures[0].value / expected, 1.0, 1e-5);  // 1 - share of none = 3e-7
}

TEST(ChainAnswer, ParallelUnitsWithoutRepair) {
    // Four units, rate 1: mean time to the last failure = 1 + 1/2 + 1/3 + 1/4; all failed by 2: (1 - e^-2)^4.
    Chain chain = repairman(4, 1.0, 0.0, 1);
    reach(chain, MeasureKind::mean_time, is_down);
    reach(chain, MeasureKind::probability, is_down, 2.0);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_NEAR(answer.measures[0].value, 25.0 / 12.0, rounding);
    EXPECT_NEAR(answer.measures[1].value, std::pow(1.0 - std::exp(-2.0), 4.0), rounding);
}

TEST(ChainAnswer, GamblersRuin) {
    // Queue from 1 with arrivals at half the rate of service: level 10 before 0 with probability 1/(2^10 - 1).
    Chain chain = repairman(10, 0.0, 0.0, 1);
    chain.variables[0].initial = 1;
    chain.transitions[0].rate = [](State s) { return s[0] > 0 ? 2.0 : 0.0; };
    chain.transitions[1].rate = [](State s) { return s[0] < 10 ? 1.0 : 0.0; };
    reach(
        chain, MeasureKind::probability, [](State s) { return s[0] == 10.0 ? 1.0 : 0.0; }, {}, is_down);
    EXPECT_NEAR(answer_chain(chain).measures[0].value * 1023.0, 1.0, rounding);
}

TEST(ChainAnswer, TransitionsCollectRewards) {
    // Two units, rates 1 and one crew of rate 2. Balance: p1 = p2, p0 = p1/2: 0.4, 0.4, 0.2. Repairs per time: 2 x 0.6.
    Chain chain = repairman(2, 1.0, 2.0, 1);
    ask(chain, MeasureKind::steady_state, {});
    chain.rewards[0].per_event = {model::StateFunction{}, [](State) { return 1.0; }};
    EXPECT_NEAR(answer_chain(chain).measures[0].value, 1.2, rounding);
}

TEST(ChainAnswer, AStateThatCannotBeLeftIsAFindingOfTheLongRun) {
    Chain chain = repairman(2, 1.0, 0.0, 1);
    ask(chain, MeasureKind::steady_state, up_is_one);
    const ChainAnswer answer = answer_chain(chain);
    ASSERT_EQ(answer.findings.size(), 1u);
    EXPECT_NE(answer.findings[0].message.find("up=0 cannot be left"), std::string::npos);
}

TEST(ChainAnswer, ATargetThatIsMissedHasAnInfiniteMeanTime) {
    // From 1: to 0 at rate 1 or to 2 at rate 3; both are kept. 2 is reached with probability 3/4.
    Chain chain = repairman(2, 0.0, 0.0, 1);
    chain.variables[0].initial = 1;
    chain.transitions[0].rate = [](State s) { return s[0] == 1 ? 1.0 : 0.0; };
    chain.transitions[1].rate = [](State s) { return s[0] == 1 ? 3.0 : 0.0; };
    const auto full = [](State s) { return s[0] == 2.0 ? 1.0 : 0.0; };
    reach(chain, MeasureKind::mean_time, full);
    reach(chain, MeasureKind::probability, full);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_TRUE(std::isinf(answer.measures[0].value));
    EXPECT_NEAR(answer.measures[1].value, 0.75, rounding);
}

TEST(ChainAnswer, SeveralClosedClassesAreWeightedByTheirProbability) {
    // 0 -> {1,2} at rate 1, 0 -> {3,4} at rate 2; 1 <-> 2 at rates 1 and 1, 3 <-> 4 at rates 1 and 3.
    // Long run: 1/3 x (1/2, 1/2), 2/3 x (3/4, 1/4).
    SparseChain chain;
    const auto add = [&](std::vector<std::uint32_t> targets, std::vector<double> rates) {
        chain.add_state(targets, rates);
    };
    add({1, 3}, {1.0, 2.0});
    add({2}, {1.0});
    add({1}, {1.0});
    add({4}, {1.0});
    add({3}, {3.0});
    const Classes classes = closed_classes(chain);
    ASSERT_EQ(classes.num_closed, 2u);
    const Stationary result = long_run(chain, classes);
    const double expected[] = {0.0, 1.0 / 6, 1.0 / 6, 0.5, 1.0 / 6};
    for (std::size_t state = 0; state < 5; ++state) EXPECT_NEAR(result.share[state], expected[state], rounding);
}

TEST(StateSpace, WrongModelsAreFindings) {
    Chain negative = repairman(3, 1.0, 1.0, 1);
    negative.transitions[1].rate = [](State s) { return 1.0 - s[0]; };
    ASSERT_EQ(explore(negative).findings.size(), 1u);
    EXPECT_NE(explore(negative).findings[0].message.find("the rate is -2 in state up=3"), std::string::npos);
    Chain out_of_bounds = repairman(3, 1.0, 1.0, 1);
    out_of_bounds.transitions[1].rate = [](State) { return 1.0; };
    EXPECT_NE(explore(out_of_bounds).findings.at(0).message.find("up becomes 4"), std::string::npos);
    Chain half = repairman(3, 1.0, 1.0, 1);
    half.transitions[0].updates[0].value = [](State s) { return s[0] - 0.5; };
    EXPECT_NE(explore(half).findings.at(0).message.find("up becomes 2.5"), std::string::npos);
}

TEST(StateSpace, ABillionStatesEndAtTheLimit) {
    Chain chain = repairman(1'000'000'000, 1.0, 1.0, 1);
    chain.most_states = 10'000;
    const StateSpace space = explore(chain);
    ASSERT_EQ(space.findings.size(), 1u);
    EXPECT_NE(space.findings[0].message.find("more than 10000 states"), std::string::npos);
}

TEST(StateSpace, ManyWideVariablesNeedSeveralWords) {
    // Three switches beside 40-bit values that stay: 8 states.
    Chain chain;
    for (int i = 0; i < 3; ++i) {
        chain.variables.push_back({"wide", -(std::int64_t{1} << 40), std::int64_t{1} << 40, 12345});
        chain.variables.push_back({"bit", 0, 1, 0});
        const std::size_t bit = chain.variables.size() - 1;
        model::ChainTransition flip;
        flip.rate = [](State) { return 1.0; };
        flip.updates = {{bit, [bit](State s) { return 1.0 - s[bit]; }, {}}};
        chain.transitions.push_back(flip);
    }
    EXPECT_EQ(explore(chain).states.size(), 8u);
}

TEST(Stationary, SweepsEqualElimination) {
    // Two repairmen side by side that hinder each other: 441 states.
    Chain chain = repairman(20, 0.3, 1.0, 2);
    chain.variables.push_back({"other", 0, 20, 20});
    model::ChainTransition failure, mend;
    failure.rate = [](State s) { return 0.1 * s[1] * (s[0] < 15 ? 2.0 : 1.0); };
    failure.updates = {{1, [](State s) { return s[1] - 1; }, {}}};
    mend.rate = [](State s) { return s[1] < 20 ? 1.5 : 0.0; };
    mend.updates = {{1, [](State s) { return s[1] + 1; }, {}}};
    chain.transitions.insert(chain.transitions.end(), {failure, mend});
    const StateSpace space = explore(chain);
    ASSERT_EQ(space.states.size(), 441u);
    const auto exact = stationary_by_elimination(space.chain, 1e9);
    const Stationary swept = stationary_by_sweeps(space.chain);
    ASSERT_TRUE(exact && swept.converged);
    EXPECT_LT(exact->residual, 1e-13);
    for (std::size_t state = 0; state < 441; ++state)
        EXPECT_NEAR(swept.share[state] / exact->share[state], 1.0, 1e-8) << state;
}

TEST(Stationary, EliminationGivesUpAtItsLimit) {
    EXPECT_FALSE(stationary_by_elimination(explore(repairman(50, 1.0, 1.0, 1)).chain, 10.0).has_value());
}

TEST(ChainAnswer, ALongWaitForARareTargetTakesFewSteps) {
    // Two units, failure 1e-3, repair 1 by one crew, until both are down: rates 0->1: 2e-3, 1->2: 1e-3, 1->0: 1.
    // Survival = (a e^-bt - b e^-at)/(a - b) with a, b the roots of x^2 - 1.003 x + 2e-6 = 0.
    Chain chain = repairman(2, 1e-3, 1.0, 1);
    const double time = 1e5, a = (1.003 + std::sqrt(1.003 * 1.003 - 8e-6)) / 2, b = 2e-6 / a;
    reach(chain, MeasureKind::probability, is_down, time);
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_NEAR(answer.measures[0].value, 1.0 - (a * std::exp(-b * time) - b * std::exp(-a * time)) / (a - b), 1e-10);
    EXPECT_LT(std::stoi(answer.measures[0].method), 500);  // of 100,000
}

TEST(PoissonWindow, WeightsOfSmallAndLargeMeans) {
    const PoissonWindow small{0.5};
    EXPECT_EQ(small.first, 0u);
    EXPECT_NEAR(small.weight[0], std::exp(-0.5), 1e-15);
    EXPECT_NEAR(small.weight[3], std::exp(-0.5) / 48.0, 1e-17);
    const PoissonWindow large{1e6};
    double mean = 0.0;
    for (std::size_t i = 0; i < large.weight.size(); ++i)
        mean += large.weight[i] * static_cast<double>(large.first + i);
    EXPECT_NEAR(mean, 1e6, 1e-5);
    EXPECT_LT(large.weight.size(), 60'000u);
    EXPECT_EQ(PoissonWindow{0.0}.weight.size(), 2u);
}

}  // namespace
}  // namespace windtunnel::avail
