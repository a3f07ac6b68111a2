#include "windtunnel/train/stage_costs.hpp"

#include <algorithm>

#include "windtunnel/train/shared_port.hpp"

namespace windtunnel::train {
namespace {

/// Adds `value(block)` of every block of a chunk, in fixed order.
template <class Sum, class Value>
void add_blocks(const ChunkLoad& load, const UnitCosts& costs, Sum& sum, const Value& value) {
    if (load.embedding) sum += value(costs.embedding);
    const LayerSplit layers = layer_split(load, costs);
    if (layers.dense > 0.0) sum += value(costs.dense_layer) * layers.dense;
    if (layers.kept_dense > 0.0) sum += value(costs.kept_dense_layer) * layers.kept_dense;
    if (layers.moe > 0.0) sum += value(costs.moe_layer) * layers.moe;
    if (layers.kept_moe > 0.0) sum += value(costs.kept_moe_layer) * layers.kept_moe;
    if (load.mtp_layers > 0) sum += value(costs.mtp) * static_cast<double>(load.mtp_layers);
    if (load.head) sum += value(costs.head);
}

/// Transfers that keep their sender waiting.
void add_blocked(PartTimes& sum, const UnitCosts& costs, bool sends) noexcept {
    if (sends) sum[Part::pp_comm] += costs.blocked;
}

/// Packs the documents of a step; time of a document as the layers of the model take it.
Packed packed_documents(const Job& job, const model::Layout& layout, const UnitCosts& costs) {
    const double layers = job.transformer.num_layers, moe = job.transformer.num_moe_layers();
    Seconds all, attention;
    const auto add = [&](const BlockCost& block, double count) {
        const auto parts = {&block.forward, &block.backward_input, &block.backward_weight};
        for (const PartTimes* part : parts) {
            all += part->total() * count;
            attention += (*part)[Part::attention] * count;
        }
    };
    add(costs.dense_layer, layers - moe);
    add(costs.moe_layer, moe);
    const double length = job.sequence_length;
    const DocumentWork work{(all - attention).value() / length, attention.value() / (length * length)};
    const Bins bins{layout.data_parallel(), static_cast<int>(layout.num_micro_batches()),
                    static_cast<double>(layout.micro_batch_size), length};
    return pack(job.documents, bins, work, layout.pipeline_parallel);
}

PartTimes backward(const BlockCost& block) noexcept {
    PartTimes sum = block.backward_input;
    return sum += block.backward_weight;
}

/// Totals of one block, or of the blocks of a chunk.
struct BlockSum {
    ChunkTimes time;
    HeldParameters held;
    void add(const BlockSum& block, double times) noexcept {
        time.forward += block.time.forward * times;
        time.backward += block.time.backward * times;
        time.backward_weight += block.time.backward_weight * times;
        time.forward_exchange += block.time.forward_exchange * times;
        time.backward_exchange += block.time.backward_exchange * times;
        held.dense += block.held.dense * times;
        held.expert += block.held.expert * times;
    }
};

BlockSum sum_of(const BlockCost& block) noexcept {
    const Seconds weight = block.backward_weight.total();
    return {{block.forward.total(), block.backward_input.total() + weight, weight, block.forward[Part::ep_comm],
             block.backward_input[Part::ep_comm]},
            {block.parameters, block.expert_parameters}};
}

}  // namespace

double StageCosts::load_of(std::int64_t first, std::int64_t last) const noexcept {
    if (!packed) return static_cast<double>(last - first);
    double sum = 0.0;
    for (std::int64_t i = first; i < last; ++i) sum += packed->load[static_cast<std::size_t>(i)];
    return sum;
}

Pipeline pipeline_of(const Job& job, const model::Layout& layout) noexcept {
    Pipeline pipeline = pipeline_of(layout);
    using enum model::PipelineSchedule;
    const bool has_pairs = layout.schedule == one_f_one_b || layout.schedule == interleaved;
    pipeline.paired = job.methods.overlap.experts && has_pairs && job.transformer.experts.has_value();
    return pipeline;
}

LayerSplit layer_split(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    if (costs.recomputed_layers < 0)
        return {static_cast<double>(load.dense_layers), static_cast<double>(load.moe_layers), 0.0, 0.0};
    const int dense = std::min(load.dense_layers, costs.recomputed_layers);
    const int moe = std::min(load.moe_layers, costs.recomputed_layers - dense);
    return {static_cast<double>(dense), static_cast<double>(moe), static_cast<double>(load.dense_layers - dense),
            static_cast<double>(load.moe_layers - moe)};
}

PartTimes chunk_forward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return block.forward; });
    add_blocked(sum, costs, !load.head);
    return sum;
}

