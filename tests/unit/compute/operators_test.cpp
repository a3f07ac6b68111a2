#include <gtest/gtest.h>

#include "windtunnel/compute/attention.hpp"
#include "windtunnel/compute/gemm.hpp"

namespace windtunnel::compute {
namespace {

/// Ascend 910B with nothing lost: 353.9 TFLOP/s, 1.6 TiB/s.
Card ideal() {
    Card card;
    card.matrix_peak = card.wide_peak = FlopsPerSecond{353.9e12};
    card.memory_bandwidth = BytesPerSecond{1.6 * base::tib};
    return card;
}

// 2 x 4096^3 / 353.9e12 = 0.3884 ms.
TEST(GemmTime, OfALargeSquareIsComputeBound) {
    EXPECT_NEAR(gemm_time({4096, 4096, 4096}, ideal()).value(), 0.3884e-3, 1e-7);
}

// Ridge: 353.9e12 / (1.6 x 2^40) = 201 FLOP/byte. One row: 2 x 4096^2 FLOP on 2 x 4096^2 + 16 KiB bytes: memory bound.
TEST(GemmTime, OfOneRowIsMemoryBound) {
    const double ridge = 353.9e12 / (1.6 * base::tib);
    EXPECT_NEAR(ridge, 201.0, 0.5);
    const double bytes = 2.0 * 4096 * 4096 + 4.0 * 4096;
    EXPECT_NEAR(gemm_time({1, 4096, 4096}, ideal()).value(), bytes / (1.6 * base::tib), 1e-12);
}

// At k = half size half of the plateau is left: 0.8 x 1/2 x mn/(mn + s^2) = 0.8 x 0.5 x 16/17 for m = n = 4 s.
TEST(GemmEfficiency, LosesHalfOfThePlateauAtTheHalfSize) {
    Card card = ideal();
    card.gemm = 0.8;
    card.half_size = 128.0;
    EXPECT_NEAR(gemm_efficiency({512, 512, 128}, card), 0.8 * 0.5 * 16.0 / 17.0, 1e-12);
}

TEST(GemmEfficiency, GrowsWithEachDimension) {
    Card card = ideal();
    card.half_size = 200.0;
    const double base = gemm_efficiency({512, 512, 512}, card);
    EXPECT_GT(gemm_efficiency({1024, 512, 512}, card), base);
    EXPECT_GT(gemm_efficiency({512, 1024, 512}, card), base);
    EXPECT_GT(gemm_efficiency({512, 512, 1024}, card), base);
}

TEST(GemmTime, OfAnEmptyProductIsZero) {
    EXPECT_EQ(gemm_time({0, 4096, 4096}, ideal()).value(), 0.0);
}

// Eight experts with one row each read all their weights: as long as 8 products of one row, far from one product of 8
// rows.
TEST(GroupedGemmTime, ReadsTheWeightsOfEveryGroup) {
    const Seconds grouped = grouped_gemm_time(8.0, {1, 4096, 4096}, ideal());
    EXPECT_NEAR(grouped.value(), 8.0 * gemm_time({1, 4096, 4096}, ideal()).value(), 1e-12);
    EXPECT_GT(grouped.value(), 7.9 * gemm_time({8, 4096, 4096}, ideal()).value());
}

TEST(GroupedGemmTime, PaysTheGroupedFactorWhenComputeBound) {
    Card card = ideal();
    card.grouped = 0.5;
    EXPECT_NEAR(grouped_gemm_time(4.0, {4096, 4096, 4096}, card) / gemm_time({16384, 4096, 4096}, ideal()), 2.0, 1e-9);
}

// s = 4096, 32 heads of 128: pairs 4096^2/2, 2 x pairs x 32 x 256 = 1.374e11 FLOP.
TEST(AttentionFlops, CountTheCausalHalf) {
    EXPECT_DOUBLE_EQ(attention_flops({1, 4096, 1, 32, 128, 128}).value(), 2.0 * 4096 * 4096 / 2 * 32 * 256);
    EXPECT_DOUBLE_EQ(attention_flops({2, 4096, 0.5, 32, 128, 128}).value(), 2.0 * 4096 * 4096 / 2 * 32 * 256);
}

// Window 1000 of 4000: 4000 x 1000 - 500,000 = 3.5e6 pairs; a window as long as the sequence is no window.
TEST(CausalPairs, OfASlidingWindow) {
    EXPECT_DOUBLE_EQ(causal_pairs(4000, 1000), 3.5e6);
    EXPECT_DOUBLE_EQ(causal_pairs(4000, 4000), 8e6);
    EXPECT_DOUBLE_EQ(causal_pairs(4000, 0), 8e6);
}

TEST(FlashAttentionTime, IsCausalWorkOverTheFractionOfPeak) {
    Card card = ideal();
    card.attention = 0.5;
    const AttentionShape shape{1, 4096, 1, 32, 128, 128};
    EXPECT_DOUBLE_EQ(flash_attention_time(shape, card).value(), attention_flops(shape).value() / (0.5 * 353.9e12));
}

// Head size 64: 64/96 x 160/128 = 0.833 of the speed of 128.
TEST(FlashAttentionTime, IsSlowerForNarrowHeads) {
    const Seconds wide = flash_attention_time({1, 4096, 1, 32, 128, 128}, ideal());
    const Seconds narrow = flash_attention_time({1, 4096, 1, 64, 64, 64}, ideal());
    EXPECT_NEAR(narrow / wide, 1.2, 1e-12);
}

// Full square and 11 bytes a score: 32 x 4096^2 scores.
TEST(UnfusedAttentionTime, PaysForTheWholeSquareAndItsBytes) {
    const AttentionShape shape{1, 4096, 1, 32, 128, 128};
    const double scores = 32.0 * 4096 * 4096;
    EXPECT_NEAR(unfused_attention_time(shape, ideal()).value(),
                2.0 * scores * 256 / 353.9e12 + 11.0 * scores / (1.6 * base::tib), 1e-12);
}

TEST(CardOf, DoublesTheHalfSizeForProductsThatAreTwiceAsFast) {
    model::Accelerator accelerator;
    accelerator.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{1000e12};
    accelerator.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{2000e12};
    model::Efficiency efficiency;
    efficiency.gemm_half_size = 150.0;
    const Card narrow = card_of(accelerator, efficiency, model::Precision::fp8);
    EXPECT_DOUBLE_EQ(narrow.half_size, 300.0);
    EXPECT_DOUBLE_EQ(narrow.element_bytes, 1.0);
    EXPECT_DOUBLE_EQ(in_16_bit(narrow).half_size, 150.0);
    EXPECT_DOUBLE_EQ(in_16_bit(narrow).matrix_peak.value(), 1000e12);
}

}  // namespace
}  // namespace windtunnel::compute
