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
    const auto loads = pipeline_split(job.transformer, layout);
    const auto ranks = static_cast<std::size_t>(layout.pipeline_parallel);
    stages.chunks.resize(loads.size());
    stages.links.assign(ranks, costs.boundary_time);
    stages.held.assign(ranks, HeldParameters{});
    stages.windows.assign(ranks, HidingWindow{});
    for (std::size_t i = 0; i < loads.size(); ++i) {
        ChunkTimes& chunk = stages.chunks[i];
        chunk = {};
        add_blocks(loads[i], costs, chunk.forward, [](const BlockCost& block) { return block.forward.total(); });
        add_blocks(loads[i], costs, chunk.backward,
                   [](const BlockCost& block) { return block.backward_input.total() + block.backward_weight.total(); });
        HeldParameters& held = stages.held[i % ranks];
        add_blocks(loads[i], costs, held.dense, [](const BlockCost& block) { return block.parameters; });
        add_blocks(loads[i], costs, held.expert, [](const BlockCost& block) { return block.expert_parameters; });
        stages.windows[i % ranks].forward += chunk.forward;
        stages.windows[i % ranks].backward += chunk.backward;
    }
    stages.exchange.resize(ranks);
    stages.optimizer.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        stages.exchange[rank] = exchange_time(job, layout, stages.held[rank], stages.windows[rank]);
        stages.optimizer[rank] = optimizer_time(job, layout, stages.held[rank]);
    }
}

}  // namespace windtunnel::train
