#pragma once
/// Plans with a layout space, built in memory.
#include "train_examples.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::test {

/// A plan whose layout space has one point; tests open its axes.
inline model::Plan plan_of(const model::Transformer& transformer, const model::Accelerator& accelerator, int cards,
                           int sequence_length, std::int64_t global_batch) {
    model::Plan plan;
    plan.transformer = transformer;
    plan.cluster.accelerator = accelerator;
    plan.cluster.num_nodes = (cards + accelerator.cards_per_node - 1) / accelerator.cards_per_node;
    plan.training.emplace();
    plan.training->sequence_length = sequence_length;
    plan.training->layout.cards = {false, {cards}};
    plan.training->layout.global_batch_size = {false, {global_batch}};
    plan.resolved_text = "a plan of a test\n";
    return plan;
}

template <class Value>
model::Axis<Value> listed(std::vector<Value> values) {
    return {false, std::move(values)};
}
inline const model::Axis<int> any{true, {}};

/// Multiples of `each` from `from` to `to`.
inline model::Axis<std::int64_t> batches(std::int64_t from, std::int64_t to, std::int64_t each = 1) {
    model::Axis<std::int64_t> axis;
    for (std::int64_t batch = from; batch <= to; batch += each) axis.values.push_back(batch);
    return axis;
}

/// Pangu Ultra MoE 718B on 10,000 cards with a space of more than 10^10 designs, of which more than 10^6 keep all
/// rules.
inline model::Plan pangu_10k() {
    model::Plan plan = plan_of(pangu_ultra_moe_718b(), ascend_910b(), 10'000, 8192, 15'360);
    model::LayoutSpace& space = plan.training->layout;
    space.cards = {true, {}};
    space.tensor_parallel = listed<int>({1, 2, 4, 8});
    space.pipeline_parallel = listed<int>({4, 8, 16, 32, 64});
    space.virtual_pipeline = listed<int>({1, 2, 4});
    space.expert_parallel = listed<int>({8, 16, 32, 64});
    space.micro_batch_size = listed<int>({1, 2, 4});
    space.context_parallel = listed<int>({1, 2, 4});
    space.global_batch_size = batches(12'288, 18'432);
    space.recompute =
        listed<model::Recompute>({model::Recompute::none, model::Recompute::selective, model::Recompute::full});
    space.schedule = listed<model::PipelineSchedule>(
        {model::PipelineSchedule::gpipe, model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved});
    space.optimizer_sharding = listed<int>({0, 1});
    space.split.kind = model::SplitKind::slots;
    return plan;
}

}  // namespace windtunnel::test
