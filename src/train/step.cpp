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

/// Busy parts of a rank over the whole step, from the parts of its chunks.
PartTimes busy_parts(const model::Layout& layout, const UnitCosts& costs, const std::vector<ChunkLoad>& loads,
                     std::size_t rank) {
    PartTimes sum;
    const auto ranks = static_cast<std::size_t>(layout.pipeline_parallel);
    for (std::size_t i = rank; i < loads.size(); i += ranks) {
        sum += chunk_forward_parts(loads[i], costs);
        sum += chunk_backward_parts(loads[i], costs);
    }
    return sum * static_cast<double>(layout.num_micro_batches());
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
    result.parts = busy_parts(layout, costs, pipeline_split(job.transformer, layout), last);
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
    std::vector<std::vector<std::pair<Part, Seconds>>> forward, backward;
    for (const ChunkLoad& load : loads) {
        forward.push_back(nested(chunk_forward_parts(load, costs)));
        backward.push_back(nested(chunk_backward_parts(load, costs)));
    }

    std::vector<TimelineEvent> events;
    std::size_t task = 0;
    const int p = pipeline.num_ranks, num_chunks = p * pipeline.num_chunks;
    for (int rank = 0; rank < p; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        for (std::int64_t position = 0; position < pipeline.tasks_per_rank(); ++position, ++task) {
            const ScheduledTask scheduled = scheduled_task(pipeline, rank, position);
            const bool is_forward = scheduled.kind == TaskKind::forward;
            const int chunk = scheduled.chunk * p + rank;
            const std::string label =
                "mb " + std::to_string(scheduled.micro_batch) + " chunk " + std::to_string(scheduled.chunk);
            events.push_back({rank, "compute", (is_forward ? "F " : "B ") + label, execution.start[task],
                              graph.durations()[task],
                              (is_forward ? forward : backward)[static_cast<std::size_t>(chunk)]});
            const bool sends = is_forward ? chunk + 1 < num_chunks : chunk > 0;
            const Seconds link = stages.links[is_forward ? r : static_cast<std::size_t>((rank + p - 1) % p)];
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
