#include "windtunnel/model/failures.hpp"

#include <gtest/gtest.h>

namespace windtunnel::model {
namespace {

TEST(LawMean, ByHand) {
    const Seconds scale{100.0};
    EXPECT_EQ(mean(Law{LawKind::exponential, 1.0, scale}).value(), 100.0);
    EXPECT_EQ(mean(Law{LawKind::deterministic, 1.0, scale}).value(), 100.0);
    EXPECT_DOUBLE_EQ(mean(Law{LawKind::weibull, 0.5, scale}).value(), 200.0);  // Gamma(1 + 2) = 2
    EXPECT_DOUBLE_EQ(mean(Law{LawKind::weibull, 1.0, scale}).value(), 100.0);
    EXPECT_DOUBLE_EQ(mean(Law{LawKind::gamma, 3.0, scale}).value(), 300.0);
    EXPECT_NEAR(mean(Law{LawKind::lognormal, 1.0, scale}).value(), 164.8721271, 1e-6);  // 100 x sqrt(e)
}

}  // namespace
}  // namespace windtunnel::model
