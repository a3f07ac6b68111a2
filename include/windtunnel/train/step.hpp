#pragma once
/// Time of one training step: by the schedule executor, and by the closed form that is its twin.
/// Model:   the schedule executor over one compute stream per pipeline rank, with transfers between ranks as delays.
#include <string>
#include <utility>
#include <vector>

#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/stage_costs.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

/// Closed form, the twin of step_time(): the longest of a few paths through the schedule (the busiest stage with the
/// way to it and back; round trips that wait for transfers), plus what happens once a step.
///
/// Limits:  exact for equal stages with GPipe and 1F1B, and for interleaved 1F1B while a transfer takes less than half
/// of a
///          chunk's forward and backward; never above the executor for GPipe and 1F1B; unequal stages: see the unit
///          test. Split backward, B/F of 0.9 to 1.4 and W/F of 0.7 to 1: within 7 %, v_half and v_min within 10 %.
[[nodiscard]] Seconds closed_form_step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs);

/// Executor: the schedule as a task graph on the streams of every pipeline rank.
struct StepResult {
    Seconds step_time;
    PartTimes parts;                   ///< of the stage that ends last; sums to step_time (rounding)
    int last_stage = 0;                ///< that stage
    double bubble_fraction = 0;        ///< idle share of the pipeline phase, mean over stages
    Flops model_flops;                 ///< of the whole job and step; causal attention counted once (half)
    Flops model_flops_full_attention;  ///< the same with full attention
    Flops hardware_flops;              ///< with recompute
    double mfu = 0, hfu = 0;           ///< of `peak_used`, causal attention
    double mfu_full_attention = 0;
    FlopsPerSecond peak_used;      ///< per card
    double tokens_per_second = 0;  ///< of the job
    model::Evidence evidence = model::Evidence::assumed;
    bool outside_fitted_range = false;
    double relative_error_90 = 0;        ///< half-width of the 90 % interval, 0: unknown
    double fill = 1.0;                   ///< tokens of documents over the room in the micro-batches
    double micro_batch_imbalance = 1.0;  ///< work of the heaviest micro-batch over the mean
};
[[nodiscard]] StepResult step_result(const Job& job, const model::Layout& layout, const UnitCosts& costs);
/// Only the time, the same number: for searches.
[[nodiscard]] Seconds step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs);
/// The same with memory that a search keeps between its designs.
struct StepWorkspace {
    StageCosts stages;
    PipelineRunner runner;
    HeldChunksTable held_chunks;
};
[[nodiscard]] Seconds step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs,
                                StepWorkspace& workspace);
[[nodiscard]] Seconds closed_form_step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs,
                                            StepWorkspace& workspace);
/// The pipeline phase of the closed form.
[[nodiscard]] Seconds closed_form_pipeline_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept;

/// One task as it ran, for a timeline.
struct TimelineEvent {
    int stage = 0;
    std::string stream;  ///< compute, p2p forward and backward, dp (exchange and what follows it)
    std::string name;    ///< "F mb 3 chunk 0"
    Seconds start, duration;
    std::vector<std::pair<Part, Seconds>> parts;  ///< nested sub-events, in order; they sum to duration
};
[[nodiscard]] std::vector<TimelineEvent> step_timeline(const Job& job, const model::Layout& layout,
                                                       const UnitCosts& costs);

/// Bytes of a card of a stage from `at` on: states, buffers and reserve all along, activations from the start of a
/// forward to the end of its backward (of the gradient of the weights, where that runs apart).
struct MemorySample {
    int stage = 0;
    Seconds at;
    Bytes held;
};
[[nodiscard]] std::vector<MemorySample> memory_timeline(const Job& job, const model::Layout& layout,
                                                        const UnitCosts& costs);

/// Model FLOPs per token (forward + backward), by convention.
struct FlopsPerToken {
    double weights = 0;           ///< 6 x matmul weights (output head in, input embedding out; top_k experts)
    double attention_causal = 0;  ///< 6 x layers x heads x (qk_dim + v_dim)/2 x sequence: counted once
    double attention_full = 0;    ///< twice that
};
[[nodiscard]] FlopsPerToken flops_per_token(const model::Transformer& transformer, int sequence_length);

}  // namespace windtunnel::train
