#include "windtunnel/avail/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "random_chain.hpp"
#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/base/errors.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;
using model::Chain;
using model::MeasureKind;

/// One unit: fails at 1, repaired at 3.
Chain one_unit() {
    Chain chain;
    chain.variables = {{"up", 0, 1, 1}};
    model::ChainTransition failure, mend;
    failure.rate = [](State s) { return s[0]; };
    failure.updates = {{0, [](State) { return 0.0; }, {}}};
    mend.rate = [](State s) { return 3.0 * (1.0 - s[0]); };
    mend.updates = {{0, [](State) { return 1.0; }, {}}};
    chain.transitions = {failure, mend};
    model::ChainReward up;
    up.per_time = [](State s) { return s[0]; };
    chain.rewards = {up};
    return chain;
}

void ask(Chain& chain, MeasureKind kind, std::optional<double> time = {}, model::StateFunction target = {}) {
    model::ChainMeasure measure;
    measure.kind = kind;
    measure.time = time;
    if (target)
        measure.target = std::move(target);
    else
        measure.reward = 0;
    chain.measures.push_back(measure);
}

double is_down(State s) {
    return 1.0 - s[0];
}

std::vector<SampledMeasure> sampled(const Chain& chain, std::uint64_t trials, std::uint64_t seed = 1) {
    ChainSampler sampler{chain, SampleMethod::plain};
    SampleSums sums = sampler.nothing();
    sampler.run(seed, {0, trials}, sums);
    return sampler.answers(sums);
}

TEST(ChainSample, OneUnitByHand) {
    // A = 3/4; A(0.5) = 3/4 + e^-2/4 = 0.78383; failures per time 3/4; mean time to the first 1; P(by 2) = 1 - e^-2.
    Chain chain = one_unit();
    ask(chain, MeasureKind::steady_state);
    ask(chain, MeasureKind::transient, 0.5);
    ask(chain, MeasureKind::frequency, {}, is_down);
    ask(chain, MeasureKind::mean_time, {}, is_down);
    ask(chain, MeasureKind::probability, 2.0, is_down);
    const auto answers = sampled(chain, 20'000);
    const double expected[] = {0.75, 0.75 + 0.25 * std::exp(-2.0), 0.75, 1.0, -std::expm1(-2.0)};
    for (std::size_t m = 0; m < answers.size(); ++m) {
        EXPECT_NEAR(answers[m].value, expected[m], 4.0 * answers[m].standard_error) << m;
        EXPECT_LT(answers[m].standard_error, 0.02 * expected[m]) << m;
    }
    // A cycle is an up time U and a down time D of variance 1 and 1/9. The error of the ratio A with n cycles has the
    // variance E(U - A(U + D))^2 / (n E(U + D)^2) = (1/16 + 9/16 x 1/9) / (16/9 n) = 0.0703125/n.
    EXPECT_NEAR(answers[0].standard_error, std::sqrt(0.0703125 / 20'000.0), 0.05 * std::sqrt(0.0703125 / 20'000.0));
    EXPECT_NEAR(answers[3].values.quantile(0.5), std::log(2.0), 0.03);
}

class RandomModels : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomModels, GiveTheSameByPathsAsExactly) {
    // 8 x 25 = 200 models x 10 measures at 4 standard errors: about 0.13 of 2,000 comparisons may fail by chance. The
    // seeds are fixed, so the test always says the same. A state that 500 paths may well miss is no contradiction: of a
    // share the error is at least that of its binomial law, and 8 paths more or less (Poisson with a small mean).
    constexpr double paths = 500.0;
    int compared = 0;
    for (std::uint64_t number = 25 * GetParam(); number < 25 * (GetParam() + 1); ++number) {
        const RandomChain model{number};
        const ChainAnswer exact = answer_chain(model.chain());
        ASSERT_TRUE(exact.findings.empty()) << number;
        const auto answers = sampled(model.chain(), 500, number);
        for (std::size_t m = 0; m < answers.size(); ++m) {
            const double value = exact.measures[m].value;
            const MeasureKind kind = model.chain().measures[m].kind;
            const bool is_share = kind == MeasureKind::steady_state || kind == MeasureKind::transient ||
                                  kind == MeasureKind::time_averaged || kind == MeasureKind::probability;
            ASSERT_EQ(answers[m].unreached, 0u);
            double error = answers[m].standard_error, more = 0.0;
            if (is_share) {
                error = std::max(error, std::sqrt(std::max(value * (1.0 - value), 0.0) / paths));
                more = 8.0 / paths;
            } else if (!(error < 0.25 * answers[m].value)) {
                continue;
            }
            ++compared;
            // Formulas: Student's t with 31 degrees of freedom is as rare beyond 4.65 as the normal law beyond 4.
            const double times = kind == MeasureKind::formula ? 4.65 : 4.0;
            EXPECT_NEAR(answers[m].value, value, times * error + more)
                << "model " << number << " " << answers[m].name << " " << answers[m].method;
        }
    }
    EXPECT_GT(compared, 200);
}

INSTANTIATE_TEST_SUITE_P(ChainSample, RandomModels, testing::Range<std::uint64_t>(0, 8));

TEST(ChainSample, SumsDoNotDependOnHowTrialsAreCut) {
    const RandomChain model{3};
    ChainSampler sampler{model.chain(), SampleMethod::plain};
    SampleSums whole = sampler.nothing(), part = sampler.nothing(), rest = sampler.nothing();
    sampler.run(5, {0, 100}, whole);
    sampler.run(5, {0, 40}, part);
    ChainSampler other{model.chain(), SampleMethod::plain};  // its table grows in another order
    other.run(5, {40, 100}, rest);
    part.merge(rest);
    EXPECT_EQ(part.events, whole.events);
    for (std::size_t m = 0; m < whole.measures.size(); ++m) {
        EXPECT_EQ(part.measures[m].all().count, whole.measures[m].all().count);
        EXPECT_NEAR(part.measures[m].all().mean_x, whole.measures[m].all().mean_x,
                    1e-12 * (1.0 + std::abs(whole.measures[m].all().mean_x)));
    }
    base::Packer packer;
    whole.pack(packer);
    const std::string bytes = std::move(packer).take();
    base::Unpacker unpacker{bytes};
    EXPECT_EQ(SampleSums::unpack(unpacker), whole);
}

TEST(ChainSample, WrongModelsAreFindings) {
    Chain negative = one_unit();
    negative.transitions[1].rate = [](State s) { return s[0] - 1.0; };
    ask(negative, MeasureKind::steady_state);
    EXPECT_THROW((void)ChainSampler(negative, SampleMethod::plain), base::InputError);

    Chain ends = one_unit();
    ends.transitions.pop_back();
    ask(ends, MeasureKind::steady_state);
    EXPECT_THROW((void)ChainSampler(ends, SampleMethod::plain), base::InputError);

    Chain never = one_unit();  // the target is no state of the chain
    ask(never, MeasureKind::mean_time, {}, [](State s) { return s[0] > 1.0 ? 1.0 : 0.0; });
    never.transitions.pop_back();  // and the path stays down for ever
    const auto answers = sampled(never, 3);
    EXPECT_EQ(answers[0].unreached, 3u);
    EXPECT_TRUE(std::isnan(answers[0].value));
}

}  // namespace
}  // namespace windtunnel::avail