PartTimes chunk_backward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return backward(block); });
    add_blocked(sum, costs, !load.embedding);
    return sum;
}

PartTimes chunk_backward_input_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return block.backward_input; });
    add_blocked(sum, costs, !load.embedding);
    return sum;
}

PartTimes chunk_backward_weight_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return block.backward_weight; });
    return sum;
}

void stage_costs(const Job& job, const model::Layout& layout, const UnitCosts& costs, StageCosts& stages) {
    const auto ranks = static_cast<std::size_t>(layout.pipeline_parallel);
    const std::size_t num_stages = ranks * static_cast<std::size_t>(layout.virtual_pipeline);
    const Pipeline pipeline = pipeline_of(job, layout);
    const model::Overlap& overlap = job.methods.overlap;
    stages.rates = {overlap.compute_rate.value_or(compute_beside_exchange), overlap.communication_rate};
    stages.packed.reset();
    if (job.documents.vary()) stages.packed = packed_documents(job, layout, costs);
    stages.chunks.resize(num_stages);
    stages.links.assign(ranks, costs.boundary_time);
    stages.held.assign(ranks, HeldParameters{});
    stages.windows.assign(ranks, HidingWindow{});
    const BlockSum embedding = sum_of(costs.embedding), dense = sum_of(costs.dense_layer),
                   moe = sum_of(costs.moe_layer), mtp = sum_of(costs.mtp), head = sum_of(costs.head);
    for (std::size_t i = 0; i < num_stages; ++i) {
        const ChunkLoad load = chunk_load(job.transformer, layout, static_cast<int>(i));
        BlockSum sum;
        if (load.embedding) sum.add(embedding, 1.0);
        const LayerSplit layers = layer_split(load, costs);
        sum.add(dense, layers.dense);
        sum.add(moe, layers.moe);
        if (costs.recomputed_layers >= 0) {
            sum.add(sum_of(costs.kept_dense_layer), layers.kept_dense);
            sum.add(sum_of(costs.kept_moe_layer), layers.kept_moe);
        }
        sum.add(mtp, load.mtp_layers);
        if (load.head) sum.add(head, 1.0);
        if (!load.head) sum.time.forward += costs.blocked;
        if (!load.embedding) sum.time.backward += costs.blocked;
        stages.chunks[i] = sum.time;
        for (int copy = 0; copy < layout.stage_copies(); ++copy) {
            const auto rank = static_cast<std::size_t>(pipeline.rank_of(static_cast<int>(i), copy));
            stages.held[rank].dense += sum.held.dense;
            stages.held[rank].expert += sum.held.expert;
            stages.windows[rank].forward += sum.time.forward;
            stages.windows[rank].backward += sum.time.backward;
        }
    }
    if (job.cluster.accelerator.scale_out.shared_port)
        leave_port_to_others(job, layout, costs, pipeline, stages.windows);
    stages.exchange.resize(ranks);
    stages.optimizer.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        stages.exchange[rank] = exchange_time(job, layout, stages.held[rank], stages.windows[rank]);
        stages.optimizer[rank] = optimizer_time(job, layout, stages.held[rank]);
    }
}

}  // namespace windtunnel::train
