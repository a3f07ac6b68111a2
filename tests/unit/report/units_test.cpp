#include "windtunnel/report/units.hpp"

#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

TEST(Human, TakesTheLargestUnitThatLeavesAtLeastOne) {
    EXPECT_EQ(human(Seconds{0.0}), "0 s");
    EXPECT_EQ(human(Seconds{0.0042}), "4.2 ms");
    EXPECT_EQ(human(Seconds{59.0}), "59 s");
    EXPECT_EQ(human(Seconds{86400.0 * 51.25}), "51.25 d");
    EXPECT_EQ(human(Bytes{54.8125 * base::gib}), "54.81 GiB");
    EXPECT_EQ(human(BytesPerSecond{2.7e9}), "2.7 GB/s");
    EXPECT_EQ(human(FlopsPerSecond{353.9e12}), "353.9 TFLOP/s");
    EXPECT_EQ(human(Joules{3.6e6}), "1 kWh");
}

TEST(Human, DoesNotPrintAThousandOfTheSmallerUnit) {
    EXPECT_EQ(human(Bytes{base::gib * 0.99999}), "1 GiB");
}

TEST(HumanCount, IsExactBelowAMillion) {
    EXPECT_EQ(human_count(15360.0), "15,360");
    EXPECT_EQ(human_count(13.2e12), "13.2 T");
    EXPECT_EQ(human_count(0.5), "0.5");
    EXPECT_EQ(human_count(138800.2), "138,800");
}

TEST(Grouped, SetsACommaEveryThreeDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

TEST(Percent, HasTwoDecimals) {
    EXPECT_EQ(percent(0.38412), "38.41 %");
}

}  // namespace
}  // namespace windtunnel::report
