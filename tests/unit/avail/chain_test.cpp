#include "windtunnel/avail/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/two_state.hpp"

namespace windtunnel::avail {
namespace {

TEST(SteadyState, TwoStatesAreTheRatioOfTheirRates) {
    Generator generator{2};
    generator.rate(0, 1) = PerSecond{0.2};
    generator.rate(1, 0) = PerSecond{0.6};
    const auto share = steady_state(generator);
    EXPECT_DOUBLE_EQ(share[0], 0.75);  // 0.6 / 0.8
    EXPECT_DOUBLE_EQ(share[1], 0.25);
}

TEST(SteadyState, HealthySubHealthyFault) {
    // Per hour: H->S 0.01, S->H 0.5, S->F 0.02, H->F 0.001, F->H 2. Balance of S: 0.01 H = 0.52 S; of F:
    // 0.001 H + 0.02 S = 2 F. With H = 1: S = 0.0192308, F = 0.000692308; sum 1.0199231.
    Generator generator{3};
    generator.rate(0, 1) = 0.01 / base::hour;
    generator.rate(1, 0) = 0.5 / base::hour;
    generator.rate(1, 2) = 0.02 / base::hour;
    generator.rate(0, 2) = 0.001 / base::hour;
    generator.rate(2, 0) = 2.0 / base::hour;
    const auto share = steady_state(generator);
    EXPECT_NEAR(share[0], 0.98047, 5e-6);
    EXPECT_NEAR(share[1], 0.01886, 5e-6);
    EXPECT_NEAR(share[2], 0.00068, 5e-6);
    EXPECT_DOUBLE_EQ(share[1] / share[0], 0.01 / 0.52);
}

TEST(SteadyState, RareStatesKeepTheirRelativeAccuracy) {
    // Birth and death with birth/death = 1e-10: share of state k = 1e-10k, down to 1e-300.
    Generator generator{31};
    for (std::size_t k = 0; k < 30; ++k) {
        generator.rate(k, k + 1) = PerSecond{1e-10};
        generator.rate(k + 1, k) = PerSecond{1.0};
    }
    const auto share = steady_state(generator);
    EXPECT_NEAR(share[30] / 1e-300, 1.0, 1e-9);
    EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1.0, 1e-15);
}

TEST(TwoState, SteadyTransientAndInterval) {
    // up 98.5 h, down 1.25 h: 98.5/99.75 = 0.98747
    EXPECT_NEAR(steady_availability(98.5 * base::hour, 1.25 * base::hour), 0.9875, 5e-5);
    // lambda = 1, mu = 3 per second: p(t) = 0.75 + 0.25 e^-4t; mean over [0, 1] = 0.75 + 0.25 (1 - e^-4)/4
    const Seconds up{1.0}, down{1.0 / 3.0};
    EXPECT_DOUBLE_EQ(transient_availability(up, down, Seconds{0.5}), 0.75 + 0.25 * std::exp(-2.0));
    EXPECT_NEAR(interval_availability(up, down, Seconds{1.0}), 0.75 + 0.0625 * (1.0 - std::exp(-4.0)), 1e-15);
    EXPECT_EQ(interval_availability(up, down, Seconds{0.0}), 1.0);
}

TEST(SpareShortage, EqualsTheChainSolvedDensely) {
    // 6 nodes, 2 spares, failure rate 0.05 each, repair rate 1: states 0..8 nodes under repair.
    const double fail = 0.05;
    Generator generator{9};
    for (std::size_t k = 0; k < 8; ++k) {
        const double working = 6.0 - std::max(0.0, static_cast<double>(k) - 2.0);
        generator.rate(k, k + 1) = PerSecond{working * fail};
        generator.rate(k + 1, k) = PerSecond{static_cast<double>(k + 1)};
    }
    const auto share = steady_state(generator);
    const double short_of_nodes = std::accumulate(share.begin() + 3, share.end(), 0.0);
    EXPECT_NEAR(spare_shortage(PerSecond{6 * fail}, 6, Seconds{1.0}, 2), short_of_nodes, 1e-14);
}

TEST(SpareShortage, PoissonDemandOfOne) {
    // Many members, mean number under repair 1: P(more than s) of a Poisson variate with mean 1:
    // 1 - 0.368, 1 - 0.736, 1 - 0.920, 1 - 0.981
    const double enough[] = {0.368, 0.736, 0.920, 0.981};
    for (int spares = 0; spares < 4; ++spares)
        EXPECT_NEAR(1.0 - spare_shortage(PerSecond{1.0}, 1'000'000'000, Seconds{1.0}, spares), enough[spares], 5e-4);
}

}  // namespace
}  // namespace windtunnel::avail
