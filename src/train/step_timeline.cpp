#include <algorithm>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/train/jitter.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

PartTimes task_parts(TaskKind kind, const ChunkLoad& load, const UnitCosts& costs) noexcept {
    switch (kind) {
        case TaskKind::forward:
            return chunk_forward_parts(load, costs);
        case TaskKind::backward:
            return chunk_backward_parts(load, costs);
        case TaskKind::backward_input:
            return chunk_backward_input_parts(load, costs);
        case TaskKind::backward_weight:
            break;
    }
    return chunk_backward_weight_parts(load, costs);
}

}  // namespace

std::vector<TimelineEvent> step_timeline(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StageCosts stages;
    stage_costs(job, layout, costs, stages);
    const auto loads = pipeline_split(job.transformer, layout);
    const Pipeline pipeline = pipeline_of(job, layout);
    TaskGraph graph{static_cast<std::uint32_t>(pipeline.num_ranks)};
    pipeline_graph(pipeline, stages.times(), graph);
    const Execution execution = execute(graph);
    base::ensures(!execution.deadlock, "no schedule of ours deadlocks");

    const auto nested = [](const PartTimes& parts) {
        std::vector<std::pair<Part, Seconds>> list;
        for (int part = 0; part < num_parts; ++part)
            if (parts[static_cast<Part>(part)].value() > 0.0)
                list.emplace_back(static_cast<Part>(part), parts[static_cast<Part>(part)]);
        return list;
    };
    const auto parts_of = [&](const ScheduledTask& one, int rank) {
        const ChunkLoad& load = loads[static_cast<std::size_t>(pipeline.stage_of(rank, one.chunk))];
        return task_parts(one.kind, load, costs) * stages.load_of(one.micro_batch, one.micro_batch + 1);
    };
    const bool split = model::splits_backward(pipeline.schedule);
    const auto letter = [split](TaskKind kind) {
        if (kind == TaskKind::forward) return "F ";
        if (kind == TaskKind::backward_weight) return "W ";
        return split && kind == TaskKind::backward ? "B+W " : "B ";
    };
    const auto label_of = [](const ScheduledTask& scheduled) {
        return "mb " + std::to_string(scheduled.micro_batch) + " chunk " + std::to_string(scheduled.chunk);
    };

    std::vector<TimelineEvent> events;
    std::size_t task = 0;
    const int p = pipeline.num_ranks, num_stages = pipeline.num_stages();
    for (int rank = 0; rank < p; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const std::vector<ScheduledTask> order = pipeline_order(pipeline, rank);
        for (std::size_t position = 0; position < order.size(); ++position, ++task) {
            const ScheduledTask& scheduled = order[position];
            const bool is_forward = scheduled.kind == TaskKind::forward;
            const int stage = pipeline.stage_of(rank, scheduled.chunk);
            const std::string label = label_of(scheduled);
            const bool behind_partner = position > 0 && order[position - 1].with_next;
            if (!behind_partner) {
                PartTimes parts = parts_of(scheduled, rank);
                std::string name = letter(scheduled.kind) + label;
                if (scheduled.with_next) {
                    const ScheduledTask& partner = order[position + 1];
                    parts += parts_of(partner, rank);
                    // What the pair saves lies under its compute.
                    parts[Part::ep_comm] =
                        std::max(Seconds{0.0}, parts[Part::ep_comm] - (parts.total() - graph.durations()[task]));
                    name += " with " + std::string{letter(partner.kind)} + label_of(partner);
                }
                events.push_back(
                    {rank, "compute", name, execution.start[task], graph.durations()[task], nested(parts)});
            }
            if (scheduled.kind == TaskKind::backward_weight) continue;
            const int next = is_forward ? stage + 1 : stage - 1;
            if (next < 0 || next >= num_stages) continue;
            const int next_rank = pipeline.rank_of(next, scheduled.chunk);
            const bool sends = next_rank != rank || p == 1;
            const Seconds link = split ? stages.links[static_cast<std::size_t>(std::min(rank, next_rank))]
                                       : stages.links[is_forward ? r : static_cast<std::size_t>((rank + p - 1) % p)];
            if (sends && link.value() > 0.0)
                events.push_back({rank,
                                  is_forward ? "p2p forward" : "p2p backward",
                                  (is_forward ? "send F " : "send B ") + label,
                                  execution.end[task],
                                  link,
                                  {{Part::pp_comm, link}}});
        }
    }
    Seconds end{0.0};
    for (int rank = 0; rank < p; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        Seconds at = execution.stream_end[r];
        const auto append = [&](const char* stream, const char* name, Part part, Seconds duration) {
            if (duration.value() > 0.0) events.push_back({rank, stream, name, at, duration, {{part, duration}}});
            at += duration;
        };
        append("dp", "exchange", Part::dp_comm, stages.exchange[r]);
        append("dp", "optimizer", Part::optimizer, stages.optimizer[r]);
        end = std::max(end, at);
    }
    const Seconds late = waiting_for_slowest(job.methods.jitter, layout.cards, end);
    if (late.value() > 0.0) {
        for (int rank = 0; rank < p; ++rank)
            events.push_back({rank, "dp", "wait for the slowest card", end, late, {{Part::jitter, late}}});
        end += late;
    }
    if (job.efficiency.fixed_per_step.value() > 0.0)
        for (int rank = 0; rank < p; ++rank)
            events.push_back({rank,
                              "dp",
                              "fixed",
                              end,
                              job.efficiency.fixed_per_step,
                              {{Part::fixed, job.efficiency.fixed_per_step}}});
    return events;
}

std::vector<MemorySample> memory_timeline(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StageCosts stages;
    stage_costs(job, layout, costs, stages);
    const auto loads = pipeline_split(job.transformer, layout);
    const Pipeline pipeline = pipeline_of(job, layout);
    TaskGraph graph{static_cast<std::uint32_t>(pipeline.num_ranks)};
    pipeline_graph(pipeline, stages.times(), graph);
    const Execution execution = execute(graph);
    base::ensures(!execution.deadlock, "no schedule of ours deadlocks");
    const std::vector<StageMemory> memory = stage_memory(job, layout, costs);
    const bool split = model::splits_backward(pipeline.schedule);

    std::vector<MemorySample> samples;
    std::size_t task = 0;
    for (int rank = 0; rank < pipeline.num_ranks; ++rank) {
        const StageMemory& stage = memory[static_cast<std::size_t>(rank)];
        Bytes held;
        const auto sample = [&](Seconds at) {
            samples.push_back({rank, at, stage.total() - stage.activations + held});
        };
        sample(Seconds{0.0});
        const std::vector<ScheduledTask> order = pipeline_order(pipeline, rank);
        for (std::size_t position = 0; position < order.size(); ++position, ++task) {
            const ScheduledTask& one = order[position];
            const Bytes bytes =
                chunk_activations(loads[static_cast<std::size_t>(pipeline.stage_of(rank, one.chunk))], costs);
            if (one.kind == TaskKind::forward) {
                held += bytes;
                sample(execution.start[task]);
            } else if (one.kind == TaskKind::backward_weight || one.kind == TaskKind::backward || !split) {
                held -= bytes;
                sample(execution.end[task]);
            }
        }
    }
    return samples;
}

}  // namespace windtunnel::train
