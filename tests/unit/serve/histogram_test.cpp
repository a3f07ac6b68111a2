#include "windtunnel/serve/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "windtunnel/base/philox.hpp"

namespace windtunnel::serve {
namespace {

TEST(Histogram, GivesQuantilesToTheWidthOfABucket) {
    base::Draws draws{{1, 2, 3}};
    Histogram histogram;
    std::vector<double> numbers;
    for (int i = 0; i < 20000; ++i) {
        numbers.push_back(1e-3 / draws.uniform());
        histogram.add(numbers.back());
    }
    std::sort(numbers.begin(), numbers.end());
    for (const double fraction : {0.01, 0.5, 0.9, 0.99, 1.0}) {
        const double exact = numbers[static_cast<std::size_t>(std::ceil(fraction * 20000.0)) - 1];
        EXPECT_NEAR(histogram.quantile(fraction) / exact, 1.0, Histogram::relative_error) << fraction;
    }
    EXPECT_EQ(histogram.count(), 20000u);
    EXPECT_EQ(histogram.maximum(), numbers.back());
}

/// A line of numbers lands in the same buckets as the numbers one by one.
TEST(Histogram, TakesALineOfNumbersAtOnce) {
    for (const double step : {0.0, 1e-6, 3e-4, 2e-2}) {
        Histogram line, single;
        line.add_line(0.02, step, 500, 3);
        for (int i = 0; i < 500; ++i) single.add(0.02 + step * i, 3);
        EXPECT_EQ(line.count(), single.count());
        EXPECT_NEAR(line.mean(), single.mean(), 1e-12);
        for (const double fraction : {0.1, 0.5, 0.77, 0.99})
            EXPECT_NEAR(line.quantile(fraction) / single.quantile(fraction), 1.0, 2.0 * Histogram::relative_error)
                << step << ' ' << fraction;
    }
}

TEST(Histogram, HoldsZeroAndBothEnds) {
    Histogram histogram;
    histogram.add(0.0);
    histogram.add(1e-12);
    histogram.add(1e12);
    EXPECT_EQ(histogram.quantile(0.5), 0.0);
    EXPECT_GT(histogram.quantile(1.0), 1e9);
    EXPECT_NEAR(histogram.share_up_to(1.0), 2.0 / 3.0, 1e-12);
}

TEST(Histogram, SurvivesPackingAndMerging) {
    Histogram a, b;
    for (int i = 1; i < 400; ++i) (i % 2 == 0 ? a : b).add(1e-4 * i * i);
    base::Packer packer;
    a.pack(packer);
    const std::string bytes = std::move(packer).take();
    base::Unpacker unpacker{bytes};
    Histogram both = Histogram::unpack(unpacker);
    both.merge(b);
    Histogram whole;
    for (int i = 1; i < 400; ++i) whole.add(1e-4 * i * i);
    EXPECT_EQ(both.count(), whole.count());
    EXPECT_EQ(both.quantile(0.5), whole.quantile(0.5));
    EXPECT_NEAR(both.sum(), whole.sum(), 1e-9);
    base::Unpacker damaged{std::string_view{bytes}.substr(0, 20)};
    EXPECT_THROW((void)Histogram::unpack(damaged), base::PackError);
}

}  // namespace
}  // namespace windtunnel::serve
