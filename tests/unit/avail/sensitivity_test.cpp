#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/derivatives.hpp"
#include "windtunnel/avail/importance.hpp"
#include "windtunnel/avail/ranges.hpp"
#include "windtunnel/avail/steps.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;
using model::Chain;
using model::MeasureKind;

/// n members with the constants fail and repair, and crews of them.
Chain repairman(int n, int crews, double fail, double repair) {
    Chain chain;
    chain.variables = {{"up", 0, n, n}};
    model::ChainTransition failure, mend;
    failure.name = "up_failure";
    failure.rate = [=](State s) { return fail * s[0]; };
    failure.updates = {{0, [](State s) { return s[0] - 1; }, {}}};
    mend.name = "up_repair";
    mend.rate = [=](State s) { return repair * std::min<double>(crews, n - s[0]); };
    mend.updates = {{0, [](State s) { return s[0] + 1; }, {}}};
    chain.transitions = {failure, mend};
    model::ChainReward works;
    works.per_time = [=](State s) { return s[0] >= n - 1 ? 1.0 : 0.0; };
    chain.rewards = {works};
    model::ChainMeasure availability;
    availability.name = "availability";
    availability.reward = 0;
    chain.measures = {availability};
    chain.constants = {{"fail", fail, false}, {"repair", repair, false}};
    model::ChainComponent component;
    component.name = "up";
    component.count = n;
    component.life.scale = 1.0 / fail;
    component.repair = model::TimeLaw{};
    component.repair->scale = 1.0 / repair;
    component.repair_transition = 1;
    component.independent = crews >= n;
    chain.components = {component};
    chain.with_constants = [=](std::span<const double> values) {
        return std::optional{repairman(n, crews, values[0], values[1])};
    };
    return chain;
}

TEST(Derivatives, OfTwoStatesByHand) {
    // A = m/(l + m): dA/dl = -m/(l + m)^2, dA/dm = l/(l + m)^2.
    Chain chain = repairman(1, 1, 0.5, 2.0);
    chain.rewards[0].per_time = [](State s) { return s[0]; };
    chain.with_constants = [](std::span<const double> values) {
        Chain other = repairman(1, 1, values[0], values[1]);
        other.rewards[0].per_time = [](State s) { return s[0]; };
        return std::optional{other};
    };
    const LongRunDerivatives derivatives{chain, 0};
    ASSERT_TRUE(derivatives.ready());
    EXPECT_NEAR(*derivatives.by(0), -2.0 / 6.25, 1e-11);
    EXPECT_NEAR(*derivatives.by(1), 0.5 / 6.25, 1e-11);
}

TEST(Derivatives, AgreeWithDifferencesOfTheLongRun) {
    const Chain chain = repairman(9, 2, 0.3, 1.1);
    const LongRunDerivatives derivatives{chain, 0};
    for (const std::size_t constant : {0u, 1u}) {
        const double x = chain.constants[constant].value, h = 1e-3 * x;
        std::vector<double> at;
        for (const double step : {-2.0, -1.0, 1.0, 2.0}) {
            std::vector<double> values{0.3, 1.1};
            values[constant] += step * h;
            at.push_back(answer_chain(*chain.with_constants(values)).measures[0].value);
        }
        const double difference = five_point(at[0], at[1], at[2], at[3], h);
        EXPECT_NEAR(*derivatives.by(constant), difference, 1e-8 * std::abs(difference));
    }
}

TEST(Derivatives, SweepsGiveTheBiasOfElimination) {
    // 1,300 members are more states than elimination takes; h of a birth-death chain solves the same equations.
    SparseChain chain;
    std::vector<double> reward;
    constexpr std::uint32_t n = 1300;
    for (std::uint32_t k = 0; k < n; ++k) {
        std::vector<std::uint32_t> to;
        std::vector<double> rate;
        if (k + 1 < n) to.push_back(k + 1), rate.push_back(1.0);
        if (k > 0) to.push_back(k - 1), rate.push_back(3.0);
        chain.add_state(to, rate);
        reward.push_back(k == 0 ? 1.0 : 0.0);
    }
    const double g = 2.0 / 3.0;  // share of state 0 of a queue of load 1/3
    const auto h = bias(chain, reward, g);
    ASSERT_TRUE(h);
    EXPECT_NEAR((*h)[1] - (*h)[0], g - 1.0, 1e-9);  // row 0: 1 x (h1 - h0) = g - r0
}

TEST(Ranges, IshigamiByGaussPointsAndBySampling) {
    const double pi = std::numbers::pi;
    const RangedFunction f = [](std::span<const double> x) {
        return std::optional{std::sin(x[0]) + 7.0 * std::pow(std::sin(x[1]), 2) +
                             0.1 * std::pow(x[2], 4) * std::sin(x[0])};
    };
    const Box box{{-pi, -pi, -pi}, {pi, pi, pi}};
    // D = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2; D1 = (1 + b pi^4/5)^2/2; D2 = a^2/8; D13 = 8 b^2 pi^8/225.
    const double d13 = 0.08 * std::pow(pi, 8) / 225.0, d1 = std::pow(1.0 + 0.02 * std::pow(pi, 4), 2) / 2.0,
                 d2 = 49.0 / 8.0;
    const double d = d1 + d2 + d13;
    const VarianceShares exact = variance_shares(f, box, 64);
    EXPECT_NEAR(exact.variance, d, 1e-10 * d);
    EXPECT_NEAR(exact.first_order[0], d1 / d, 1e-10);
    EXPECT_NEAR(exact.total_effect[2], d13 / d, 1e-10);
    EXPECT_NEAR(exact.first_order[2], 0.0, 1e-12);
    const VarianceShares sampled = sampled_shares(f, box, 4096);
    EXPECT_NEAR(sampled.first_order[1], d2 / d, 0.02);
    EXPECT_NEAR(sampled.total_effect[0], (d1 + d13) / d, 0.02);
}

