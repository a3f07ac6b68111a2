#pragma once
/// Costs of the pipeline ranks of one layout, summed from the unit costs of their chunks.
/// Model:   a stage costs the sum of its chunks: layers by kind, embedding, head, MTP modules; exchange of gradients
/// apart.
#include <optional>
#include <vector>

#include "windtunnel/train/documents.hpp"
#include "windtunnel/train/exchange.hpp"
#include "windtunnel/train/pipeline_run.hpp"
#include "windtunnel/train/rules.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

struct StageCosts {
    std::vector<ChunkTimes> chunks;     ///< by stage in pipeline order, see Pipeline::stage_of()
    std::vector<Seconds> links;         ///< by rank
    std::vector<HeldParameters> held;   ///< by rank
    std::vector<HidingWindow> windows;  ///< by rank: one micro-batch through all its chunks
    std::vector<Seconds> exchange;      ///< exposed, by rank
    std::vector<Seconds> optimizer;     ///< by rank
    PairRates rates;
    std::optional<Packed> packed;  ///< where documents vary
    [[nodiscard]] PipelineTimes times() const noexcept {
        return {chunks, links, rates, packed ? std::span<const double>{packed->load} : std::span<const double>{}};
    }
    /// Sum of the loads of a range of micro-batches: their number where documents do not vary.
    [[nodiscard]] double load_of(std::int64_t first, std::int64_t last) const noexcept;
};

/// With pairs of forward and backward where the plan wants them and the schedule and the model have a use for them.
[[nodiscard]] Pipeline pipeline_of(const Job& job, const model::Layout& layout) noexcept;

/// Layers of a chunk that are recomputed and those that are not.
struct LayerSplit {
    double dense = 0.0, moe = 0.0, kept_dense = 0.0, kept_moe = 0.0;
};
[[nodiscard]] LayerSplit layer_split(const ChunkLoad& load, const UnitCosts& costs) noexcept;

/// Replaces the contents of `stages`, keeps its memory. Expects broken_rule() to pass.
void stage_costs(const Job& job, const model::Layout& layout, const UnitCosts& costs, StageCosts& stages);

/// Parts of forward and backward of one chunk, one micro-batch.
[[nodiscard]] PartTimes chunk_forward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept;
[[nodiscard]] PartTimes chunk_backward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept;
/// The two halves of backward: gradient of the inputs and gradient of the weights.
[[nodiscard]] PartTimes chunk_backward_input_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept;
[[nodiscard]] PartTimes chunk_backward_weight_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept;

}  // namespace windtunnel::train
