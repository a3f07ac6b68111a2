#include "windtunnel/avail/rare.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/sample.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;
using model::Chain;
using model::MeasureKind;

/// n units, each fails at `fail`; one crew repairs at 1; down with fewer than k.
Chain redundant(double fail, int n = 5, int k = 3) {
    Chain chain;
    chain.variables = {{"up", 0, n, n}};
    model::ChainTransition failure, mend;
    failure.rate = [=](State s) { return fail * s[0]; };
    failure.updates = {{0, [](State s) { return s[0] - 1.0; }, {}}};
    mend.rate = [=](State s) { return s[0] < n ? 1.0 : 0.0; };
    mend.updates = {{0, [](State s) { return s[0] + 1.0; }, {}}};
    chain.transitions = {failure, mend};
    model::ChainReward works;
    works.per_time = [=](State s) { return s[0] >= k ? 1.0 : 0.0; };
    chain.rewards = {works};
    const auto down = [=](State s) { return s[0] < k ? 1.0 : 0.0; };
    using enum MeasureKind;
    for (const auto kind : {steady_state, mean_time, frequency, probability}) {
        model::ChainMeasure one;
        one.kind = kind;
        if (kind == steady_state)
            one.reward = 0;
        else
            one.target = down;
        if (kind == probability) one.time = 20.0;
        chain.measures.push_back(one);
    }
    return chain;
}

/// A queue: arrivals at half the service rate; to `most` before it is empty, from 1.
Chain queue(int most) {
    Chain chain;
    chain.variables = {{"length", 0, most, 1}};
    model::ChainTransition arrival, service;
    arrival.rate = [](State) { return 0.5; };
    arrival.guard = [=](State s) { return s[0] < most ? 1.0 : 0.0; };
    arrival.updates = {{0, [](State s) { return s[0] + 1.0; }, {}}};
    service.rate = [](State s) { return s[0] > 0.0 ? 1.0 : 0.0; };
    service.updates = {{0, [](State s) { return s[0] - 1.0; }, {}}};
    chain.transitions = {arrival, service};
    model::ChainMeasure one;
    one.kind = MeasureKind::probability;
    one.target = [=](State s) { return s[0] == most ? 1.0 : 0.0; };
    one.avoid = [](State s) { return s[0] == 0.0 ? 1.0 : 0.0; };
    chain.measures = {one};
    return chain;
}

std::vector<SampledMeasure> sampled(const Chain& chain, SampleMethod method, std::uint64_t trials) {
    ChainSampler sampler{chain, method};
    SampleSums sums = sampler.nothing();
    sampler.run(1, {0, trials}, sums);
    return sampler.answers(sums);
}

TEST(Guide, OfAQueueByHand) {
    // From 1: p(up) = 1/3. Value = 1/3 x value(2); value(2) = 1/3 (it is 3) + 2/3 x 0 (back at the start), so 1/9.
    const Chain chain = queue(3);
    StateTable table{chain};
    RareTarget target;
    const Guide guide{table, target};
    EXPECT_NEAR(guide.attempt(), 1.0 / 9.0, 1e-9);
    // An attempt ends without success with 2/3, else begins anew: 1/9 / (1/9 + 2/3) = 1/7 = (2 - 1)/(2^3 - 1).
    EXPECT_NEAR(guide.in_the_end(), 1.0 / 7.0, 1e-9);
    EXPECT_EQ(guide.steps_left(StateTable::initial()), 2u);
}

TEST(Rare, LikelihoodRatiosHaveMeanOne) {
    for (const int most : {4, 8}) {
        const Chain chain = queue(most);
        StateTable table{chain};
        const auto rare = RareSampler::of(table, 0);
        base::Moments ratios;
        for (std::uint64_t trial = 0; trial < 20'000; ++trial)
            ratios.add(rare->importance(table, {3, 0xFF00'0001, trial}).ratio);
        EXPECT_NEAR(ratios.mean, 1.0, 4.0 * ratios.standard_error()) << most;
        EXPECT_GT(ratios.standard_deviation(), 0.1) << most;  // the paths are biased
    }
}

TEST(Rare, QueuesByImportanceAndSplitting) {
    // (2 - 1)/(2^L - 1); splitting: 100 paths from each of L - 1 levels.
    for (const int most : {10, 20}) {
        const double exact = 1.0 / (std::ldexp(1.0, most) - 1.0);
        const SampledMeasure importance = sampled(queue(most), SampleMethod::importance, 4'000)[0];
        EXPECT_NEAR(importance.value, exact, 4.0 * importance.standard_error) << most;
        EXPECT_LT(importance.standard_error, 0.02 * exact) << most;
        const SampledMeasure splitting = sampled(queue(most), SampleMethod::splitting, 40)[0];
        EXPECT_NEAR(splitting.value, exact, 4.0 * splitting.standard_error) << most;
        EXPECT_LT(splitting.standard_error, 0.3 * exact) << most;
    }
}

TEST(Rare, HalfWidthIsFlatFromOneInAHundredToOneInAHundredMillion) {
    // Down needs three failures with repairs of rate 1 in between: unavailability about 60 x fail^3.
    double narrowest = 1.0, widest = 0.0;
    for (const double fail : {0.055, 0.012, 2.6e-3, 5.5e-4}) {
        const Chain chain = redundant(fail);
        const ChainAnswer exact = answer_chain(chain);
        const auto answers = sampled(chain, SampleMethod::importance, 4'000);
        for (std::size_t m = 0; m < answers.size(); ++m) {
            EXPECT_NEAR(answers[m].value, exact.measures[m].value, 4.0 * answers[m].standard_error + 1e-15)
                << fail << " measure " << m;
            EXPECT_EQ(answers[m].unreached, 0u);
        }
        const double unavailability = 1.0 - exact.measures[0].value;
        const double relative = answers[0].standard_error / unavailability;
        narrowest = std::min(narrowest, relative);
        widest = std::max(widest, relative);
    }
    EXPECT_LT(widest, 0.04);
    EXPECT_LT(widest, 3.0 * narrowest);
}

TEST(Rare, AutomaticChoosesImportanceForRareTargetsOnly) {
    EXPECT_EQ(sampled(redundant(5.5e-4), SampleMethod::automatic, 10)[1].method, "importance sampling");
    EXPECT_EQ(sampled(redundant(0.5), SampleMethod::automatic, 10)[1].method, "paths to the target");
}

}  // namespace
}  // namespace windtunnel::avail
