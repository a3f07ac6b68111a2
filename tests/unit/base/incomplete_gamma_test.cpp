#include "windtunnel/base/incomplete_gamma.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace windtunnel::base {
namespace {

TEST(GammaP, ClosedFormsByHand) {
    for (const double x : {1e-6, 0.1, 1.0, 1.9, 2.1, 10.0, 40.0}) {
        EXPECT_NEAR(gamma_p(1.0, x), -std::expm1(-x), 1e-13);                 // exponential
        EXPECT_NEAR(gamma_p(2.0, x), 1.0 - (1.0 + x) * std::exp(-x), 1e-13);  // Erlang with two stages
        EXPECT_NEAR(gamma_p(0.5, x), std::erf(std::sqrt(x)), 1e-13);          // chi-square with one degree
    }
    EXPECT_EQ(gamma_p(3.0, 0.0), 0.0);
    EXPECT_EQ(gamma_p(3.0, std::numeric_limits<double>::infinity()), 1.0);
}

TEST(GammaPInverse, InvertsFromTailToTail) {
    for (const double shape : {0.1, 0.5, 1.0, 3.0, 40.0, 1000.0})
        for (const double probability : {1e-12, 1e-5, 0.01, 0.3, 0.5, 0.9, 0.999}) {
            const double x = gamma_p_inverse(shape, probability);
            EXPECT_NEAR(gamma_p(shape, x) / probability, 1.0, 1e-11) << shape << ' ' << probability;
        }
    EXPECT_EQ(gamma_p_inverse(2.0, 0.0), 0.0);
    EXPECT_TRUE(std::isinf(gamma_p_inverse(2.0, 1.0)));
}

}  // namespace
}  // namespace windtunnel::base
