#include "windtunnel/train/stage_costs.hpp"

namespace windtunnel::train {
namespace {

/// Adds `value(block)` of every block of a chunk, in fixed order.
template <class Sum, class Value>
void add_blocks(const ChunkLoad& load, const UnitCosts& costs, Sum& sum, const Value& value) {
    if (load.embedding) sum += value(costs.embedding);
    if (load.dense_layers > 0) sum += value(costs.dense_layer) * static_cast<double>(load.dense_layers);
    if (load.moe_layers > 0) sum += value(costs.moe_layer) * static_cast<double>(load.moe_layers);
    if (load.mtp_layers > 0) sum += value(costs.mtp) * static_cast<double>(load.mtp_layers);
    if (load.head) sum += value(costs.head);
}

PartTimes backward(const BlockCost& block) noexcept {
    PartTimes sum = block.backward_input;
    return sum += block.backward_weight;
}

/// Totals of one block, or of the blocks of a chunk.
struct BlockSum {
    Seconds forward, backward;
    HeldParameters held;
    void add(const BlockSum& block, double times) noexcept {
        forward += block.forward * times;
        backward += block.backward * times;
        held.dense += block.held.dense * times;
        held.expert += block.held.expert * times;
    }
};

BlockSum sum_of(const BlockCost& block) noexcept {
    return {block.forward.total(),
            block.backward_input.total() + block.backward_weight.total(),
            {block.parameters, block.expert_parameters}};
}

}  // namespace

PartTimes chunk_forward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return block.forward; });
    return sum;
}

PartTimes chunk_backward_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return backward(block); });
    return sum;
}

void stage_costs(const Job& job, const model::Layout& layout, const UnitCosts& costs, StageCosts& stages) {
    const auto ranks = static_cast<std::size_t>(layout.pipeline_parallel);
    const std::size_t num_chunks = ranks * static_cast<std::size_t>(layout.virtual_pipeline);
    stages.chunks.resize(num_chunks);
    stages.links.assign(ranks, costs.boundary_time);
    stages.held.assign(ranks, HeldParameters{});
    stages.windows.assign(ranks, HidingWindow{});
    const BlockSum embedding = sum_of(costs.embedding), dense = sum_of(costs.dense_layer),
                   moe = sum_of(costs.moe_layer), mtp = sum_of(costs.mtp), head = sum_of(costs.head);
    for (std::size_t i = 0; i < num_chunks; ++i) {
        const ChunkLoad load = chunk_load(job.transformer, layout, static_cast<int>(i));
        BlockSum sum;
        if (load.embedding) sum.add(embedding, 1.0);
        sum.add(dense, load.dense_layers);
        sum.add(moe, load.moe_layers);
        sum.add(mtp, load.mtp_layers);
        if (load.head) sum.add(head, 1.0);
        stages.chunks[i] = {sum.forward, sum.backward};
        stages.held[i % ranks].dense += sum.held.dense;
        stages.held[i % ranks].expert += sum.held.expert;
        stages.windows[i % ranks].forward += sum.forward;
        stages.windows[i % ranks].backward += sum.backward;
    }
    stages.exchange.resize(ranks);
    stages.optimizer.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        stages.exchange[rank] = exchange_time(job, layout, stages.held[rank], stages.windows[rank]);
        stages.optimizer[rank] = optimizer_time(job, layout, stages.held[rank]);
    }
}

}  // namespace windtunnel::train
