#include "windtunnel/train/stage_costs.hpp"

#include "windtunnel/train/shared_port.hpp"

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

PartTimes chunk_backward_input_parts(const ChunkLoad& load, const UnitCosts& costs) noexcept {
    PartTimes sum;
    add_blocks(load, costs, sum, [](const BlockCost& block) { return block.backward_input; });
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
    const Pipeline pipeline = pipeline_of(layout);
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
        sum.add(dense, load.dense_layers);
        sum.add(moe, load.moe_layers);
        sum.add(mtp, load.mtp_layers);
        if (load.head) sum.add(head, 1.0);
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
