#include "windtunnel/avail/time_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/quadrature.hpp"

namespace windtunnel::avail {
namespace {

using model::TimeLaw;
using enum model::TimeLawKind;

std::vector<TimeLaw> laws() {
    return {{exponential, 1.0, 2.0, {}, {}},
            {weibull, 0.7, 3.0, {}, {}},
            {lognormal, 0.8, 1.5, {}, {}},
            {gamma, 2.0, 0.5, {}, {}},
            {deterministic, 1.0, 2.0, {}, {}},
            {uniform, 1.0, 3.0, {}, {}},
            {hyperexponential, 1.0, 1.0, {0.4, 0.6}, {1.0, 4.0}},
            {phase_type, 1.0, 1.0, {1.0, 0.0}, {0.5, 1.5, 0.0, 3.0}},
            {empirical, 1.0, 1.0, {0.5, 0.5}, {1.0, 4.0}}};
}

TEST(Quadrature, IntegratesSingularEndsAndLongTails) {
    EXPECT_NEAR(integral([](double x) { return 1.0 / std::sqrt(x); }, 0.0, 4.0), 4.0, 1e-11);
    EXPECT_NEAR(integral_to_infinity([](double x) { return x * std::exp(-x); }, 0.0, 1.0), 1.0, 1e-12);
    const GaussRule rule = gauss_legendre(5);  // exact for x^8: 2/9
    double sum = 0.0;
    for (std::size_t i = 0; i < 5; ++i) sum += rule.weight[i] * std::pow(rule.point[i], 8.0);
    EXPECT_NEAR(sum, 2.0 / 9.0, 1e-14);
}

TEST(TimeLaw, MomentsByHand) {
    // hyperexponential: 0.4 + 2.4 = 2.8; 2 (0.4 + 0.6 x 16) = 20. Phases: phase 1 lasts 1/2 and goes on with 3/4 to
    // phase 2 of 1/3: 0.5 + 0.25 = 0.75. Uniform (1, 3): 2 and 13/3.
    const std::vector<TimeLaw> all = laws();
    EXPECT_NEAR(mean(all[6]), 2.8, 1e-14);
    EXPECT_NEAR(second_moment(all[6]), 20.0, 1e-13);
    EXPECT_NEAR(mean(all[7]), 0.75, 1e-14);
    EXPECT_NEAR(mean(all[5]), 2.0, 1e-14);
    EXPECT_NEAR(second_moment(all[5]), 13.0 / 3.0, 1e-13);
    EXPECT_NEAR(mean(all[8]), 2.5, 1e-14);
}

/// Mean = integral of the survival function, second moment = 2 x integral of t x survival; transform = 1 - rate x
/// integral of exp(-rate t) x survival.
TEST(TimeLaw, FunctionsAgreeWithEachOther) {
    for (const TimeLaw& law : laws()) {
        std::vector<double> ends{0.0};
        for (const double one : atoms(law)) ends.push_back(one);
        if (law.kind == uniform) ends = {0.0, law.shape, law.scale};
        const auto whole = [&](const RealFunction& f) {
            double sum = 0.0;
            for (std::size_t i = 0; i + 1 < ends.size(); ++i) sum += integral(f, ends[i], ends[i + 1]);
            return sum + (is_discrete(law) || law.kind == uniform ? 0.0 : integral_to_infinity(f, ends.back(), 1.0));
        };
        const auto kind = static_cast<int>(law.kind);
        EXPECT_NEAR(whole([&](double t) { return survival(law, t); }), mean(law), 1e-9) << kind;
        EXPECT_NEAR(whole([&](double t) { return 2.0 * t * survival(law, t); }), second_moment(law), 1e-7) << kind;
        const double rate = 0.3;
        const Transform at = transform(law, rate);
        EXPECT_NEAR(at.value, 1.0 - rate * whole([&](double t) { return std::exp(-rate * t) * survival(law, t); }),
                    1e-10)
            << kind;
        const double h = 1e-4;
        EXPECT_NEAR(at.weighted, (transform(law, rate - h).value - transform(law, rate + h).value) / (2.0 * h), 1e-6)
            << kind;
        EXPECT_NEAR(distribution(law, 1.7) + survival(law, 1.7), 1.0, 1e-12) << kind;
    }
}

TEST(TimeLaw, DrawsHaveItsMean) {
    for (const TimeLaw& law : laws()) {
        base::Draws draws{base::RandomStream{7, 1, static_cast<std::uint64_t>(law.kind)}};
        double sum = 0.0;
        constexpr int number = 20'000;
        for (int i = 0; i < number; ++i) sum += sample(law, draws);
        const double deviation = std::sqrt((second_moment(law) - mean(law) * mean(law)) / number);
        EXPECT_NEAR(sum / number, mean(law), 4.0 * deviation + 1e-9) << static_cast<int>(law.kind);
    }
}

TEST(Phases, OfAnErlangLawFollowEachOther) {
    const auto found = phases({gamma, 3.0, 2.0, {}, {}});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rate, (std::vector<double>{0, 0.5, 0, 0, 0, 0.5, 0, 0, 0.5}));
    EXPECT_FALSE(phases({lognormal, 1.0, 1.0, {}, {}}));
    EXPECT_FALSE(phases({gamma, 2.5, 1.0, {}, {}}));
}

}  // namespace
}  // namespace windtunnel::avail
