#include "windtunnel/base/quantile_sketch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/base/variates.hpp"

namespace windtunnel::base {
namespace {

QuantileSketch sketch_of(const std::vector<double>& values) {
    QuantileSketch sketch;
    for (const double value : values) sketch.add(value);
    return sketch;
}

double exact_quantile(std::vector<double> values, double fraction) {
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<double> sample(std::size_t size, std::uint64_t trial) {
    Draws draws{RandomStream{1, 1, trial}};
    std::vector<double> values;
    for (std::size_t i = 0; i < size; ++i) values.push_back(lognormal(draws, 2.0, 1e5) * (i % 5 == 0 ? -1.0 : 1.0));
    return values;
}

TEST(QuantileSketch, IsWithinItsStatedErrorOfTheExactQuantile) {
    const auto values = sample(5'000, 0);
    const auto sketch = sketch_of(values);
    for (const double fraction : {0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0}) {
        const double exact = exact_quantile(values, fraction);
        EXPECT_NEAR(sketch.quantile(fraction), exact, std::abs(exact) * QuantileSketch::relative_error * 1.000001)
            << fraction;
    }
}

TEST(QuantileSketch, TheEndsAreExact) {
    const auto sketch = sketch_of({3.0, 0.0, -7.5, 1e300});
    EXPECT_EQ(sketch.quantile(0.0), -7.5);
    EXPECT_EQ(sketch.quantile(0.5), 0.0);  // second of four
    EXPECT_EQ(sketch.quantile(1.0), 1e300);
}

TEST(QuantileSketch, EqualNumbersComeBackExactly) {
    EXPECT_EQ(sketch_of({0.97, 0.97, 0.97}).quantile(0.5), 0.97);
}

TEST(QuantileSketch, TheExtremesOfDoubleHaveBuckets) {
    const auto sketch = sketch_of({-1.7e308, -5e-324, 5e-324, 1e-300, 1.7e308});
    EXPECT_NEAR(sketch.quantile(0.8) / 1e-300, 1.0, 1e-4);
    EXPECT_EQ(sketch.maximum(), 1.7e308);
}

TEST(QuantileSketch, StateDoesNotDependOnOrderOrMerging) {
    auto values = sample(1'000, 1);
    const auto once = sketch_of(values);
    QuantileSketch merged;
    for (std::size_t at = 0; at < values.size(); at += 100)
        merged.merge(sketch_of({values.begin() + static_cast<long>(at), values.begin() + static_cast<long>(at) + 100}));
    EXPECT_EQ(merged, once);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(sketch_of(values), once);
}

TEST(QuantileSketch, IntervalOfTheMedianOfTenByHand) {
    // B(10, 1/2): P(B <= 1) = 11/1024 = 0.011, P(B <= 2) = 56/1024 = 0.055. So the 95 % interval is (X_2, X_9),
    // coverage 1 - 2 x 11/1024 = 0.978516.
    const auto interval = sketch_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).interval(0.5, 0.95);
    EXPECT_NEAR(interval.low, 2.0, 2e-4);
    EXPECT_NEAR(interval.high, 9.0, 9e-4);
    EXPECT_NEAR(interval.coverage, 1.0 - 22.0 / 1024.0, 1e-12);
}

TEST(QuantileSketch, IntervalSaysWhenTheSampleIsTooSmall) {
    // P99 of 10 numbers: only P(B <= 9) = 1 - 0.99^10 = 0.0956 lies below the maximum.
    const auto interval = sketch_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).interval(0.99, 0.90);
    EXPECT_EQ(interval.high, 10.0);
    EXPECT_LT(interval.coverage, 0.0957);
}

TEST(QuantileSketch, IntervalOfOneNumberIsThatNumber) {
    const auto interval = sketch_of({4.0}).interval(0.5, 0.95);
    EXPECT_EQ(interval.low, 4.0);
    EXPECT_EQ(interval.high, 4.0);
    EXPECT_EQ(interval.coverage, 0.0);
}

TEST(QuantileSketch, IntervalsCoverTheTruthAsOftenAsTheySay) {
    // True P90 of an exponential is ln 10. 500 samples of 200: coverage 0.90 or a little more, 4 standard errors 0.054.
    int covered = 0;
    for (std::uint64_t trial = 0; trial < 500; ++trial) {
        Draws draws{RandomStream{7, 7, trial}};
        QuantileSketch sketch;
        for (int i = 0; i < 200; ++i) sketch.add(exponential(draws, 1.0));
        const auto interval = sketch.interval(0.9, 0.90);
        covered += interval.low <= std::log(10.0) && std::log(10.0) <= interval.high ? 1 : 0;
    }
    EXPECT_GT(covered, 500 * (0.90 - 0.054));
    EXPECT_LT(covered, 500 * 0.99);
}

TEST(QuantileSketch, IntervalOfAMillionIsNarrow) {
    QuantileSketch sketch;
    for (int i = 1; i <= 1000; ++i) sketch.add(i);
    for (int doubling = 0; doubling < 10; ++doubling) sketch.merge(QuantileSketch{sketch});
    // 1,024,000 numbers; standard deviation of the rank of the median 506, so +- 992 ranks: one of the 1,000 values
    // each way
    const auto interval = sketch.interval(0.5, 0.95);
    EXPECT_NEAR(interval.low, 499.5, 0.6);
    EXPECT_NEAR(interval.high, 500.5, 0.6);
}

TEST(QuantileSketch, TravelsAsBytesAndRefusesDamage) {
    const auto some = sketch_of(sample(50, 2));
    Packer packer;
    some.pack(packer);
    const std::string bytes = std::move(packer).take();
    Unpacker unpacker{bytes};
    EXPECT_EQ(QuantileSketch::unpack(unpacker), some);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Unpacker cut{std::string_view{bytes}.substr(0, size)};
        EXPECT_THROW((void)QuantileSketch::unpack(cut), PackError) << size;
    }
    std::string damaged = bytes;
    damaged[0] = static_cast<char>(damaged[0] + 1);  // the count
    Unpacker wrong{damaged};
    EXPECT_THROW((void)QuantileSketch::unpack(wrong), PackError);
}

}  // namespace
}  // namespace windtunnel::base
