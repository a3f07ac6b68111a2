#include "windtunnel/calibrate/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/base/variates.hpp"

namespace windtunnel::calibrate {
namespace {

/// Message times alpha + n / B with relative noise, in us and GB/s: n from 1 kB to 1 GB, so that each is seen.
struct Messages {
    std::vector<double> bytes, seconds;
};

constexpr double true_alpha_us = 12.0, true_rate = 40.0;

Messages measured(double noise, std::uint64_t trial) {
    Messages messages;
    base::Draws draws{{7, 0x0CA1'00FF, trial}};
    for (int i = 0; i < 36; ++i) {
        const double bytes = 1e3 * std::pow(10.0, i / 6.0);
        const double time = true_alpha_us * 1e-6 + bytes / (true_rate * 1e9);
        messages.bytes.push_back(bytes);
        messages.seconds.push_back(time * std::exp(noise * base::normal(draws)));
    }
    return messages;
}

Problem problem_of(const Messages& messages) {
    Problem problem;
    problem.values = {{20.0, 0.1, 1e4, 10.0}, {100.0, 0.1, 1e4, 10.0}};
    problem.residuals = [&messages](std::span<const double> x) {
        std::vector<double> residuals;
        for (std::size_t i = 0; i < messages.bytes.size(); ++i)
            residuals.push_back(std::log((x[0] * 1e-6 + messages.bytes[i] / (x[1] * 1e9)) / messages.seconds[i]));
        return residuals;
    };
    problem.weights.assign(messages.bytes.size(), 1.0);
    problem.scale = 0.0;
    problem.strength = 1e-9;
    return problem;
}

TEST(LeastSquares, NoiseFreeMessagesGiveBackLatencyAndBandwidth) {
    const Messages messages = measured(0.0, 0);
    const Problem problem = problem_of(messages);
    const Solution found = solve(problem, {20.0, 100.0});
    EXPECT_NEAR(found.values[0], true_alpha_us, 1e-4 * true_alpha_us);
    EXPECT_NEAR(found.values[1], true_rate, 1e-4 * true_rate);
    EXPECT_LT(found.loss, 1e-8);
}

TEST(LeastSquares, LatencyAndBandwidthLieInTheirIntervalsInAbout95Of100Trials) {
    // 3 % noise, 200 trials. Standard error of the share: sqrt(0.95 x 0.05 / 200) = 1.5 %; the percentile bootstrap of
    // 36 rows is narrow by a few percent. 4 standard errors below, and not all of them.
    constexpr int trials = 200, resamples = 79;
    int inside_alpha = 0, inside_rate = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Messages messages = measured(0.03, static_cast<std::uint64_t>(trial));
        Problem problem = problem_of(messages);
        const Solution found = solve(problem, {20.0, 100.0});
        std::vector<double> alphas, rates;
        problem.max_iterations = 3;
        for (int number = 0; number < resamples; ++number) {
            problem.weights = resampled_weights(messages.bytes.size(), static_cast<std::uint64_t>(trial),
                                                static_cast<std::uint64_t>(number));
            const Solution again = solve(problem, found.values);
            alphas.push_back(again.values[0]);
            rates.push_back(again.values[1]);
        }
        const Interval alpha = percentile_interval(alphas), rate = percentile_interval(rates);
        inside_alpha += alpha.low <= true_alpha_us && true_alpha_us <= alpha.high ? 1 : 0;
        inside_rate += rate.low <= true_rate && true_rate <= rate.high ? 1 : 0;
    }
    for (const int inside : {inside_alpha, inside_rate}) {
        EXPECT_GE(inside, trials * 89 / 100);
        EXPECT_LT(inside, trials);
    }
}

TEST(LeastSquares, ABoundHolds) {
    const Messages messages = measured(0.0, 0);
    Problem problem = problem_of(messages);
    problem.values[1].prior = 20.0;
    problem.values[1].upper = 30.0;  // below the true 40
    const Solution found = solve(problem, {20.0, 20.0});
    EXPECT_DOUBLE_EQ(found.values[1], 30.0);
    EXPECT_GT(found.values[0], 0.1);
}

TEST(LeastSquares, WithoutDataThePriorStays) {
    Problem problem;
    problem.values = {{2.0, 1.0, 4.0, 0.3}};
    problem.residuals = [](std::span<const double>) { return std::vector<double>{}; };
    const Solution found = solve(problem, {3.5});
    EXPECT_NEAR(found.values[0], 2.0, 1e-3);
}

TEST(LeastSquares, OneBadRowPullsLikeItsDistance) {
    // Nine rows say 1, one says 3. Squares on logs: the mean of the logs, exp(ln 3 / 10) = 1.116. Distances: the
    // median, 1.
    Problem problem;
    problem.values = {{1.5, 0.1, 10.0, 100.0}};
    problem.weights.assign(10, 1.0);
    problem.strength = 1e-9;
    problem.residuals = [](std::span<const double> x) {
        std::vector<double> residuals(10, std::log(x[0]));
        residuals.back() = std::log(x[0] / 3.0);
        return residuals;
    };
    problem.scale = 0.0;
    EXPECT_NEAR(solve(problem, {1.5}).values[0], std::exp(std::log(3.0) / 10.0), 1e-4);
    problem.scale = 0.01;
    EXPECT_NEAR(solve(problem, {1.5}).values[0], 1.0, 0.01);
}

TEST(LeastSquares, ResamplesHoldAsManyRowsAndStartsStayInTheBox) {
    for (std::uint64_t number = 0; number < 5; ++number) {
        double sum = 0.0;
        for (const double weight : resampled_weights(17, 3, number)) sum += weight;
        EXPECT_DOUBLE_EQ(sum, 17.0);
    }
    EXPECT_NE(resampled_weights(17, 3, 0), resampled_weights(17, 3, 1));
    Problem problem;
    problem.values = {{1.0, 0.9, 1.1, 1.0}};
    EXPECT_EQ(start_point(problem, 1, 0), std::vector<double>{1.0});
    for (std::uint64_t number = 1; number < 20; ++number) {
        const double value = start_point(problem, 1, number)[0];
        EXPECT_GE(value, 0.9);
        EXPECT_LE(value, 1.1);
    }
}

TEST(Intervals, NearestRanks) {
    // 40 values 1 to 40: ranks ceil(0.025 x 40) = 1 and ceil(0.975 x 40) = 39.
    std::vector<double> values;
    for (int i = 40; i > 0; --i) values.push_back(i);
    const Interval interval = percentile_interval(values);
    EXPECT_DOUBLE_EQ(interval.low, 1.0);
    EXPECT_DOUBLE_EQ(interval.high, 39.0);
}

TEST(Drift, IsSeenWhenTheLastRowsAreAllSlow) {
    // By hand: two residuals 0.1, weight 0.2: mean 0.02, then 0.02 + 0.2 x 0.08 = 0.036;
    // variance 0.01, sigma^2 = 0.01 x 0.2 / 1.8 x (1 - 0.8^4) = 6.56e-4.
    const std::vector<double> two{0.1, 0.1};
    EXPECT_NEAR(drift_of(two).mean, 0.036, 1e-15);
    EXPECT_NEAR(drift_of(two).sigma, std::sqrt(0.01 / 9.0 * (1.0 - 0.4096)), 1e-15);
    std::vector<double> residuals;
    base::Draws draws{{1, 0x0CA1'00FE, 0}};
    for (int i = 0; i < 100; ++i) residuals.push_back(0.03 * base::normal(draws));
    EXPECT_FALSE(drift_of(residuals).is_large());
    for (int i = 0; i < 10; ++i) residuals.push_back(0.12);
    EXPECT_TRUE(drift_of(residuals).is_large());
}

}  // namespace
}  // namespace windtunnel::calibrate
