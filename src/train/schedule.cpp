#include "windtunnel/train/schedule.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/train/split_backward.hpp"

namespace windtunnel::train {
namespace {

using model::PipelineSchedule;

/// Interleaved order: groups of p micro-batches run chunk by chunk; backward takes the chunks from the last one.
ScheduledTask numbered(const Pipeline& pipeline, TaskKind kind, std::int64_t number) noexcept {
    if (pipeline.num_chunks == 1) return {kind, false, 0, number};
    const std::int64_t p = pipeline.num_ranks, v = pipeline.num_chunks;
    const std::int64_t group = number / (p * v), in_group = number % (p * v);
    const int chunk = static_cast<int>(in_group / p);
    return {kind, false, kind == TaskKind::forward ? chunk : pipeline.num_chunks - 1 - chunk, group * p + in_group % p};
}

}  // namespace

Pipeline pipeline_of(const model::Layout& layout) noexcept {
    return {layout.schedule, layout.pipeline_parallel, layout.virtual_pipeline * layout.stage_copies(),
            layout.num_micro_batches()};
}

std::int64_t num_warm_up_forwards(const Pipeline& pipeline, int rank) noexcept {
    const std::int64_t p = pipeline.num_ranks, v = pipeline.num_chunks, forwards = pipeline.forwards_per_rank();
    const std::int64_t extra = pipeline.paired ? 1 : 0;
    switch (pipeline.schedule) {
        case PipelineSchedule::gpipe:
            return forwards;
        case PipelineSchedule::one_f_one_b:
            // A pair waits for both directions, so neighbours must lie two micro-batches apart, not one.
            return std::min(forwards, (pipeline.paired ? 2 : 1) * (p - 1 - rank) + extra);
        case PipelineSchedule::interleaved:
            return std::min(forwards, 2 * (p - 1 - rank) + (v - 1) * p + extra);
        case PipelineSchedule::zb_1p:
        case PipelineSchedule::zb_v:
        case PipelineSchedule::v_half:
        case PipelineSchedule::v_min:
        case PipelineSchedule::dualpipe:
        case PipelineSchedule::dualpipe_v:
            break;
    }
    return forwards;
}

std::int64_t num_in_flight(const Pipeline& pipeline, int rank) noexcept {
    return std::min(pipeline.forwards_per_rank(), num_warm_up_forwards(pipeline, rank) + 1);
}

ScheduledTask scheduled_task(const Pipeline& pipeline, int rank, std::int64_t position) noexcept {
    base::expects(position >= 0 && position < pipeline.tasks_per_rank(), "position lies in the step");
    const std::int64_t warm_up = num_warm_up_forwards(pipeline, rank);
    const std::int64_t steady = pipeline.forwards_per_rank() - warm_up;  // pairs of one forward and one backward
    if (position < warm_up) return numbered(pipeline, TaskKind::forward, position);
    if (position < warm_up + 2 * steady) {
        const std::int64_t pair = (position - warm_up) / 2;
        if ((position - warm_up) % 2 == 0) {
            ScheduledTask forward = numbered(pipeline, TaskKind::forward, warm_up + pair);
            forward.with_next = pipeline.paired;
            return forward;
        }
        return numbered(pipeline, TaskKind::backward, pair);
    }
    return numbered(pipeline, TaskKind::backward, position - warm_up - steady);
}

std::vector<ScheduledTask> pipeline_order(const Pipeline& pipeline, int rank) {
    std::vector<ScheduledTask> order;
    if (model::splits_backward(pipeline.schedule)) {
        SplitBackwardOrders orders;
        orders.build(pipeline);
        order.assign(orders.of_rank(rank).begin(), orders.of_rank(rank).end());
        return order;
    }
    order.reserve(static_cast<std::size_t>(pipeline.tasks_per_rank()));
    for (std::int64_t position = 0; position < pipeline.tasks_per_rank(); ++position)
        order.push_back(scheduled_task(pipeline, rank, position));
    return order;
}

}  // namespace windtunnel::train
