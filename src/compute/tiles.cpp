#include "windtunnel/compute/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/compute/tile_pipeline.hpp"

namespace windtunnel::compute {
namespace {

constexpr double cube = 16.0;  ///< edge of the block that a core multiplies in a cycle
constexpr double result_bytes = 2.0;
constexpr double sum_bytes = 4.0;

double blocks(double length, double step) noexcept {
    return std::ceil(length / step);
}

/// The product in units of tiles.
struct TileGrid {
    double rows, columns, steps, tiles;
    TileGrid(const Gemm& gemm, const TileShape& tile)
        : rows{blocks(gemm.m, tile.m)},
          columns{blocks(gemm.n, tile.n)},
          steps{blocks(gemm.k, tile.k)},
          tiles{rows * columns} {}
};

/// Cycles of one step of one tile: 16-cubes, each edge padded; other widths than 16 bit take their share of a cycle.
Seconds step_time(const TileShape& tile, const model::OnChip& chip, double element_bytes) noexcept {
    const double cubes = blocks(tile.m, cube) * blocks(tile.n, cube) * blocks(tile.k, cube);
    const double per_cycle = chip.flops_per_cycle > 0.0 ? chip.flops_per_cycle / (2.0 * cube * cube * cube) : 1.0;
    return cubes / per_cycle * (element_bytes / 2.0) / chip.clock;
}

/// Bytes from memory: once where all fits into L2; else every wave reads the rows and columns of its tiles.
Bytes memory_traffic(const Gemm& gemm, const TileShape& tile, const TileGrid& grid, const model::OnChip& chip,
                     double element_bytes) noexcept {
    const double inputs = (gemm.m * gemm.k + gemm.k * gemm.n) * element_bytes, result = gemm.m * gemm.n * result_bytes;
    if (!(chip.l2 > Bytes{0.0}) || inputs + result <= chip.l2.value()) return Bytes{inputs + result};
    const double high = std::min(grid.rows, std::max(1.0, std::floor(std::sqrt(static_cast<double>(chip.cores)))));
    const double wide = std::min(grid.columns, std::ceil(chip.cores / high));
    const double waves = std::ceil(grid.tiles / chip.cores);
    const double anew = waves * (high * tile.m + wide * tile.n) * gemm.k * element_bytes;
    return Bytes{std::max(inputs, anew) + result};
}

}  // namespace

std::string tile_problem(const TileShape& tile, const model::OnChip& chip, double element_bytes, int buffers) {
    const auto over = [](const char* name, double needed, Bytes there) {
        return there > Bytes{0.0} && needed > there.value()
                   ? fmt::format("{} holds {} bytes, the tile needs {}", name, there.value(), needed)
                   : std::string{};
    };
    const double a = static_cast<double>(tile.m) * tile.k * element_bytes * buffers;
    const double b = static_cast<double>(tile.k) * tile.n * element_bytes * buffers;
    const double c = static_cast<double>(tile.m) * tile.n * sum_bytes;
    if (tile.m < 1 || tile.n < 1 || tile.k < 1) return "a tile has no extent";
    for (const std::string& problem :
         {over("L0A", a, chip.l0a), over("L0B", b, chip.l0b), over("L0C", c, chip.l0c), over("L1", a + b, chip.l1)})
        if (!problem.empty()) return problem;
    return {};
}

Waves waves_of(double tiles, int cores) noexcept {
    if (!(tiles > 0.0) || cores < 1) return {};
    const double waves = std::ceil(tiles / cores);
    return {tiles, waves, tiles / (waves * cores)};
}

Seconds TiledTime::total() const noexcept {
    return std::max({compute, memory, cache}) + fill + overhead;
}

TiledTime tiled_gemm_time(const Gemm& gemm, const TileShape& tile, const model::OnChip& chip,
                          BytesPerSecond memory_bandwidth, double element_bytes, Seconds overhead) {
    base::expects(chip.cores >= 1 && chip.clock > PerSecond{0.0}, "a chip with cores and a clock");
    TiledTime time;
    if (!(gemm.m > 0.0 && gemm.n > 0.0 && gemm.k > 0.0)) return time;
    const TileGrid grid{gemm, tile};
    const Waves waves = waves_of(grid.tiles, chip.cores);
    time.wave_efficiency = waves.efficiency;
    time.compute = waves.waves * grid.steps * step_time(tile, chip, element_bytes);
    time.memory = memory_traffic(gemm, tile, grid, chip, element_bytes) / memory_bandwidth;
    if (chip.l2_bandwidth > BytesPerSecond{0.0})
        time.cache =
            Bytes{grid.tiles * (static_cast<double>(tile.m) + tile.n) * gemm.k * element_bytes} / chip.l2_bandwidth;
    const double busy = std::min(grid.tiles, static_cast<double>(chip.cores));
    const Bytes first{(static_cast<double>(tile.m) + tile.n) * tile.k * element_bytes * busy};
    const Bytes last{static_cast<double>(tile.m) * tile.n * result_bytes * busy};
    time.fill = (first + last) / memory_bandwidth;
    time.overhead = overhead;
    return time;
}

Seconds simulated_gemm_time(const Gemm& gemm, const TileShape& tile, const model::OnChip& chip,
                            BytesPerSecond memory_bandwidth, double element_bytes, Seconds overhead) {
    base::expects(chip.cores >= 1 && chip.clock > PerSecond{0.0}, "a chip with cores and a clock");
    if (!(gemm.m > 0.0 && gemm.n > 0.0 && gemm.k > 0.0)) return Seconds{0.0};
    const TileGrid grid{gemm, tile};
    const Waves waves = waves_of(grid.tiles, chip.cores);
    const double all_steps = waves.waves * grid.steps;
    base::expects(all_steps <= 4e6, "a product of at most four million steps a core");
    // Every core draws an equal part of the traffic, in equal parts with each step; results leave with the last step.
    const double busy = std::min(grid.tiles, static_cast<double>(chip.cores));
    const Bytes result{gemm.m * gemm.n * result_bytes};
    const Bytes inputs = memory_traffic(gemm, tile, grid, chip, element_bytes) - result;
    const Seconds in = inputs / all_steps / memory_bandwidth;
    const Seconds out = result / waves.waves / memory_bandwidth;
    const Bytes loaded{(static_cast<double>(tile.m) + tile.n) * tile.k * element_bytes};
    Seconds load{0.0};
    if (chip.load_bandwidth > BytesPerSecond{0.0}) load = loaded / chip.load_bandwidth;
    if (chip.l2_bandwidth > BytesPerSecond{0.0}) load = std::max(load, loaded * busy / chip.l2_bandwidth);
    const Seconds compute = step_time(tile, chip, element_bytes);
    const auto steps = static_cast<int>(all_steps);
    const auto per_tile = static_cast<int>(grid.steps);
    std::vector<Seconds> times;
    times.reserve(static_cast<std::size_t>(steps) * 4);
    for (int step = 0; step < steps; ++step)
        times.insert(times.end(), {in, load, compute, (step + 1) % per_tile == 0 ? out : Seconds{0.0}});
    const std::array<int, 3> slots{2, 2, 2};
    return simulated_pipeline_time(steps, 4, times, slots, 0) + overhead;
}

Seconds tiled_product_time(double groups, const Gemm& each, const Card& card) {
    constexpr std::array<TileShape, 6> usual{TileShape{128, 256, 64}, {256, 128, 64}, {128, 128, 128},
                                             {64, 256, 64},           {32, 256, 64},  {16, 256, 64}};
    constexpr int buffers = 2;
    std::optional<Seconds> best;
    for (const TileShape& tile : usual) {
        if (!tile_problem(tile, card.chip, card.element_bytes, buffers).empty()) continue;
        TiledTime time = tiled_gemm_time(each, tile, card.chip, card.memory_bandwidth * card.memory, card.element_bytes,
                                         Seconds{0.0});
        // All groups share the cores: tiles of all groups fill the waves together.
        if (groups > 1.0) {
            const TileGrid grid{each, tile};
            const Waves waves = waves_of(groups * grid.tiles, card.chip.cores);
            time.compute = waves.waves * grid.steps * step_time(tile, card.chip, card.element_bytes);
            time.memory *= groups;
            time.cache *= groups;
        }
        time.compute /= card.gemm;
        if (!best || time.total() < *best) best = time.total();
    }
    base::expects(best.has_value(), "a chip that the usual tiles fit into");
    return *best;
}

Seconds vector_time(double elements, double operations_each, Bytes bytes, FlopsPerSecond vector_rate,
                    BytesPerSecond memory_bandwidth) noexcept {
    Seconds time{0.0};
    if (vector_rate > FlopsPerSecond{0.0}) time = Flops{elements * operations_each} / vector_rate;
    if (memory_bandwidth > BytesPerSecond{0.0}) time = std::max(time, bytes / memory_bandwidth);
    return time;
}

}  // namespace windtunnel::compute
