#include "windtunnel/train/memory.hpp"

#include <algorithm>

#include "windtunnel/train/schedule.hpp"
#include "windtunnel/train/stage_costs.hpp"

namespace windtunnel::train {

Bytes chunk_activations(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    const LayerSplit layers = layer_split(load, costs);
    return costs.dense_layer.activations * layers.dense + costs.moe_layer.activations * layers.moe +
           costs.kept_dense_layer.activations * layers.kept_dense + costs.kept_moe_layer.activations * layers.kept_moe +
           costs.mtp.activations * double(load.mtp_layers) +
           costs.embedding.activations * (load.embedding ? 1.0 : 0.0) +
           costs.head.activations * (load.head ? 1.0 : 0.0);
}

namespace {

/// What of job and layout every stage shares.
struct Shared {
    const Job& job;
    const model::Layout& layout;
    const UnitCosts& costs;
    Pipeline pipeline;
    double ranks = 1.0, expert_ranks = 1.0;  ///< over which optimizer states are shared out
    double gradient_bytes = 4.0, weight_bytes = 2.0;
};

Shared shared(const Job& job, const model::Layout& layout, const UnitCosts& costs) noexcept {
    Shared values{job, layout, costs, pipeline_of(job, layout)};
    const ShardGroups groups = shard_groups(job, layout);
    values.ranks = groups.ranks;
    values.expert_ranks = groups.expert_ranks;
    values.gradient_bytes = model::bytes_per_element(job.gradient_precision);
    // Products of 8 bit or less keep a narrow copy of each weight over the micro-batches of a step.
    const double element = model::bytes_per_element(job.precision);
    values.weight_bytes = element < 2.0 ? 2.0 + element : 2.0;
    return values;
}

/// Micro-batches of chunk `chunk` of a rank that are in flight after its warm-up.
std::int64_t in_flight_of_chunk(const Pipeline& pipeline, std::int64_t in_flight, int chunk) noexcept {
    if (pipeline.num_chunks == 1) return in_flight;
    if (pipeline.schedule == model::PipelineSchedule::gpipe) return pipeline.num_micro_batches;
    const std::int64_t p = pipeline.num_ranks, round = p * pipeline.num_chunks;
    const std::int64_t rest = in_flight % round;
    return in_flight / round * p + std::clamp<std::int64_t>(rest - chunk * p, 0, p);
}

/// Sums over the blocks of a stage.
struct StageSums {
    double parameters = 0.0, expert_parameters = 0.0;
    double largest_weight = 0.0, head_weight = 0.0, largest_block = 0.0;
    Bytes activations, logits, peak;

