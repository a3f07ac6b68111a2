#include "windtunnel/input/quantity.hpp"

#include <gtest/gtest.h>

namespace windtunnel::input {
namespace {

TEST(Quantity, ReadsNumberAndUnit) {
    // 400 Gbit/s = 400e9 / 8 B/s; 64 GiB = 64 x 2^30 B; 0.08 USD/kWh = 0.08 / 3.6e6 USD/J
    EXPECT_DOUBLE_EQ(read_quantity("400 Gbit/s", "25 GB/s").value, 50e9);
    EXPECT_DOUBLE_EQ(read_quantity("25 GB/s", "25 GB/s").value, 25e9);
    EXPECT_DOUBLE_EQ(read_quantity("64 GiB", "1 GB").value, 68719476736.0);
    EXPECT_DOUBLE_EQ(read_quantity("64 GB", "1 GB").value, 64e9);
    EXPECT_DOUBLE_EQ(read_quantity("1.5 us", "1 s").value, 1.5e-6);
    EXPECT_DOUBLE_EQ(read_quantity("60000 h", "1 s").value, 2.16e8);
    EXPECT_DOUBLE_EQ(read_quantity("353.9 TFLOP/s", "1 TFLOP/s").value, 353.9e12);
    EXPECT_DOUBLE_EQ(read_quantity("700 W", "1 W").value, 700.0);
    EXPECT_DOUBLE_EQ(read_quantity("3.6 kJ/h", "1 W").value, 1.0);
    EXPECT_DOUBLE_EQ(read_quantity("0.08 USD/kWh", "1 USD/kWh").value, 0.08 / 3.6e6);
    EXPECT_DOUBLE_EQ(read_quantity("2.5 USD/h", "1 USD/h").value, 2.5 / 3600.0);
    EXPECT_DOUBLE_EQ(read_quantity("12 %", "5 %").value, 0.12);
    EXPECT_DOUBLE_EQ(read_quantity("90days", "1 s").value, 90 * 86400.0);
}

TEST(Quantity, SaysWhatIsWrongAndWhatWouldBeRight) {
    const auto data = read_quantity("400 Gbit", "25 GB/s");
    EXPECT_EQ(data.problem, "is data");
    EXPECT_EQ(data.expected, "data/time, for example \"400 Gbit/s\"");
    EXPECT_EQ(read_quantity("5 GBs", "25 GB/s").problem, "unknown unit \"GBs\", nearest known: GB");
    EXPECT_EQ(read_quantity("1000 y", "24 h").problem, "unknown unit \"y\"");  // "%" is no help
    EXPECT_EQ(read_quantity("nan GB/s", "25 GB/s").problem, "the number is not finite");
    EXPECT_EQ(read_quantity("1e999 GB/s", "25 GB/s").problem, "the number is out of range");
    EXPECT_EQ(read_quantity("1e308 PB", "1 GB").problem, "the number is out of range");
    EXPECT_EQ(read_quantity("", "1 GB").problem, "no number at its start");
    EXPECT_EQ(read_quantity("5 GB/s/s", "25 GB/s").problem.substr(0, 12), "unknown unit");
    EXPECT_EQ(read_quantity("5", "25 GB/s").problem, "is a plain number");
}

}  // namespace
}  // namespace windtunnel::input
