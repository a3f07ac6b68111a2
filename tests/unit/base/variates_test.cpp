#include "windtunnel/base/variates.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "distributions.hpp"
#include "windtunnel/base/moments.hpp"

namespace windtunnel::base {
namespace {

struct LawCase {
    std::string name;
    std::function<double(Draws&)> draw;
    std::function<double(double)> cdf;
    double mean, variance;
};

std::vector<LawCase> laws() {
    std::vector<LawCase> cases;
    cases.push_back({"uniform", [](Draws& d) { return d.uniform(); }, [](double x) { return x; }, 0.5, 1.0 / 12.0});
    cases.push_back({"exponential", [](Draws& d) { return exponential(d, 3.0); },
                     [](double x) { return -std::expm1(-x / 3.0); }, 3.0, 9.0});
    cases.push_back({"normal", [](Draws& d) { return normal(d); }, test::normal_cdf, 0.0, 1.0});
    for (const double shape : {0.5, 0.75, 1.0, 2.5}) {
        const double mean = std::tgamma(1.0 + 1.0 / shape);
        cases.push_back({"weibull " + std::to_string(shape), [=](Draws& d) { return weibull(d, shape, 2.0); },
                         [=](double x) { return -std::expm1(-std::pow(x / 2.0, shape)); }, 2.0 * mean,
                         4.0 * (std::tgamma(1.0 + 2.0 / shape) - mean * mean)});
    }
    for (const double sigma : {0.3, 1.0})
        cases.push_back({"lognormal " + std::to_string(sigma), [=](Draws& d) { return lognormal(d, sigma, 5.0); },
                         [=](double x) { return test::normal_cdf(std::log(x / 5.0) / sigma); },
                         5.0 * std::exp(sigma * sigma / 2.0),
                         25.0 * std::exp(sigma * sigma) * std::expm1(sigma * sigma)});
    for (const double shape : {0.1, 0.5, 1.0, 3.0, 40.0})
        cases.push_back({"gamma " + std::to_string(shape), [=](Draws& d) { return gamma(d, shape, 2.0); },
                         [=](double x) { return test::gamma_cdf(shape, x / 2.0); }, 2.0 * shape, 4.0 * shape});
    return cases;
}

constexpr int sample_size = 40'000;

TEST(Variates, MeanLiesWithinFourStandardErrors) {
    std::uint32_t purpose = 0;
    for (const LawCase& law : laws()) {
        Draws draws{RandomStream{20261201, purpose++, 0}};
        Moments moments;
        for (int i = 0; i < sample_size; ++i) moments.add(law.draw(draws));
        EXPECT_NEAR(moments.mean, law.mean, 4.0 * std::sqrt(law.variance / sample_size)) << law.name;
    }
}

TEST(Variates, VarianceLiesWithinFourStandardErrors) {
    // The standard error of the variance comes from the sample itself: moments of (x - mean)^2.
    std::uint32_t purpose = 0;
    for (const LawCase& law : laws()) {
        Draws draws{RandomStream{20261201, purpose++, 1}};
        Moments squares;
        for (int i = 0; i < sample_size; ++i) {
            const double distance = law.draw(draws) - law.mean;
            squares.add(distance * distance);
        }
        EXPECT_NEAR(squares.mean, law.variance, 4.0 * squares.standard_error()) << law.name;
    }
}

TEST(Variates, SampleFollowsTheDistributionFunction) {
    std::uint32_t purpose = 0;
    for (const LawCase& law : laws()) {
        Draws draws{RandomStream{20261201, purpose++, 2}};
        std::vector<double> sample;
        for (int i = 0; i < sample_size; ++i) sample.push_back(law.draw(draws));
        EXPECT_LT(test::kolmogorov_smirnov(sample, law.cdf), test::kolmogorov_smirnov_limit) << law.name;
    }
}

TEST(Variates, AWrongLawIsFoundByTheSameTest) {
    // Weibull with shape 1.05 is no exponential: distance about 0.0188 x sqrt(40,000) = 3.8.
    Draws draws{RandomStream{20261201, 0, 3}};
    std::vector<double> sample;
    for (int i = 0; i < sample_size; ++i) sample.push_back(weibull(draws, 1.05, 1.0));
    EXPECT_GT(test::kolmogorov_smirnov(sample, [](double x) { return -std::expm1(-x); }),
              test::kolmogorov_smirnov_limit);
}

TEST(Variates, AreStrictlyPositiveAtTheEndsOfTheUniform) {
    EXPECT_GT(-std::log(open_uniform(~std::uint64_t{0})), 0.0);  // exponential at its smallest
    EXPECT_LT(-std::log(open_uniform(0)), 37.0);                 // 53 ln 2 = 36.7 means at its largest
}

TEST(NormalQuantile, InvertsTheDistributionFunctionFromTailToTail) {
    for (double x = -8.2; x < 5.0; x += 0.05) {
        // d ln p / dx is about |x| in the tail, so a rounding of p moves x by 1e-16 / |x| there, more at the upper end.
        const double p = test::normal_cdf(x);
        const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::acos(-1.0));
        EXPECT_NEAR(normal_quantile(p), x, 2e-14 + 4e-16 * p / density) << x;
    }
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
    EXPECT_EQ(normal_quantile(0.5), 0.0);
}

}  // namespace
}  // namespace windtunnel::base
