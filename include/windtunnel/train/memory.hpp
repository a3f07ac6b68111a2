#pragma once
/// Memory of a card by pipeline stage and component, and the verdict.
#include <vector>

#include "windtunnel/model/verdict.hpp"
#include "windtunnel/train/rules.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

struct StageMemory {
    Bytes weights, gradients, optimizer, activations, logits, buffers, reserve;
    [[nodiscard]] Bytes total() const noexcept;
};

/// Per pipeline rank. Activations by the schedule's depth: the number of micro-batches that a chunk holds at once.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Job& job, const model::Layout& layout, const UnitCosts& costs);

/// The fullest stage only, without building the vector: for the inner loop of a search. Equal to the maximum of
/// stage_memory() to the last bit.
struct FullestStage {
    int stage = 0;
    Bytes total;
};
[[nodiscard]] FullestStage fullest_stage(const Job& job, const model::Layout& layout, const UnitCosts& costs);

/// Memory that a job may use: capacity x (1 - reserve fraction).
[[nodiscard]] Bytes usable_memory(const Job& job) noexcept;

/// `fits`, or out_of_memory with stage and missing bytes.
[[nodiscard]] model::Verdict memory_verdict(const Job& job, const model::Layout& layout, const UnitCosts& costs);

/// Smallest number of cards (same tp, pp, cp, ep, micro-batch; dp varied, batch kept where it divides, else the nearest
/// multiple) that fits; 0: none up to the cluster's size.
[[nodiscard]] int smallest_cards_that_fit(const Job& job, const model::Layout& layout);

/// Largest micro-batch that fits and divides the batch; 0: none.
[[nodiscard]] int largest_micro_batch_that_fits(const Job& job, const model::Layout& layout);

}  // namespace windtunnel::train
