#include "windtunnel/train/unit_costs.hpp"

#include <algorithm>
#include <utility>

#include "windtunnel/train/block_graph.hpp"
#include "windtunnel/train/layer_operators.hpp"

namespace windtunnel::train {
namespace {

/// Bytes that full recompute keeps of a layer: its input.
double layer_input_bytes(const Scope& scope) {
    return 2.0 * scope.own_tokens * scope.job.transformer.hidden;
}

/// A block with its operators added by `fill`; inside a layer the graph says what hides, where the plan wants it.
template <class Fill>
BlockCost block_cost(const Scope& scope, const Fill& fill) {
    if (!scope.job.methods.overlap.operators) {
        BlockBuilder block{scope};
        return fill(block);
    }
    GraphRecorder recorder;
    BlockBuilder block{scope, &recorder};
    BlockCost cost = fill(block);
    hide_by_graph(scope.job, recorder.assemble(), cost);
    return cost;
}

BlockCost fill_layer(BlockBuilder& block, const Scope& scope, bool moe) {
    add_attention(block, scope);
    if (moe)
        add_experts(block, scope);
    else
        add_dense_ffn(block, scope, scope.job.transformer.ffn);
    return block.finish(layer_input_bytes(scope));
}

BlockCost layer_cost(const Scope& scope, bool moe) {
    return block_cost(scope, [&](BlockBuilder& block) { return fill_layer(block, scope, moe); });
}

BlockCost fill_embedding(BlockBuilder& block, const Scope& scope) {
    add_embedding(block, scope);
    return block.finish_kept();
}

BlockCost fill_head(BlockBuilder& block, const Scope& scope) {
    add_head(block, scope);
    return block.finish_kept();
}

BlockCost fill_mtp_projection(BlockBuilder& block, const Scope& scope) {
    add_mtp_projection(block, scope);
    return block.finish(2.0 * layer_input_bytes(scope));
}

void add(BlockCost& sum, const BlockCost& other) {
    sum.forward += other.forward;
    sum.backward_input += other.backward_input;
    sum.backward_weight += other.backward_weight;
    sum.model_flops += other.model_flops;
    sum.recompute_flops += other.recompute_flops;
    sum.parameters += other.parameters;
    sum.expert_parameters += other.expert_parameters;
    sum.largest_weight = std::max(sum.largest_weight, other.largest_weight);
    sum.activations += other.activations;
    sum.recompute_peak = std::max(sum.recompute_peak, other.recompute_peak);
    sum.logits += other.logits;
}

/// Projection, one layer, and the shared head once more; in a pipeline a copy of the embedding table lies with it.
BlockCost mtp_cost(const Scope& scope, const UnitCosts& costs) {
    BlockCost mtp = block_cost(scope, [&](BlockBuilder& block) { return fill_mtp_projection(block, scope); });
    add(mtp, costs.layer(scope.job.transformer.num_moe_layers() > 0));
    BlockCost head = costs.head;
    head.parameters = scope.key.pipelined ? costs.embedding.parameters : 0.0;
    head.largest_weight = 0.0;
    add(mtp, head);
    return mtp;
}

bool outside(int value, int least, int most) {
    return most > 0 && (value < least || value > most);
}

}  // namespace

UnitKey unit_key(const model::Layout& layout) noexcept {
    UnitKey key;
    key.tensor_parallel = layout.tensor_parallel;
    key.context_parallel = layout.context_parallel;
    key.expert_parallel = layout.expert_parallel;
    key.expert_tensor_parallel = layout.expert_tensor_parallel;
    key.micro_batch_size = layout.micro_batch_size;
    key.recompute = layout.recompute;
    key.sequence_parallel = layout.sequence_parallel && layout.tensor_parallel > 1;
    key.pipelined = layout.pipeline_parallel > 1;
    return key;
}

OperatorGraph block_graph(const Job& job, const UnitKey& key, BlockKind kind) {
    const Scope scope = scope_of(job, key);
    GraphRecorder recorder;
    BlockBuilder block{scope, &recorder};
    switch (kind) {
        case BlockKind::dense_layer:
        case BlockKind::moe_layer:
            fill_layer(block, scope, kind == BlockKind::moe_layer);
            break;
        case BlockKind::embedding:
            fill_embedding(block, scope);
            break;
        case BlockKind::head:
            fill_head(block, scope);
            break;
        case BlockKind::mtp_projection:
            fill_mtp_projection(block, scope);
            break;
    }
    return recorder.assemble();
}

UnitCosts unit_costs(const Job& job, const UnitKey& key) {
    const Scope scope = scope_of(job, key);
    const model::Transformer& model = job.transformer;
    UnitCosts costs;
    if (model.num_moe_layers() < model.num_layers) costs.dense_layer = layer_cost(scope, false);
    if (model.num_moe_layers() > 0) costs.moe_layer = layer_cost(scope, true);
    const model::Recomputation& how = job.methods.recomputation;
    if (key.recompute == model::Recompute::full && how.method == model::RecomputeMethod::block && how.layers > 0) {
        UnitKey kept = key;
        kept.recompute = model::Recompute::none;
        const Scope plain = scope_of(job, kept);
        costs.recomputed_layers = how.layers;
        if (model.num_moe_layers() < model.num_layers) costs.kept_dense_layer = layer_cost(plain, false);
        if (model.num_moe_layers() > 0) costs.kept_moe_layer = layer_cost(plain, true);
    }
    costs.embedding = block_cost(scope, [&](BlockBuilder& block) { return fill_embedding(block, scope); });
    costs.head = block_cost(scope, [&](BlockBuilder& block) { return fill_head(block, scope); });
    if (model.num_mtp_layers > 0) costs.mtp = mtp_cost(scope, costs);
    if (key.pipelined) {
        costs.boundary = Bytes{layer_input_bytes(scope)};
        const bool leaves = job.cluster.num_cards() > scope.links.domain_size;
        costs.boundary_time = comm::transfer_time(costs.boundary, leaves ? scope.links.outside : scope.links.inside);
        if (!job.methods.overlap.point_to_point) std::swap(costs.blocked, costs.boundary_time);
    }
    const model::Efficiency& e = job.efficiency;
    costs.outside_fitted_range = outside(model.hidden, e.fitted_min_hidden, e.fitted_max_hidden) ||
                                 outside(job.sequence_length, e.fitted_min_sequence, e.fitted_max_sequence);
    return costs;
}

}  // namespace windtunnel::train
