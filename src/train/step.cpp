#include "windtunnel/train/step.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {
namespace {

/// End of each rank's own work: its last micro-batch, its exchange, its optimizer. The step ends with the latest.
std::size_t rank_that_ends_last(const StageCosts& stages, const PipelineRun& run) noexcept {
    const auto end = [&](std::size_t rank) {
        return run.rank_end[rank] + stages.exchange[rank] + stages.optimizer[rank];
    };
    std::size_t last = 0;
    for (std::size_t rank = 1; rank < run.rank_end.size(); ++rank)
        if (end(rank) > end(last)) last = rank;
    return last;
}

Seconds end_of_step(const Job& job, const StageCosts& stages, const PipelineRun& run) noexcept {
    const std::size_t last = rank_that_ends_last(stages, run);
    return run.rank_end[last] + stages.exchange[last] + stages.optimizer[last] + job.efficiency.fixed_per_step;
}

void fill_flops(const Job& job, const model::Layout& layout, const UnitCosts& costs, StepResult& result) {
    const FlopsPerToken per_token = flops_per_token(job.transformer, job.sequence_length);
    const double tokens = static_cast<double>(layout.global_batch_size) * job.sequence_length;
    result.model_flops = Flops{(per_token.weights + per_token.attention_causal) * tokens};
    result.model_flops_full_attention = Flops{(per_token.weights + per_token.attention_full) * tokens};
    Flops recomputed{0.0};  // of one card of every rank, one micro-batch
    for (const ChunkLoad& load : pipeline_split(job.transformer, layout)) {
        recomputed += costs.dense_layer.recompute_flops * static_cast<double>(load.dense_layers);
        recomputed += costs.moe_layer.recompute_flops * static_cast<double>(load.moe_layers);
        recomputed += costs.mtp.recompute_flops * static_cast<double>(load.mtp_layers);
    }
    const double cards_per_rank = static_cast<double>(layout.cards) / layout.pipeline_parallel;
    const auto micro_batches = static_cast<double>(layout.num_micro_batches());
    result.hardware_flops = result.model_flops + recomputed * (cards_per_rank * micro_batches);
    result.peak_used = job.cluster.accelerator.peak(job.precision);
    const Flops capacity = result.peak_used * result.step_time * static_cast<double>(layout.cards);
    if (capacity.value() > 0.0) {
        result.mfu = result.model_flops / capacity;
        result.hfu = result.hardware_flops / capacity;
        result.mfu_full_attention = result.model_flops_full_attention / capacity;
    }
    result.tokens_per_second = tokens / result.step_time.value();
}

/// Busy parts of a rank over the whole step, from the parts of its chunks. What pairs of a forward and a backward save
/// is expert communication that lies under compute.
PartTimes busy_parts(const Pipeline& pipeline, const UnitCosts& costs, const std::vector<ChunkLoad>& loads, int rank,
                     Seconds busy) {
    PartTimes sum;
    for (int chunk = 0; chunk < pipeline.num_chunks; ++chunk) {
        const ChunkLoad& load = loads[static_cast<std::size_t>(pipeline.stage_of(rank, chunk))];
        sum += chunk_forward_parts(load, costs);
        sum += chunk_backward_parts(load, costs);
    }
    sum = sum * (static_cast<double>(pipeline.forwards_per_rank()) / pipeline.num_chunks);
    const bool pairs = pipeline.is_dualpipe() || pipeline.schedule == model::PipelineSchedule::dualpipe_v;
    if (pairs) sum[Part::ep_comm] = std::max(Seconds{0.0}, sum[Part::ep_comm] - (sum.total() - busy));
    return sum;
}

}  // namespace

Seconds step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs, StepWorkspace& workspace) {
    stage_costs(job, layout, costs, workspace.stages);
    return end_of_step(job, workspace.stages, workspace.runner.run(pipeline_of(layout), workspace.stages.times()));
}

