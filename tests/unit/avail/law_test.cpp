#include "windtunnel/avail/law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "distributions.hpp"
#include "windtunnel/base/moments.hpp"

namespace windtunnel::avail {
namespace {

using model::Law;
using model::LawKind;

const Law laws[] = {{LawKind::exponential, 1.0, Seconds{50.0}},  {LawKind::weibull, 0.75, Seconds{50.0}},
                    {LawKind::weibull, 2.0, Seconds{50.0}},      {LawKind::lognormal, 0.8, Seconds{50.0}},
                    {LawKind::gamma, 0.5, Seconds{50.0}},        {LawKind::gamma, 3.0, Seconds{50.0}},
                    {LawKind::deterministic, 1.0, Seconds{50.0}}};

TEST(Sample, HasTheMeanOfTheLaw) {
    std::uint32_t purpose = 0;
    for (const Law& law : laws) {
        base::Draws draws{base::RandomStream{5, purpose++, 0}};
        base::Moments moments;
        for (int i = 0; i < 20'000; ++i) moments.add(sample(law, draws).value());
        EXPECT_NEAR(moments.mean, mean(law).value(), 4.0 * moments.standard_error()) << purpose;
    }
}

TEST(TimeAtHazard, OfAnExponentialHazardIsTheLawItself) {
    // Inversion: the same law as sample(), by Kolmogorov-Smirnov against the other's distribution function.
    base::Draws draws{base::RandomStream{5, 100, 0}};
    for (const Law& law : laws) {
        std::vector<double> failed;
        for (int i = 0; i < 5'000; ++i) {
            const double hazard = -std::log(draws.uniform());
            failed.push_back(time_at_hazard(law, hazard).value());
        }
        const auto cdf = [&](double t) {
            switch (law.kind) {
                case LawKind::exponential:
                    return -std::expm1(-t / 50.0);
                case LawKind::weibull:
                    return -std::expm1(-std::pow(t / 50.0, law.shape));
                case LawKind::lognormal:
                    return test::normal_cdf(std::log(t / 50.0) / law.shape);
                case LawKind::gamma:
                    return test::gamma_cdf(law.shape, t / 50.0);
                case LawKind::deterministic:
                    return 0.0;
            }
            return 0.0;
        };
        if (law.kind == LawKind::deterministic) {
            EXPECT_EQ(failed.front(), 50.0);
        } else {
            EXPECT_LT(test::kolmogorov_smirnov(failed, cdf), test::kolmogorov_smirnov_limit)
                << static_cast<int>(law.kind);
        }
    }
}

TEST(TimeAtHazard, IsMonotoneFromZeroToTheFarTail) {
    for (const Law& law : laws) {
        double before = 0.0;
        for (const double hazard : {0.0, 1e-12, 1e-6, 0.1, 1.0, 10.0, 30.0, 36.0, 700.0}) {
            const double now = time_at_hazard(law, hazard).value();
            EXPECT_GE(now, before);
            before = now;
        }
    }
}

TEST(LaplaceTransform, ByHand) {
    const PerSecond rate{0.02};                                  // rate x scale = 1
    EXPECT_DOUBLE_EQ(*laplace_transform(laws[0], rate), 0.5);    // 1/(1 + 1)
    EXPECT_DOUBLE_EQ(*laplace_transform(laws[5], rate), 0.125);  // 2^-3
    EXPECT_DOUBLE_EQ(*laplace_transform(laws[6], rate), std::exp(-1.0));
    EXPECT_FALSE(laplace_transform(laws[1], rate));
    EXPECT_FALSE(laplace_transform(laws[3], rate));
}

}  // namespace
}  // namespace windtunnel::avail
