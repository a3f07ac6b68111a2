#include "windtunnel/compute/tile_pipeline.hpp"

#include <algorithm>
#include <vector>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::compute {

Seconds pipeline_time(int tiles, std::span<const Seconds> stages, int slots) noexcept {
    if (tiles <= 0 || stages.empty()) return Seconds{0.0};
    Seconds sum{0.0}, slowest{0.0};
    for (std::size_t i = 0; i < stages.size(); ++i) {
        sum += stages[i];
        const Seconds with_next = slots == 1 && i + 1 < stages.size() ? stages[i] + stages[i + 1] : stages[i];
        slowest = std::max(slowest, with_next);
    }
    return sum + (tiles - 1) * slowest;
}

Seconds unbuffered_time(int tiles, std::span<const Seconds> stages) noexcept {
    Seconds sum{0.0};
    for (const Seconds stage : stages) sum += stage;
    return std::max(0, tiles) * sum;
}

Seconds simulated_pipeline_time(int tiles, std::size_t stages, std::span<const Seconds> times,
                                std::span<const int> slots, int in_flight) {
    base::expects(times.size() == static_cast<std::size_t>(std::max(0, tiles)) * stages && slots.size() + 1 >= stages,
                  "a time for each tile and stage, slots for each pair of stages");
    std::vector<Seconds> ends(times.size());
    const auto end = [&](int tile, std::size_t stage) { return ends[static_cast<std::size_t>(tile) * stages + stage]; };
    for (int tile = 0; tile < tiles; ++tile)
        for (std::size_t stage = 0; stage < stages; ++stage) {
            Seconds begin{0.0};
            if (stage > 0) begin = end(tile, stage - 1);                  // its data
            if (tile > 0) begin = std::max(begin, end(tile - 1, stage));  // its engine
            if (stage + 1 < stages && tile >= slots[stage])               // a buffer behind it
                begin = std::max(begin, end(tile - slots[stage], stage + 1));
            if (stage == 0 && in_flight > 0 && tile >= in_flight)
                begin = std::max(begin, end(tile - in_flight, stages - 1));
            const std::size_t at = static_cast<std::size_t>(tile) * stages + stage;
            ends[at] = begin + times[at];
        }
    return tiles > 0 && stages > 0 ? ends.back() : Seconds{0.0};
}

}  // namespace windtunnel::compute
