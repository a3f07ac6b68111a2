#pragma once
/// Matrix products in tiles on cores with on-chip buffers.
#include <string>

#include "windtunnel/compute/gemm.hpp"
#include "windtunnel/model/on_chip.hpp"

namespace windtunnel::compute {

/// Rows, columns and inner dimension of what a core multiplies at once.
struct TileShape {
    int m = 128, n = 256, k = 64;
};

/// Empty, or which buffer the tile does not fit into.
///
/// Model:   m x k of A in L0A, k x n of B in L0B, m x n sums in fp32 in L0C; `buffers` of A and B side by side, there
///          and in L1 (1: single, 2: double buffer).
/// Source:  Ascend 910B-class cores (on-chip sizes in inputs/accelerators).
[[nodiscard]] std::string tile_problem(const TileShape& tile, const model::OnChip& chip, double element_bytes,
                                       int buffers);

/// How tiles fill cores.
struct Waves {
    double tiles = 0.0, waves = 0.0;
    double efficiency = 1.0;  ///< tiles / (waves x cores)
};
/// Model:   waves = ceil(tiles / cores). Source: 25 tiles on 24 cores are 2 waves, 52.1 %.
[[nodiscard]] Waves waves_of(double tiles, int cores) noexcept;

/// Parts of a tiled product; the time is the largest of the three and what fills and drains the pipeline.
struct TiledTime {
    Seconds compute, memory, cache;
    Seconds fill;  ///< first move in and load, last move out
    Seconds overhead;
    double wave_efficiency = 1.0;
    [[nodiscard]] Seconds total() const noexcept;
};

/// Model:   compute = waves x tiles of padded 16-cubes, a cube a cycle; k in steps of the tile. memory: each matrix
/// once
///          where the product's working set fits into L2, else what each wave of tiles needs anew; cache: what all
///          tiles read, over the L2 bandwidth (no bound where it is not known). Overhead once.
/// Inputs:  dimensions >= 1, a tile that fits, chip.cores >= 1, chip.clock > 0.
/// Returns: parts, each >= 0.
/// Limits:  no split along k; one product at a time on all cores.
/// Source:  cube of 16^3 multiply-adds a cycle and core: 24 x 8192 x 1.8 GHz = 353.9 TFLOP/s (msmodeling profile).
[[nodiscard]] TiledTime tiled_gemm_time(const Gemm& gemm, const TileShape& tile, const model::OnChip& chip,
                                        BytesPerSecond memory_bandwidth, double element_bytes, Seconds overhead);

/// The same product lowered to a stream of tile steps on the busiest core, through move in, load, compute and move out
/// with two buffers each: the slow twin, tile by tile.
[[nodiscard]] Seconds simulated_gemm_time(const Gemm& gemm, const TileShape& tile, const model::OnChip& chip,
                                          BytesPerSecond memory_bandwidth, double element_bytes, Seconds overhead);

/// A product of a card whose chip is described, in the best of the usual tiles that fit with two buffers.
///
/// Model:   compute at the plateau `gemm` of the card, memory at its share `memory`; groups follow each other, each
/// padded
///          to its own tiles. Inputs: groups >= 1, card.chip with cores and clock. Returns: time without launch, >= 0.
/// Limits:  as above. Source: as above.
[[nodiscard]] Seconds tiled_product_time(double groups, const Gemm& each, const Card& card);

/// Element-wise work: the larger of operations over the vector rate and bytes over the memory bandwidth.
///
/// Model:   roofline. Inputs: counts >= 0; a rate of 0 is not a bound. Returns: time, >= 0. Source: Williams et al.,
/// 2009.
[[nodiscard]] Seconds vector_time(double elements, double operations_each, Bytes bytes, FlopsPerSecond vector_rate,
                                  BytesPerSecond memory_bandwidth) noexcept;

/// Work per byte above which a product is bound by compute: peak over bandwidth.
[[nodiscard]] constexpr double ridge_point(FlopsPerSecond peak, BytesPerSecond bandwidth) noexcept {
    return peak.value() / bandwidth.value();
}

}  // namespace windtunnel::compute
