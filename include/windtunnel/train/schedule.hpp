#pragma once
/// The order in which a pipeline rank runs forward and backward of its model chunks, by published schedule.
#include <cstdint>
#include <vector>

#include "windtunnel/model/layout.hpp"

namespace windtunnel::train {

/// What a task does. `backward` is both gradients at once; schedules with a split backward also use the last two.
enum class TaskKind : std::uint8_t { forward, backward, backward_input, backward_weight };

struct ScheduledTask {
    TaskKind kind = TaskKind::forward;
    bool with_next = false;  ///< a forward that runs together with the backward behind it in the order
    int chunk = 0;           ///< of this rank, from 0
    std::int64_t micro_batch = 0;
    friend bool operator==(const ScheduledTask&, const ScheduledTask&) = default;
};

/// A pipeline and its schedule. Expects pp, vpp, micro-batches >= 1 and what model/layout_rules.hpp demands of the
/// schedule.
struct Pipeline {
    model::PipelineSchedule schedule = model::PipelineSchedule::one_f_one_b;
    int num_ranks = 1;
    int num_chunks = 1;  ///< per rank; dualpipe: the stages of both directions, micro-batches m/2 to m - 1 come
                         ///< from the far end
    std::int64_t num_micro_batches = 1;
    /// 1f1b and interleaved: after one more warm-up forward (1f1b: as many as interleaved, 2(p - 1 - rank) + 1) each
    /// forward runs as a pair with the backward behind it.
    bool paired = false;

    [[nodiscard]] bool is_dualpipe() const noexcept { return schedule == model::PipelineSchedule::dualpipe; }
    [[nodiscard]] std::int64_t forwards_per_rank() const noexcept {
        return is_dualpipe() ? num_micro_batches : num_micro_batches * num_chunks;
    }
    /// Without split backward.
    [[nodiscard]] std::int64_t tasks_per_rank() const noexcept { return 2 * forwards_per_rank(); }
    [[nodiscard]] int num_stages() const noexcept { return is_dualpipe() ? num_ranks : num_ranks * num_chunks; }
    /// Index in pipeline order of a chunk of a rank: c p + r; V shape: r and 2p - 1 - r; dualpipe: r and p - 1 - r.
    [[nodiscard]] int stage_of(int rank, int chunk) const noexcept {
        if (is_dualpipe()) return chunk == 0 ? rank : num_ranks - 1 - rank;
        if (chunk == 1 && model::is_v_shaped(schedule)) return 2 * num_ranks - 1 - rank;
        return chunk * num_ranks + rank;
    }
    /// The rank that runs a stage for micro-batches of a chunk.
    [[nodiscard]] int rank_of(int stage, int chunk) const noexcept {
        if (is_dualpipe()) return chunk == 0 ? stage : num_ranks - 1 - stage;
        if (stage >= num_ranks && model::is_v_shaped(schedule)) return 2 * num_ranks - 1 - stage;
        return stage % num_ranks;
    }
};
[[nodiscard]] Pipeline pipeline_of(const model::Layout& layout) noexcept;

/// Forwards that a rank runs before its first backward, less one: it then alternates.
/// Source: 1F1B: Narayanan et al., SC21, figure 4; interleaved: the same and Megatron-LM, group size = number of ranks.
[[nodiscard]] std::int64_t num_warm_up_forwards(const Pipeline& pipeline, int rank) noexcept;

/// Largest number of forwards whose backward has not ended: micro-batches x chunks held at once.
/// Expects a schedule that does not split the backward, see train/split_backward.hpp for the others.
/// 1F1B: min(m, p - rank); GPipe: m; interleaved: min(m v, 2(p - 1 - rank) + (v - 1) p + 1).
[[nodiscard]] std::int64_t num_in_flight(const Pipeline& pipeline, int rank) noexcept;

/// Task number `position` (from 0) of a rank, in O(1). Expects a schedule that does not split the backward.
[[nodiscard]] ScheduledTask scheduled_task(const Pipeline& pipeline, int rank, std::int64_t position) noexcept;

/// All tasks of a rank in order.
[[nodiscard]] std::vector<ScheduledTask> pipeline_order(const Pipeline& pipeline, int rank);

}  // namespace windtunnel::train
