#include "windtunnel/compute/operator_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel::compute {
namespace {

/// A table of one key and one axis, times in seconds.
model::OperatorTable line(const std::vector<double>& at, const std::vector<double>& times) {
    model::OperatorTable table;
    table.shape.name = "op";
    table.shape.keys = {"card"};
    table.shape.axes = {"n"};
    table.shape.quantities = {"t"};
    table.shape.terms = {{}, {{0, 1.0}}};
    for (std::size_t i = 0; i < at.size(); ++i)
        table.rows.push_back({static_cast<int>(i) + 2, {"a"}, {at[i]}, {times[i]}});
    return table;
}
const std::vector<std::string> key{"a"};

// t = 3 + 2 n: both terms are found, so every left-out point is met, and so is one far outside.
TEST(FitTerms, FindsTheFactorsOfAnExactSum) {
    std::vector<MeasuredPoint> points;
    for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0}) points.push_back({{n}, {1.0, n, n * n}, 3.0 + 2.0 * n});
    const std::vector<double> factors = fit_terms(points, -1, {});
    EXPECT_NEAR(factors[0], 3.0, 1e-3);
    EXPECT_NEAR(factors[1], 2.0, 1e-3);
    EXPECT_NEAR(factors[2], 0.0, 1e-4);
}

// The unconstrained fit of t = 10 - n needs a negative slope; with factors >= 0 the constant is left alone. Relative
// error is least where sum(1/t^2) c = sum(1/t): t = 9, 8: c = (1/9 + 1/8)/(1/81 + 1/64) = 8.4483.
TEST(FitTerms, NeverFindsNegativeFactors) {
    const std::vector<MeasuredPoint> points{{{1.0}, {1.0, 1.0}, 9.0}, {{2.0}, {1.0, 2.0}, 8.0}};
    const std::vector<double> factors = fit_terms(points, -1, {});
    EXPECT_NEAR(factors[0], (1.0 / 9 + 1.0 / 8) / (1.0 / 81 + 1.0 / 64), 1e-6);
    EXPECT_EQ(factors[1], 0.0);
}

TEST(OperatorTimes, GiveAMeasuredRowAsMeasured) {
    const OperatorTimes times{line({1, 2, 4, 8}, {1.0, 1.7, 3.1, 9.0}), "t"};
    const std::vector<double> at{4.0};
    const auto answer = times.time(key, at);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->time.value(), 3.1);
    EXPECT_EQ(answer->basis, TimeBasis::measured);
}

// 5 + 0.5 n between 1 and 64: inside it is met within the numerics of the fit; outside the trend goes on, with a
// warning.
TEST(OperatorTimes, InterpolateInsideAndFollowTheTrendOutside) {
    std::vector<double> at, t;
    for (double n = 1.0; n <= 64.0; n *= 2.0) at.push_back(n), t.push_back(5.0 + 0.5 * n);
    const OperatorTimes times{line(at, t), "t"};
    const auto inside = times.time(key, std::vector<double>{24.0});
    EXPECT_EQ(inside->basis, TimeBasis::interpolated);
    EXPECT_TRUE(inside->warning.empty());
    EXPECT_NEAR(inside->time.value(), 17.0, 0.02);
    const auto outside = times.time(key, std::vector<double>{6400.0});
    EXPECT_EQ(outside->basis, TimeBasis::first_principles);
    EXPECT_EQ(outside->warning, "op: outside the measured range, n 6400 (measured 1 to 64)");
    EXPECT_NEAR(outside->time.value(), 3205.0, 4.0);
}

TEST(OperatorTimes, KnowNothingOfAnotherKey) {
    const OperatorTimes times{line({1, 2, 4, 8}, {1.0, 1.0, 1.0, 1.0}), "t"};
    EXPECT_FALSE(times.time(std::vector<std::string>{"b"}, std::vector<double>{2.0}));
}

// The slow twin: a model made without the row.
TEST(OperatorTimes, LeftOutIsWhatAModelWithoutTheRowSays) {
    const std::vector<double> at{1, 2, 4, 8, 16, 32}, t{4.0, 4.5, 5.0, 9.0, 15.0, 33.0};
    const auto left = OperatorTimes{line(at, t), "t"}.left_out();
    ASSERT_EQ(left.size(), 4U);  // the ends are not inner points
    for (const OperatorTimes::LeftOut& point : left) {
        std::vector<double> other_at = at, other_t = t;
        other_at.erase(other_at.begin() + static_cast<std::ptrdiff_t>(point.row));
        other_t.erase(other_t.begin() + static_cast<std::ptrdiff_t>(point.row));
        const OperatorTimes without{line(other_at, other_t), "t"};
        const auto answer = without.time(key, std::vector<double>{at[point.row]});
        EXPECT_NEAR(point.predicted.value(), answer->time.value(), 1e-6 * answer->time.value());
        EXPECT_EQ(point.measured.value(), t[point.row]);
    }
}

TEST(OperatorTimes, ALineOfThreeHasNoInnerPoint) {
    EXPECT_TRUE((OperatorTimes{line({1, 2, 4}, {1.0, 2.0, 3.0}), "t"}.left_out().empty()));
}

// 4096 x 4096 in tiles of 128: 1024 tiles on 132 cores = 8 waves (7.76); times k.
TEST(TermValues, CountWavesOfTiles) {
    model::OperatorTableShape shape;
    shape.axes = {"m", "n", "k"};
    shape.cores = {{"h100", 132.0}};
    shape.terms = {{{model::TermFactor::waves, 1.0}, {2, 1.0}}, {{0, 2.0}, {1, -1.0}}};
    const std::vector<double> at{4096, 4096, 512};
    const std::vector<std::string> card{"h100"};
    const std::vector<double> values = term_values(shape, card, at);
    EXPECT_EQ(values[0], 8.0 * 512.0);
    EXPECT_EQ(values[1], 4096.0);
}

// A column with zeros is moved before its logarithm: (0, 10, 100) can all be asked.
TEST(OperatorTimes, TakeZerosOnAnAxis) {
    const OperatorTimes times{line({0, 10, 100, 1000}, {1.0, 1.1, 2.0, 11.0}), "t"};
    EXPECT_NEAR(times.time(key, std::vector<double>{5.0})->time.value(), 1.05, 0.02);
    EXPECT_EQ(times.time(key, std::vector<double>{0.0})->time.value(), 1.0);
}

}  // namespace
}  // namespace windtunnel::compute