TEST(Ranges, ElementaryEffectsOfALinearFunctionAreItsSlopes) {
    const RangedFunction f = [](std::span<const double> x) { return std::optional{3.0 * x[0] - 2.0 * x[1]}; };
    const ElementaryEffects effects = elementary_effects(f, {{0.0, 10.0}, {1.0, 12.0}}, 20);
    EXPECT_NEAR(effects.mean_absolute[0], 3.0, 1e-12);
    EXPECT_NEAR(effects.mean_absolute[1], 4.0, 1e-12);
    EXPECT_NEAR(effects.spread[1], 0.0, 1e-6);
}

TEST(Importance, OfTwoOfThreeByHand) {
    // a = 2/3: fails with 1 - a^3 - 3 a^2 (1 - a) = 7/27; with a member: 1 - a^2 ... = (1 - a)^2 = 1/9; without: 1 -
    // a^2 = 5/9. B = 4/9; criticality = (4/9)(1/3)/(7/27) = 4/7.
    const Chain chain = repairman(3, 3, 1.0, 2.0);
    const auto of = [&](MeasureKind kind) { return importance(chain, chain.measures[0], kind, "up").value; };
    EXPECT_NEAR(of(MeasureKind::birnbaum), 4.0 / 9.0, 1e-14);
    EXPECT_NEAR(of(MeasureKind::criticality), 4.0 / 7.0, 1e-14);
    EXPECT_NEAR(of(MeasureKind::improvement), 7.0 / 27.0, 1e-14);
    EXPECT_NEAR(of(MeasureKind::risk_achievement), 15.0 / 7.0, 1e-13);
    EXPECT_NEAR(of(MeasureKind::risk_reduction), 7.0 / 3.0, 1e-13);
    EXPECT_NEAR(of(MeasureKind::fussell_vesely), 1.0, 1e-14);  // every cut is of this class
    EXPECT_NEAR(downtime_share(chain, chain.measures[0], "up").value, 1.0, 1e-12);
    EXPECT_FALSE(importance(repairman(3, 1, 1.0, 2.0), chain.measures[0], MeasureKind::birnbaum, "up").reason.empty());
}

TEST(Levels, ANodeOfTwoOfThreeAndARackOfTwoNodes) {
    Chain chain = repairman(3, 3, 1.0, 2.0);
    chain.levels = {{"node", {{false, 0, 3, 2}}}, {"rack", {{true, 0, 2, 1}}}};
    EXPECT_NEAR(level_availability(chain, "node", {}).value, 20.0 / 27.0, 1e-14);
    EXPECT_NEAR(level_availability(chain, "rack", {}).value, 1.0 - 49.0 / 729.0, 1e-14);
}

TEST(Steps, ByHandAndAgainstContinuousTime) {
    SparseChain chain;
    const std::vector<std::uint32_t> one{1}, zero{0};
    const std::vector<double> fail{0.5}, mend{2.0}, up{1.0, 0.0};
    chain.add_state(one, fail);
    chain.add_state(zero, mend);
    using model::StepMode;
    const StepChain linear = step_chain(chain, 0.1, StepMode::linear);
    // After two steps: p(up) = 0.95^2 + 0.05 x 0.2.
    const StepAnswer walked = walk_steps(chain, linear, StepMode::linear, 0.1, 2, {&up});
    EXPECT_NEAR(walked.at_end[0], 0.9125, 1e-14);
    EXPECT_NEAR(walked.accumulated[0], 0.195, 1e-14);
    const StepChain exponential = step_chain(chain, 0.1, StepMode::exponential);
    EXPECT_NEAR(exponential.chain.rate[0], 1.0 - std::exp(-0.05), 1e-15);
    const StepAnswer skeleton =
        walk_steps(chain, step_chain(chain, 0.1, StepMode::skeleton), StepMode::skeleton, 0.1, 10, {&up});
    EXPECT_NEAR(skeleton.at_end[0], 0.8 + 0.2 * std::exp(-2.5), 1e-12);
    EXPECT_FALSE(step_chain(chain, 1.0, StepMode::linear).problem.empty());
}

TEST(BreakEven, IsTheRateThatJustMeetsTheTarget) {
    // A = m/(l + m) = 0.9 at l = m/9; the constant is unknown, so the measure has no value.
    Chain chain = repairman(1, 1, 1.0, 2.0);
    chain.rewards[0].per_time = [](State s) { return s[0]; };
    chain.with_constants = [](std::span<const double> values) {
        Chain other = repairman(1, 1, values[0], values[1]);
        other.rewards[0].per_time = [](State s) { return s[0]; };
        return std::optional{other};
    };
    chain.constants[0].unknown = true;
    chain.break_evens = {{0, 0.9, "fail", 1e-6, 1e3, "repair", {1.8, 3.6}, {}}};
    const ChainAnswer answer = answer_chain(chain);
    EXPECT_TRUE(std::isnan(answer.measures[0].value));
    EXPECT_EQ(answer.unknown, std::vector<std::string>{"fail"});
    ASSERT_EQ(answer.break_evens.size(), 2u);
    EXPECT_NEAR(answer.break_evens[0].value.value_or(0.0), 0.2, 1e-12);
    EXPECT_NEAR(answer.break_evens[1].value.value_or(0.0), 0.4, 1e-12);
}

}  // namespace
}  // namespace windtunnel::avail
