#pragma once
/// The order in which a pipeline rank runs forward and backward of its model chunks, by published schedule.
#include <cstdint>
#include <vector>

#include "windtunnel/model/layout.hpp"

namespace windtunnel::train {

/// What a task does. A schedule with a split backward uses the last two, the others `backward` (both at once).
enum class TaskKind : std::uint8_t { forward, backward, backward_input, backward_weight };

struct ScheduledTask {
    TaskKind kind = TaskKind::forward;
    int chunk = 0;              ///< of this rank, from 0
    std::int64_t micro_batch = 0;
    friend bool operator==(const ScheduledTask&, const ScheduledTask&) = default;
};

/// A pipeline and its schedule. Expects pp, vpp, micro-batches >= 1; vpp = 1 unless interleaved; interleaved: micro-batches
/// a multiple of pp.
struct Pipeline {
    model::PipelineSchedule schedule = model::PipelineSchedule::one_f_one_b;
    int num_ranks = 1;
    int num_chunks = 1;         ///< per rank
    std::int64_t num_micro_batches = 1;

    [[nodiscard]] std::int64_t forwards_per_rank() const noexcept { return num_micro_batches * num_chunks; }
    [[nodiscard]] std::int64_t tasks_per_rank() const noexcept { return 2 * forwards_per_rank(); }
};
[[nodiscard]] Pipeline pipeline_of(const model::Layout& layout) noexcept;

/// Forwards that a rank runs before its first backward, less one: it then alternates.
/// Source: 1F1B: Narayanan et al., SC21, figure 4; interleaved: the same and Megatron-LM, group size = number of ranks.
[[nodiscard]] std::int64_t num_warm_up_forwards(const Pipeline& pipeline, int rank) noexcept;

/// Largest number of forwards whose backward has not ended: micro-batches x chunks held at once.
/// 1F1B: min(m, p - rank); GPipe: m; interleaved: min(m v, 2(p - 1 - rank) + (v - 1) p + 1).
[[nodiscard]] std::int64_t num_in_flight(const Pipeline& pipeline, int rank) noexcept;

/// Task number `position` (from 0) of a rank, in O(1).
[[nodiscard]] ScheduledTask scheduled_task(const Pipeline& pipeline, int rank, std::int64_t position) noexcept;

/// All tasks of a rank in order.
[[nodiscard]] std::vector<ScheduledTask> pipeline_order(const Pipeline& pipeline, int rank);

}  // namespace windtunnel::train
