#include "windtunnel/train/step.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/train/jitter.hpp"

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

Seconds waiting(const Job& job, const model::Layout& layout, Seconds work) {
    return waiting_for_slowest(job.methods.jitter, layout.cards, work);
}

Seconds end_of_step(const Job& job, const model::Layout& layout, const StageCosts& stages, const PipelineRun& run) {
    const std::size_t last = rank_that_ends_last(stages, run);
    const Seconds work = run.rank_end[last] + stages.exchange[last] + stages.optimizer[last];
    return work + job.efficiency.fixed_per_step + waiting(job, layout, work);
}

void fill_flops(const Job& job, const model::Layout& layout, const UnitCosts& costs, const StageCosts& stages,
                StepResult& result) {
    FlopsPerToken per_token = flops_per_token(job.transformer, job.sequence_length);
    double tokens = static_cast<double>(layout.global_batch_size) * job.sequence_length;
    if (stages.packed && stages.packed->tokens > 0.0) {
        const Packed& packed = *stages.packed;
        // Pairs of positions inside a document only: the mean length weighted by tokens, over the sequence length.
        const double share = packed.square_tokens / (packed.tokens * job.sequence_length);
        per_token.attention_causal *= share;
        per_token.attention_full *= share;
        tokens = packed.tokens;
        result.fill = packed.fill;
        result.micro_batch_imbalance = packed.imbalance;
    }
    result.model_flops = Flops{(per_token.weights + per_token.attention_causal) * tokens};
    result.model_flops_full_attention = Flops{(per_token.weights + per_token.attention_full) * tokens};
    Flops recomputed{0.0};  // of one card of every rank, one micro-batch
    for (const ChunkLoad& load : pipeline_split(job.transformer, layout)) {
        const LayerSplit layers = layer_split(load, costs);
        recomputed += costs.dense_layer.recompute_flops * layers.dense;
        recomputed += costs.moe_layer.recompute_flops * layers.moe;
        recomputed += costs.mtp.recompute_flops * static_cast<double>(load.mtp_layers);
    }
    const double cards_per_rank = static_cast<double>(layout.cards) / layout.pipeline_parallel;
    const double micro_batches = stages.load_of(0, layout.num_micro_batches());
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
PartTimes busy_parts(const Pipeline& pipeline, const UnitCosts& costs, const StageCosts& stages,
                     const std::vector<ChunkLoad>& loads, int rank, Seconds busy) {
    PartTimes sum;
    // dualpipe: the first half of the micro-batches takes chunk 0, the other half chunk 1.
    const std::int64_t m = pipeline.num_micro_batches, half = m / 2;
    if (pipeline.is_dualpipe() && stages.packed) {
        for (int chunk = 0; chunk < pipeline.num_chunks; ++chunk) {
            const ChunkLoad& load = loads[static_cast<std::size_t>(pipeline.stage_of(rank, chunk))];
            PartTimes both = chunk_forward_parts(load, costs);
            both += chunk_backward_parts(load, costs);
            sum += both * (chunk == 0 ? stages.load_of(0, half) : stages.load_of(half, m));
        }
    } else {
        for (int chunk = 0; chunk < pipeline.num_chunks; ++chunk) {
            const ChunkLoad& load = loads[static_cast<std::size_t>(pipeline.stage_of(rank, chunk))];
            sum += chunk_forward_parts(load, costs);
            sum += chunk_backward_parts(load, costs);
        }
        sum = sum * (pipeline.is_dualpipe() ? static_cast<double>(m) / pipeline.num_chunks : stages.load_of(0, m));
    }
    const bool pairs =
        pipeline.paired || pipeline.is_dualpipe() || pipeline.schedule == model::PipelineSchedule::dualpipe_v;
    if (pairs) sum[Part::ep_comm] = std::max(Seconds{0.0}, sum[Part::ep_comm] - (sum.total() - busy));
    return sum;
}

}  // namespace

Seconds step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs, StepWorkspace& workspace) {
    stage_costs(job, layout, costs, workspace.stages);
    return end_of_step(job, layout, workspace.stages,
                       workspace.runner.run(pipeline_of(job, layout), workspace.stages.times()));
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
    const Seconds pipeline = closed_form_pipeline_time(pipeline_of(job, layout), stages.times());
    return pipeline + once + job.efficiency.fixed_per_step + waiting(job, layout, pipeline + once);
}

Seconds closed_form_step_time(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StepWorkspace workspace;
    return closed_form_step_time(job, layout, costs, workspace);
}

StepResult step_result(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    StepWorkspace workspace;
    StageCosts& stages = workspace.stages;
    stage_costs(job, layout, costs, stages);
    const Pipeline pipeline = pipeline_of(job, layout);
    const PipelineRun run = workspace.runner.run(pipeline, stages.times());

    StepResult result;
    const std::size_t last = rank_that_ends_last(stages, run);
    result.step_time = end_of_step(job, layout, stages, run);
    result.last_stage = static_cast<int>(last);

    double idle = 0.0;
    for (const Seconds busy : run.rank_busy) idle += 1.0 - busy / run.makespan;
    result.bubble_fraction = std::max(0.0, idle / static_cast<double>(run.rank_busy.size()));

    // What the rank waits for: transfers are what disappears when they take no time, the bubble is the rest.
    result.parts = busy_parts(pipeline, costs, stages, pipeline_split(job.transformer, layout), result.last_stage,
                              run.rank_busy[last]);
    const Seconds busy = result.parts.total();
    stages.links.assign(stages.links.size(), Seconds{0.0});
    const Seconds without_transfers = workspace.runner.run(pipeline, stages.times()).rank_end[last];
    result.parts[Part::pp_comm] += std::max(Seconds{0.0}, run.rank_end[last] - without_transfers);
    result.parts[Part::bubble] += std::max(Seconds{0.0}, std::min(without_transfers, run.rank_end[last]) - busy);
    result.parts[Part::dp_comm] += stages.exchange[last];
    result.parts[Part::optimizer] += stages.optimizer[last];
    result.parts[Part::fixed] += job.efficiency.fixed_per_step;
    result.parts[Part::jitter] +=
        waiting(job, layout, run.rank_end[last] + stages.exchange[last] + stages.optimizer[last]);
    base::ensures(std::abs(result.parts.total().value() - result.step_time.value()) <= 1e-9 * result.step_time.value(),
                  "parts sum to the step");

    fill_flops(job, layout, costs, stages, result);
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

}  // namespace windtunnel::train
