#include "windtunnel/base/moments.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "windtunnel/base/variates.hpp"

namespace windtunnel::base {
namespace {

std::vector<double> sample(std::size_t size, double offset) {
    Draws draws{RandomStream{1, 2, 3}};
    std::vector<double> values;
    for (std::size_t i = 0; i < size; ++i) values.push_back(offset + exponential(draws, 1.0));
    return values;
}

Moments moments_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
    Moments moments;
    for (std::size_t i = begin; i < end; ++i) moments.add(values[i]);
    return moments;
}

Moments merged_in_blocks(const std::vector<double>& values, std::size_t block) {
    Moments total;
    for (std::size_t at = 0; at < values.size(); at += block)
        total.merge(moments_of(values, at, std::min(at + block, values.size())));
    return total;
}

TEST(Moments, FourNumbersByHand) {
    // 1 2 3 6: mean 3, squares 4 + 1 + 0 + 9 = 14, variance 14/3, standard error sqrt(14/3/4)
    const Moments moments = moments_of({1, 2, 3, 6}, 0, 4);
    EXPECT_EQ(moments.count, 4U);
    EXPECT_DOUBLE_EQ(moments.mean, 3.0);
    EXPECT_DOUBLE_EQ(moments.variance(), 14.0 / 3.0);
    EXPECT_DOUBLE_EQ(moments.standard_error(), std::sqrt(14.0 / 12.0));
    EXPECT_EQ(moments.minimum, 1.0);
    EXPECT_EQ(moments.maximum, 6.0);
}

TEST(Moments, OneNumberHasNoKnownError) {
    Moments moments;
    moments.add(5.0);
    EXPECT_EQ(moments.mean, 5.0);
    EXPECT_EQ(moments.standard_error(), 0.0);
}

TEST(Moments, MergedEqualsOnePassWithinRounding) {
    const auto values = sample(10'000, 0.0);
    const Moments once = moments_of(values, 0, values.size());
    for (const std::size_t block : {1U, 7U, 100U, 9'999U}) {
        const Moments merged = merged_in_blocks(values, block);
        EXPECT_EQ(merged.count, once.count);
        EXPECT_NEAR(merged.mean, once.mean, 1e-12);
        EXPECT_NEAR(merged.variance(), once.variance(), 1e-11);
        EXPECT_EQ(merged.minimum, once.minimum);
        EXPECT_EQ(merged.maximum, once.maximum);
    }
}

TEST(Moments, MergeInAFixedOrderGivesFixedBits) {
    const auto values = sample(1'000, 0.0);
    EXPECT_EQ(merged_in_blocks(values, 10), merged_in_blocks(values, 10));
}

TEST(Moments, ALargeOffsetKeepsTheVariance) {
    // The naive sum of squares loses all digits here: 1e9^2 = 1e18 beside a variance of 1.
    const auto near = sample(10'000, 0.0), far = sample(10'000, 1e9);
    EXPECT_NEAR(merged_in_blocks(far, 100).variance(), merged_in_blocks(near, 100).variance(), 1e-6);
}

TEST(Moments, EmptyIsTheNeutralElement) {
    const Moments some = moments_of({4, 5}, 0, 2);
    Moments left, right = some;
    left.merge(some);
    right.merge(Moments{});
    EXPECT_EQ(left, some);
    EXPECT_EQ(right, some);
}

TEST(Moments, TravelAsBytes) {
    const Moments some = moments_of({4, 5, 7}, 0, 3);
    Packer packer;
    some.pack(packer);
    const std::string bytes = std::move(packer).take();
    Unpacker unpacker{bytes};
    EXPECT_EQ(Moments::unpack(unpacker), some);
    EXPECT_TRUE(unpacker.empty());
}

}  // namespace
}  // namespace windtunnel::base
