#pragma once
/// How a training job is cut over cards.
#include <cstdint>
#include <string>
#include <vector>

namespace windtunnel::model {

enum class Recompute { none, selective, full };
/// Published orders of forward and backward passes; train/schedule.hpp and train/split_backward.hpp say what each does.
/// From zb_1p on the backward pass is split into the gradient of the inputs and that of the weights.
enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zb_1p, zb_v, v_half, v_min, dualpipe, dualpipe_v };
inline constexpr int num_pipeline_schedules = 9;
[[nodiscard]] constexpr bool splits_backward(PipelineSchedule schedule) noexcept {
    return schedule >= PipelineSchedule::zb_1p;
}
/// Two chunks a rank, chunk 0 on ranks 0 to p - 1 and chunk 1 back from p - 1 to 0: the first and the last stage share
/// a rank.
[[nodiscard]] constexpr bool is_v_shaped(PipelineSchedule schedule) noexcept {
    return splits_backward(schedule) && schedule != PipelineSchedule::zb_1p && schedule != PipelineSchedule::dualpipe;
}
enum class SplitKind { uniform, slots, short_last, explicit_chunks };

/// How layers are dealt to the pp x vpp model chunks.
struct PipelineSplit {
    SplitKind kind = SplitKind::uniform;
    std::vector<int> layers_per_chunk;  ///< explicit_chunks: in chunk order (chunk c of rank r is entry c x pp + r)
    friend bool operator==(const PipelineSplit&, const PipelineSplit&) = default;
};

/// One point of the layout space. Groups: tp x cp x dp x pp = cards, and etp x ep x edp x pp = cards.
struct Layout {
    int cards = 1;
    int tensor_parallel = 1;
    int pipeline_parallel = 1;
    int virtual_pipeline = 1;  ///< model chunks per pipeline rank
    int context_parallel = 1;
    int expert_parallel = 1;
    int expert_tensor_parallel = 1;
    int micro_batch_size = 1;            ///< sequences
    std::int64_t global_batch_size = 1;  ///< sequences
    Recompute recompute = Recompute::none;
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    int optimizer_sharding = 1;     ///< ZeRO level 0 to 3 over dp x cp
    bool sequence_parallel = true;  ///< with tensor parallelism: norms and residuals are split along the sequence
    PipelineSplit split;

    friend bool operator==(const Layout&, const Layout&) = default;

    /// Model-parallel cards of one replica; dp is what is left. Both are meaningful only when divisions come out even.
    [[nodiscard]] std::int64_t model_parallel() const noexcept {
        return std::int64_t{tensor_parallel} * pipeline_parallel * context_parallel;
    }
    [[nodiscard]] int data_parallel() const noexcept { return static_cast<int>(cards / model_parallel()); }
    [[nodiscard]] int expert_data_parallel() const noexcept {
        return static_cast<int>(cards / (std::int64_t{expert_tensor_parallel} * expert_parallel * pipeline_parallel));
    }
    /// Micro-batches of one pipeline and step.
    [[nodiscard]] std::int64_t num_micro_batches() const noexcept {
        return global_batch_size / (std::int64_t{micro_batch_size} * data_parallel());
    }
    /// Micro-batches come in multiples of this: interleaved deals them to groups of ranks, dualpipe to two ends.
    [[nodiscard]] std::int64_t micro_batch_multiple() const noexcept {
        if (schedule == PipelineSchedule::interleaved) return pipeline_parallel;
        return schedule == PipelineSchedule::dualpipe ? 2 : 1;
    }
    /// Fewest micro-batches that fill the pipeline's opening phase.
    [[nodiscard]] std::int64_t least_micro_batches() const noexcept {
        const bool dual = schedule == PipelineSchedule::dualpipe || schedule == PipelineSchedule::dualpipe_v;
        return dual ? std::int64_t{2} * pipeline_parallel : 1;
    }
    /// Copies of each stage that one pipeline holds: dualpipe feeds it from both ends.
    [[nodiscard]] int stage_copies() const noexcept { return schedule == PipelineSchedule::dualpipe ? 2 : 1; }
};

[[nodiscard]] std::string to_text(Recompute value);
[[nodiscard]] std::string to_text(PipelineSchedule value);  ///< "1f1b", "interleaved", "zb_1p", ...
[[nodiscard]] std::string to_text(const PipelineSplit& value);
/// One line: cards 6144 = tp 8 x cp 1 x dp 48 x pp 16, vpp 2, ep 32, ...
[[nodiscard]] std::string to_text(const Layout& layout);

}  // namespace windtunnel::model