    void add(const BlockCost& block, double count, double in_flight) noexcept {
        if (count <= 0.0) return;
        parameters += count * block.parameters;
        expert_parameters += count * block.expert_parameters;
        activations += block.activations * (count * in_flight);
        peak = std::max(peak, block.recompute_peak);
        largest_block = std::max(largest_block, block.parameters + block.expert_parameters);
    }
};

/// Micro-batches of chunk 0 and 1 of a rank at the moment when they hold the most bytes.
HeldChunks held_chunks(const Shared& s, int rank, const HeldChunksTable::Moments& moments) {
    std::array<Bytes, 2> each{};
    for (int chunk = 0; chunk < s.pipeline.num_chunks; ++chunk)
        each[static_cast<std::size_t>(chunk)] =
            chunk_activations(chunk_load(s.job.transformer, s.layout, s.pipeline.stage_of(rank, chunk)), s.costs);
    HeldChunks fullest;
    Bytes most{-1.0};
    for (const HeldChunks& moment : moments.of_rank(rank)) {
        const Bytes bytes = each[0] * double(moment.of[0]) + each[1] * double(moment.of[1]);
        if (bytes <= most) continue;
        most = bytes;
        fullest = moment;
    }
    return fullest;
}

StageSums stage_sums(const Shared& s, int stage, const HeldChunksTable::Moments& moments) {
    StageSums sums;
    const bool split = model::splits_backward(s.layout.schedule);
    const std::int64_t in_flight = split ? 0 : num_in_flight(s.pipeline, stage);
    const HeldChunks at_fullest = split ? held_chunks(s, stage, moments) : HeldChunks{};
    for (int chunk = 0; chunk < s.pipeline.num_chunks; ++chunk) {
        const ChunkLoad load = chunk_load(s.job.transformer, s.layout, s.pipeline.stage_of(stage, chunk));
        const double held = static_cast<double>(split ? at_fullest.of[static_cast<std::size_t>(chunk)]
                                                      : in_flight_of_chunk(s.pipeline, in_flight, chunk));
        const LayerSplit layers = layer_split(load, s.costs);
        sums.add(s.costs.dense_layer, layers.dense, held);
        sums.add(s.costs.moe_layer, layers.moe, held);
        sums.add(s.costs.kept_dense_layer, layers.kept_dense, held);
        sums.add(s.costs.kept_moe_layer, layers.kept_moe, held);
        sums.add(s.costs.embedding, load.embedding ? 1.0 : 0.0, held);
        sums.add(s.costs.head, load.head ? 1.0 : 0.0, held);
        sums.add(s.costs.mtp, load.mtp_layers, held);
        if (load.dense_layers > 0)
            sums.largest_weight = std::max(sums.largest_weight, s.costs.dense_layer.largest_weight);
        if (load.moe_layers > 0) sums.largest_weight = std::max(sums.largest_weight, s.costs.moe_layer.largest_weight);
        if (load.mtp_layers > 0) sums.largest_weight = std::max(sums.largest_weight, s.costs.mtp.largest_weight);
        if (load.head) sums.head_weight = s.costs.head.largest_weight;
        // Backward follows the loss at once, except where every micro-batch runs forward first.
        const double losses = s.layout.schedule == model::PipelineSchedule::gpipe ? held : 1.0;
        if (load.head) sums.logits += s.costs.head.logits * losses;
        sums.logits += s.costs.mtp.logits * (losses * load.mtp_layers);
    }
    return sums;
}

}  // namespace

ModelStates model_states(const HeldParameters& held, double ranks, double expert_ranks, int level, double weight_bytes,
                         double gradient_bytes) noexcept {
    const double all = held.dense + held.expert;
    const double shard = held.dense / ranks + held.expert / expert_ranks;
    ModelStates states;
    states.optimizer = Bytes{12.0 * (level >= 1 ? shard : all)};
    states.weights = Bytes{weight_bytes * (level >= 3 ? shard : all)};
    states.gradients = Bytes{gradient_bytes * (level >= 2 ? shard : all)};
    if (level == 2) states.gradients += Bytes{2.0 * all};
    return states;
}

namespace {

StageMemory one_stage(const Shared& s, int stage, const HeldChunksTable::Moments& moments) {
    const StageSums sums = stage_sums(s, stage, moments);
    const int level = s.layout.optimizer_sharding;
    const double all = sums.parameters + sums.expert_parameters;
    const ModelStates states = model_states({sums.parameters, sums.expert_parameters}, s.ranks, s.expert_ranks, level,
                                            s.weight_bytes, s.gradient_bytes);
    StageMemory memory;
    memory.weights = states.weights;
    memory.gradients = states.gradients;
    memory.optimizer = states.optimizer * (1.0 - s.job.methods.offload.optimizer);
    memory.activations = sums.activations;
    memory.logits = sums.logits;
    const Bytes in_layers = Bytes{2.0 * 2.0 * sums.largest_weight} + sums.peak;
    memory.buffers = Bytes{2.0 * sums.head_weight} + std::max(Bytes{0.0}, in_layers - sums.logits);
    if (level >= 3)
        memory.buffers +=
            s.layout.pipeline_parallel > 1 ? Bytes{6.0 * all} : Bytes{2.0 * (2.0 + 1.0) * sums.largest_block};
    const model::Efficiency& e = s.job.efficiency;
    memory.reserve = e.memory_context + e.memory_fragmentation * memory.allocated();
    return memory;
}

HeldChunksTable::Moments moments_of(const Shared& s, HeldChunksTable& table) {
    return model::splits_backward(s.layout.schedule) ? table.fullest(s.pipeline) : HeldChunksTable::Moments{};
}

}  // namespace

std::vector<StageMemory> stage_memory(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    const Shared values = shared(job, layout, costs);
    std::vector<StageMemory> stages;
    stages.reserve(static_cast<std::size_t>(layout.pipeline_parallel));
    HeldChunksTable table;
    const HeldChunksTable::Moments moments = moments_of(values, table);
    for (int stage = 0; stage < layout.pipeline_parallel; ++stage) stages.push_back(one_stage(values, stage, moments));
    return stages;
}

FullestStage fullest_stage(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    HeldChunksTable table;
    return fullest_stage(job, layout, costs, table);
}

FullestStage fullest_stage(const Job& job, const model::Layout& layout, const UnitCosts& costs,
                           HeldChunksTable& table) {
    const Shared values = shared(job, layout, costs);
    const HeldChunksTable::Moments moments = moments_of(values, table);
    FullestStage fullest;
    for (int stage = 0; stage < layout.pipeline_parallel; ++stage) {
        const Bytes total = one_stage(values, stage, moments).total();
        if (total > fullest.total) fullest = {stage, total};
    }
    return fullest;
}

Bytes usable_memory(const Job& job) noexcept {
    return job.cluster.accelerator.memory * (1.0 - job.reserve_fraction);
}

}  // namespace windtunnel::train
