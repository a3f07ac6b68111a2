#include "windtunnel/model/hardware.hpp"

#include <gtest/gtest.h>

namespace windtunnel::model {
namespace {

Accelerator with_peaks(double bf16, double fp8) {
    Accelerator card;
    card.matrix_peak[static_cast<std::size_t>(Precision::bf16)] = FlopsPerSecond{bf16};
    card.matrix_peak[static_cast<std::size_t>(Precision::fp8)] = FlopsPerSecond{fp8};
    return card;
}

TEST(Accelerator, RunsBlockScaledEightBitOnTheEightBitUnit) {
    EXPECT_EQ(with_peaks(989e12, 1979e12).peak(Precision::mxfp8).value(), 1979e12);
}

TEST(Accelerator, SharesOneUnitBetweenTheSixteenBitFormats) {
    EXPECT_EQ(with_peaks(312e12, 0.0).peak(Precision::fp16).value(), 312e12);
}

TEST(Accelerator, HasNoPeakForAFormatThatItLacks) {
    EXPECT_EQ(with_peaks(312e12, 0.0).peak(Precision::fp8).value(), 0.0);
    EXPECT_EQ(with_peaks(989e12, 1979e12).peak(Precision::nvfp4).value(), 0.0);
}

}  // namespace
}  // namespace windtunnel::model
