#include "windtunnel/compute/tiles.hpp"

#include <gtest/gtest.h>

#include <array>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/compute/host_launch.hpp"
#include "windtunnel/compute/tile_pipeline.hpp"

namespace windtunnel::compute {
namespace {

constexpr double us = 1e-6;

/// Ascend 910B class: 24 cube cores at 1.8 GHz, on-chip sizes as published with its toolkit.
model::OnChip die() {
    model::OnChip chip;
    chip.cores = 24;
    chip.vector_cores = 48;
    chip.clock = PerSecond{1.8e9};
    chip.flops_per_cycle = 8192;
    chip.l2 = Bytes{201326592};
    chip.l1 = Bytes{524288};
    chip.l0a = chip.l0b = Bytes{65536};
    chip.l0c = Bytes{131072};
    return chip;
}
constexpr BytesPerSecond hbm{1.6 * 1024.0 * 1024.0 * 1024.0 * 1024.0};

// Stages 2, 5, 3 us, 10 tiles: 10 + 9 x 5 = 55 us; one buffer for the whole way: 10 x 10 = 100 us; one slot between
// engines: 10 + 9 x (5 + 3) = 82 us.
TEST(TilePipeline, HidesAllButTheSlowestStage) {
    const std::array<Seconds, 3> stages{Seconds{2 * us}, Seconds{5 * us}, Seconds{3 * us}};
    EXPECT_NEAR(pipeline_time(10, stages, 2).value(), 55 * us, 1e-15);
    EXPECT_NEAR(unbuffered_time(10, stages).value(), 100 * us, 1e-15);
    EXPECT_NEAR(pipeline_time(10, stages, 1).value(), 82 * us, 1e-15);
    EXPECT_EQ(pipeline_time(0, stages, 2).value(), 0.0);
}

TEST(TilePipeline, EqualsTheSimulationTileByTile) {
    base::Draws random{{3, 1, 0}};
    for (int trial = 0; trial < 200; ++trial) {
        const auto k = static_cast<std::size_t>(1 + random.bits() % 4);
        const int n = static_cast<int>(1 + random.bits() % 12), slots = static_cast<int>(1 + random.bits() % 3);
        std::vector<Seconds> stages, times;
        for (std::size_t i = 0; i < k; ++i) stages.push_back(Seconds{random.uniform() * us});
        for (int tile = 0; tile < n; ++tile) times.insert(times.end(), stages.begin(), stages.end());
        const std::vector<int> between(k - 1, slots);
        EXPECT_NEAR(simulated_pipeline_time(n, k, times, between, 0).value(), pipeline_time(n, stages, slots).value(),
                    1e-17);
        EXPECT_NEAR(simulated_pipeline_time(n, k, times, between, 1).value(), unbuffered_time(n, stages).value(),
                    1e-17);
    }
}

// 128 x 256 x 2 B = 64 KiB fill L0A exactly; one column more, or two buffers, overflow.
TEST(Tile, MustFitIntoItsBuffers) {
    EXPECT_EQ(tile_problem({128, 128, 256}, die(), 2.0, 1), "");
    EXPECT_EQ(tile_problem({128, 128, 257}, die(), 2.0, 1).substr(0, 3), "L0A");
    EXPECT_EQ(tile_problem({128, 128, 256}, die(), 2.0, 2).substr(0, 3), "L0A");
    EXPECT_EQ(tile_problem({64, 512, 64}, die(), 2.0, 1), "");  // 64 x 512 sums: 128 KiB of L0C
    EXPECT_EQ(tile_problem({128, 512, 32}, die(), 2.0, 1).substr(0, 3), "L0C");
    EXPECT_EQ(tile_problem({128, 256, 64}, die(), 2.0, 2), "");  // 32 KiB and 64 KiB, two buffers each
    EXPECT_EQ(tile_problem({0, 1, 1}, die(), 2.0, 1), "a tile has no extent");
}

TEST(Waves, OfTwentyFiveTilesOnTwentyFourCoresAreTwo) {
    EXPECT_EQ(waves_of(25, 24).waves, 2.0);
    EXPECT_NEAR(waves_of(25, 24).efficiency, 0.5208, 1e-4);
    EXPECT_EQ(waves_of(24, 24).efficiency, 1.0);
    EXPECT_EQ(waves_of(0, 24).waves, 0.0);
}

// 24 x 8192 x 1.8 GHz = 353.9 TFLOP/s; 353.9e12 / (1.6 x 2^40) = 201 FLOP/B; 2 x 4096^3 / 353.9e12 = 0.388 ms.
TEST(Ridge, PointAndPeakOfA910B) {
    const double peak = 24 * 8192 * 1.8e9;
    EXPECT_NEAR(peak, 353.9e12, 0.05e12);
    EXPECT_NEAR(ridge_point(FlopsPerSecond{353.9e12}, hbm), 201.0, 0.5);
    const Gemm cube{4096, 4096, 4096};
    EXPECT_NEAR(cube.flops().value() / 353.9e12, 0.388e-3, 0.0005e-3);
}

// 4096^3 in tiles of 128 x 256: 512 tiles on 24 cores, 22 waves of 21.33: 0.388 ms x 22 / 21.33 = 0.4005 ms.
TEST(TiledGemm, PaysForItsLastWave) {
    const TiledTime time = tiled_gemm_time({4096, 4096, 4096}, {128, 256, 64}, die(), hbm, 2.0, Seconds{5 * us});
    EXPECT_NEAR(time.compute.value(), 2.0 * 4096 * 4096 * 4096 / (24 * 8192 * 1.8e9) * 22 / (512.0 / 24), 1e-9);
    EXPECT_NEAR(time.wave_efficiency, 512.0 / (22 * 24), 1e-12);
    EXPECT_NEAR(time.memory.value(), 3 * 4096.0 * 4096.0 * 2.0 / hbm.value(), 1e-12);
    EXPECT_GT(time.total(), time.compute + Seconds{5 * us});
}

// A row of 1 x 7168 x 7168: padded to 128 rows of work, but bound by the weights: 102.8 MB / 1.759 TB/s = 58.4 us.
TEST(TiledGemm, OfOneRowIsBoundByMemory) {
    const TiledTime time = tiled_gemm_time({1, 7168, 7168}, {16, 256, 128}, die(), hbm, 2.0, Seconds{0.0});
    EXPECT_NEAR(time.memory.value(), 58.4 * us, 0.1 * us);
    EXPECT_GT(time.memory, time.compute);
}

TEST(TiledGemm, ReadsAgainWhatL2DoesNotHold) {
    model::OnChip small = die();
    small.l2 = Bytes{1e6};
    const Gemm product{8192, 8192, 8192};
    EXPECT_GT(tiled_gemm_time(product, {128, 256, 64}, small, hbm, 2.0, Seconds{0.0}).memory.value(),
              2.0 * 3 * 8192.0 * 8192.0 * 2.0 / hbm.value());
    // With an L2 bandwidth, what the tiles read counts: 64 x 32 tiles x 384 x 8192 x 2 B = 12.9 GB at 4 TB/s: 3.22 ms.
    small.l2_bandwidth = BytesPerSecond{4e12};
    EXPECT_NEAR(tiled_gemm_time(product, {128, 256, 64}, small, hbm, 2.0, Seconds{0.0}).cache.value(), 3.221e-3, 1e-6);
}

// The closed form and the stream of steps agree within the fill of the pipeline and the burst of the last results.
TEST(TiledGemm, AgreesWithTheStreamOfTiles) {
    for (const Gemm product :
         {Gemm{4096, 4096, 4096}, Gemm{64, 7168, 2048}, Gemm{1000, 3000, 500}, Gemm{8192, 1024, 8192}}) {
        const TiledTime closed = tiled_gemm_time(product, {128, 256, 64}, die(), hbm, 2.0, Seconds{0.0});
        const Seconds stream = simulated_gemm_time(product, {128, 256, 64}, die(), hbm, 2.0, Seconds{0.0});
        EXPECT_GE(stream.value(), 0.7 * std::max(closed.compute, closed.memory).value());
        EXPECT_NEAR(stream.value(), closed.total().value(), 0.3 * closed.total().value()) << product.m;
    }
}

// A card with a described chip: 4096^3 at a plateau of 0.8 in the best tiles: 64 x 256 leaves 1024 tiles = 43 waves of
// half the work: 0.388 ms x 43 x 24 / 1024 / 0.8 = 0.489 ms, and what fills the pipeline.
TEST(TiledProduct, IsWhatACardWithADescribedChipTakes) {
    Card card;
    card.matrix_peak = card.wide_peak = FlopsPerSecond{353.9e12};
    card.memory_bandwidth = hbm;
    card.gemm = 0.8;
    const Gemm product{4096, 4096, 4096};
    const Seconds curve = gemm_time(product, card);
    card.chip = die();
    EXPECT_EQ(gemm_time(product, card), curve);  // described, but not asked for
    card.chip.tiles = true;
    EXPECT_NEAR(gemm_time(product, card).value(), 0.3883e-3 * 43 * 24 / 1024 / 0.8, 0.01e-3);
    // 25 experts on 24 cores, bound by compute: the best tiles, 16 x 256, are 200 in 9 waves where 192 are 8: 1.125.
    card.memory_bandwidth = BytesPerSecond{1e15};
    const Seconds one_wave = grouped_gemm_time(24, {128, 256, 4096}, card);
    EXPECT_GT(grouped_gemm_time(25, {128, 256, 4096}, card).value(), 1.1 * one_wave.value());
}

// 1e9 elements x 4 operations at 22 TFLOP/s: 0.18 ms; 4 GB at 1.759 TB/s: 2.27 ms.
TEST(VectorTime, IsTheLargerOfWorkAndTraffic) {
    EXPECT_NEAR(vector_time(1e9, 4, Bytes{4e9}, FlopsPerSecond{22e12}, hbm).value(), 4e9 / hbm.value(), 1e-12);
    EXPECT_NEAR(vector_time(1e9, 400, Bytes{4e9}, FlopsPerSecond{22e12}, hbm).value(), 400e9 / 22e12, 1e-12);
    EXPECT_NEAR(vector_time(1e9, 400, Bytes{4e9}, FlopsPerSecond{0.0}, hbm).value(), 4e9 / hbm.value(), 1e-12);
}

// 1000 kernels, 10 us to issue, 6 us to run: 16 ms; max(10.006, 6.010) ms; 0.6 + 6 = 6.6 ms.
TEST(HostLaunch, BoundsShortKernels) {
    const KernelStream stream{1000, Seconds{10 * us}, Seconds{6 * us}};
    EXPECT_NEAR(serial_time(stream).value(), 16e-3, 1e-12);
    EXPECT_NEAR(pipelined_time(stream).value(), 10.006e-3, 1e-12);
    EXPECT_NEAR(graph_time(stream, Seconds{0.6e-3}).value(), 6.6e-3, 1e-12);
    EXPECT_EQ(pipelined_time(KernelStream{}).value(), 0.0);
}

// A compile of 34 s saves 10.006 - 6.6 = 3.406 ms a step: 34 / 0.003406 = 9982.4, so 9,983 steps.
TEST(HostLaunch, CompilingPaysAfterItsBreakEven) {
    EXPECT_EQ(break_even_steps(Seconds{34.0}, Seconds{10.006e-3}, Seconds{6.6e-3}), 9983);
    EXPECT_FALSE(break_even_steps(Seconds{1.0}, Seconds{6e-3}, Seconds{6e-3}));
}

// The slow twin walks kernel by kernel.
TEST(HostLaunch, OfUnlikeKernelsEqualsTheWalkKernelByKernel) {
    base::Draws random{{5, 1, 0}};
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<KernelStream> streams;
        Seconds host{0.0}, device{0.0};
        for (int i = 0; i < 6; ++i) {
            streams.push_back(
                {static_cast<std::int64_t>(random.bits() % 5), Seconds{random.uniform()}, Seconds{random.uniform()}});
            for (std::int64_t j = 0; j < streams.back().num_kernels; ++j) {
                host += streams.back().launch;
                device = std::max(device, host) + streams.back().run;
            }
        }
        EXPECT_NEAR(pipelined_time(streams).value(), device.value(), 1e-12);
    }
}

}  // namespace
}  // namespace windtunnel::compute