Seconds step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StepWorkspace workspace;
    return step_time(job, layout, costs, workspace);
}

Seconds closed_form_step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs,
                              StepWorkspace& workspace) {
    StageCosts& stages = workspace.stages;
    stage_costs(job, layout, costs, stages);
    Seconds once{0.0};
    for (std::size_t rank = 0; rank < stages.exchange.size(); ++rank)
        once = std::max(once, stages.exchange[rank] + stages.optimizer[rank]);
    return closed_form_pipeline_time(pipeline_of(layout), stages.times()) + once + job.efficiency.fixed_per_step;
}

Seconds closed_form_step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StepWorkspace workspace;
    return closed_form_step_time(job, layout, costs, workspace);
}

StepResult step_result(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StepWorkspace workspace;
    StageCosts& stages = workspace.stages;
    stage_costs(job, layout, costs, stages);
    const Pipeline pipeline = pipeline_of(layout);
    const PipelineRun run = workspace.runner.run(pipeline, stages.times());

    StepResult result;
    const std::size_t last = rank_that_ends_last(stages, run);
    result.step_time = end_of_step(job, stages, run);
    result.last_stage = static_cast<int>(last);

    double idle = 0.0;
    for (const Seconds busy : run.rank_busy) idle += 1.0 - busy / run.makespan;
    result.bubble_fraction = std::max(0.0, idle / static_cast<double>(run.rank_busy.size()));

    // What the rank waits for: transfers are what disappears when they take no time, the bubble is the rest.
    result.parts =
        busy_parts(pipeline, costs, pipeline_split(job.transformer, layout), result.last_stage, run.rank_busy[last]);
    const Seconds busy = result.parts.total();
    stages.links.assign(stages.links.size(), Seconds{0.0});
    const Seconds without_transfers = workspace.runner.run(pipeline, stages.times()).rank_end[last];
    result.parts[Part::pp_comm] += std::max(Seconds{0.0}, run.rank_end[last] - without_transfers);
    result.parts[Part::bubble] += std::max(Seconds{0.0}, std::min(without_transfers, run.rank_end[last]) - busy);
    result.parts[Part::dp_comm] += stages.exchange[last];
    result.parts[Part::optimizer] += stages.optimizer[last];
    result.parts[Part::fixed] += job.efficiency.fixed_per_step;
    base::ensures(std::abs(result.parts.total().value() - result.step_time.value()) <= 1e-9 * result.step_time.value(),
                  "parts sum to the step");

    fill_flops(job, layout, costs, result);
    const model::Efficiency& efficiency = job.efficiency;
    result.evidence = efficiency.evidence;
    const auto outside = [](int value, int least, int most) { return most > 0 && (value < least || value > most); };
    result.outside_fitted_range =
        costs.outside_fitted_range || outside(layout.cards, efficiency.fitted_min_cards, efficiency.fitted_max_cards) ||
        outside(job.transformer.hidden, efficiency.fitted_min_hidden, efficiency.fitted_max_hidden) ||
        outside(job.sequence_length, efficiency.fitted_min_sequence, efficiency.fitted_max_sequence);
    result.relative_error_90 = efficiency.step_time_error_90;
    return result;
}

std::vector<TimelineEvent> step_timeline(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StageCosts stages;
    stage_costs(job, layout, costs, stages);
    const auto loads = pipeline_split(job.transformer, layout);
    const Pipeline pipeline = pipeline_of(layout);
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
    const auto parts_of = [&](TaskKind kind, int stage) {
        const ChunkLoad& load = loads[static_cast<std::size_t>(stage)];
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
                PartTimes parts = parts_of(scheduled.kind, stage);
                std::string name = letter(scheduled.kind) + label;
                if (scheduled.with_next) {
                    const ScheduledTask& partner = order[position + 1];
                    parts += parts_of(partner.kind, pipeline.stage_of(rank, partner.chunk));
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
                                  "p2p",
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

}  // namespace windtunnel::train
