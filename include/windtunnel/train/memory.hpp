#pragma once
/// Memory of a card by pipeline stage and component, and the verdict.
#include <vector>

#include "windtunnel/model/verdict.hpp"
#include "windtunnel/train/exchange.hpp"
#include "windtunnel/train/rules.hpp"
#include "windtunnel/train/split_backward.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

struct ModelStates {
    Bytes weights, gradients, optimizer;
    [[nodiscard]] Bytes total() const noexcept { return weights + gradients + optimizer; }
};

/// Weights, gradients and Adam states only: activations, buffers and context are left out.
///
/// Model:   12 bytes of Adam states a parameter (32-bit copy, two moments), shared out from ZeRO level 1 on; gradients
/// from level
///          2 on, where the 16-bit gradients stay whole until they are reduced; weights at level 3.
/// Inputs:  ranks, expert_ranks >= 1; level 0 to 3; bytes of a weight and of a gradient.
/// Returns: bytes of one card, >= 0. Limits: no offload to the host.
/// Source:  Rajbhandari et al., ZeRO, 2020; DeepSpeed's estimator prints 4 N + 16 N/n for level 2.
[[nodiscard]] ModelStates model_states(const HeldParameters& held, double ranks, double expert_ranks, int level,
                                       double weight_bytes, double gradient_bytes) noexcept;

/// What a card of the stage holds at its fullest moment.
///
/// Model:   weights 16 bit (and a narrow copy for products of 8 bit or less); gradients in gradient_precision; Adam
/// states 12
///          bytes a parameter (32-bit copy and two moments). ZeRO 1 shares out the states over dp x cp (experts: edp),
///          ZeRO 2 also the gradient buffer, while 16-bit gradients of the whole stage are held until they are reduced,
///          ZeRO 3 also the weights, while two layers are gathered (with a pipeline: gathered weights and unreduced
///          gradients stay). Activations: blocks of the chunks in flight under the schedule. Buffers: 16-bit results of
///          the two largest weight gradients of a layer and the one of the head, plus what a block needs while it is
///          recomputed and run backward; logits and the layers' part of that are not alive together, so buffers holds
///          what goes beyond the logits. Reserve: runtime context and allocator loss (model/efficiency.hpp).
/// Limits:  the attention core is held in 16 bit, what the activation function reads in activation_precision; no
/// offload to the host. Source:  ZeRO: Rajbhandari et al., 2020, and DeepSpeed's memory estimator; activations:
/// Korthikanti et al., 2022; in-flight
///          counts: Narayanan et al., 2021; transients: fitted to no row, derived from SimuMax's measured B200 table.
struct StageMemory {
    Bytes weights, gradients, optimizer, activations, logits, buffers, reserve;
    [[nodiscard]] Bytes states() const noexcept { return weights + gradients + optimizer; }
    /// What an allocator reports as its peak: without context and loss.
    [[nodiscard]] Bytes allocated() const noexcept { return states() + activations + logits + buffers; }
    /// What the device reports as used.
    [[nodiscard]] Bytes total() const noexcept { return allocated() + reserve; }
};

/// Kept from forward to backward by one micro-batch in one chunk.
[[nodiscard]] Bytes chunk_activations(const ChunkLoad& load, const UnitCosts& costs) noexcept;

/// Per pipeline rank, all the stages that it holds (dualpipe: of both directions). Activations by the schedule's depth:
/// the number of micro-batches that a chunk holds at once.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Job& job, const model::Layout& layout,
                                                    const UnitCosts& costs);

/// The fullest rank only, without building the vector: for the inner loop of a search. Equal to the maximum of
/// stage_memory() to the last bit.
struct FullestStage {
    int stage = 0;
    Bytes total;
};
[[nodiscard]] FullestStage fullest_stage(const Job& job, const model::Layout& layout, const UnitCosts& costs);
/// The same with counts that a search keeps between its designs.
[[nodiscard]] FullestStage fullest_stage(const Job& job, const model::Layout& layout, const UnitCosts& costs,
                                         HeldChunksTable& table);

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
