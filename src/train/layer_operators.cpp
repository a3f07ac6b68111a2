#include "windtunnel/train/layer_operators.hpp"

#include <algorithm>

#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::train {
namespace {

constexpr double bf16 = 2.0;  // bytes of an activation
namespace module = model::recompute_module;

Seconds tensor_gather_time(const Scope& scope, double elements) {
    return comm::all_gather_time(Bytes{bf16 * elements}, scope.tensor, scope.links);
}

/// A collective over the tensor ranks; an all-reduce is a reduce-scatter and an all-gather.
Collective over_tensor_ranks(const Scope& scope, const char* name, CollectiveKind kind, double elements,
                             GraphRecorder::Place place = -1) {
    Collective one{
        name, kind, GroupName::tensor, scope.tensor.size, Bytes{bf16 * elements}, tensor_gather_time(scope, elements)};
    const int chunks = scope.job.methods.overlap.chunks;
    if (chunks > 1) one.piece = tensor_gather_time(scope, elements / chunks);
    one.place = place;
    if (kind != CollectiveKind::all_reduce) return one;
    one.time = one.time + one.time;
    one.piece = one.piece + one.piece;
    return one;
}

/// Communication around a pair of column- and row-parallel products, of which the first was added behind `first`:
/// `gathered` elements in, `scattered` out, and back.
void add_tensor_communication(BlockBuilder& block, const Scope& scope, double gathered, double scattered,
                              Seconds input_gradient, GraphRecorder::Place first) {
    using enum CollectiveKind;
    if (scope.key.sequence_parallel) {
        block.communicate(Part::tp_comm,
                          {over_tensor_ranks(scope, "gather_input", all_gather, gathered, first),
                           over_tensor_ranks(scope, "scatter_output", reduce_scatter, scattered)},
                          {over_tensor_ranks(scope, "scatter_input_gradient", reduce_scatter, gathered, first),
                           over_tensor_ranks(scope, "gather_output_gradient", all_gather, scattered)});
        block.regather(over_tensor_ranks(scope, "gather_input_again", all_gather, gathered), input_gradient, first);
    } else {
        block.communicate(Part::tp_comm, {over_tensor_ranks(scope, "reduce_output", all_reduce, scattered)},
                          {over_tensor_ranks(scope, "reduce_input_gradient", all_reduce, gathered, first)});
    }
}

/// A norm on the rank's own tokens: its input is held, and its output in the precision of the product that reads it.
void add_norm(BlockBuilder& block, const Scope& scope, double width, const compute::Card& reader) {
    const double elements = scope.own_tokens * width;
    block.stream("norm", 2.0 * bf16 * elements, 3.0 * bf16 * elements, 1, module::norms);
    block.keep(bf16 * elements);
    block.keep(reader.element_bytes * elements, module::norms);
    block.parameters(scope.job.transformer.biases ? 2.0 * width : width);
}

/// Stacks without flash attention or fused operators train with dropout; its masks are held.
bool has_dropout(const Job& job) noexcept {
    return !job.flash_attention || !job.fused_operators;
}

/// Residual addition, with the dropout mask where there is one.
void add_residual(BlockBuilder& block, const Scope& scope) {
    const double elements = scope.own_tokens * scope.job.transformer.hidden;
    block.stream("residual", 3.0 * bf16 * elements, 3.0 * bf16 * elements, 1);
    if (has_dropout(scope.job)) block.keep(elements);
}

/// Activation function between two products; `width` of its output on this card. It holds
/// its inputs (two when gated) and its output, which is cheap. Inputs stored in 8 bit are written once more forward and
/// read narrow backward: the time stays. `products`: modules that
/// run the products before it again; `load`: rows of the busiest card over `rows`.
void add_activation(BlockBuilder& block, const Scope& scope, double rows, double width, unsigned products,
                    double load = 1.0) {
    const double inputs = model::is_gated(scope.job.transformer.activation) ? 2.0 : 1.0;
    const double elements = rows * width * load;
    block.stream("activation", bf16 * elements * (inputs + 1.0), bf16 * elements * (2.0 * inputs + 1.0), 1,
                 module::activation | products);
    // An unfused gated activation also holds the gate behind the non-linear function.
    const bool extra = inputs > 1.0 && !scope.job.fused_operators;
    block.keep(model::bytes_per_element(scope.job.activation_precision) * elements * inputs, products);
    block.keep(elements * (scope.card.element_bytes + (extra ? bf16 : 0.0)), module::activation | products);
    block.transient(2.0 * bf16 * elements);
}

/// How context parallelism deals the heads and queries of a card's attention core.
struct ContextShare {
    double all_to_all = 1.0;  ///< ranks that exchange heads for sequence
    double others = 1.0;      ///< ranks whose keys and values are fetched
};

ContextShare context_share(const Scope& scope) noexcept {
    const double ranks = scope.key.context_parallel;
    const double exchanging = scope.job.methods.all_to_all_ranks(scope.key.context_parallel);
    return {exchanging, ranks / exchanging};
}

Seconds core_time(const Scope& scope, const compute::AttentionShape& shape) noexcept {
    return scope.job.flash_attention ? compute::flash_attention_time(shape, scope.card)
                                     : compute::unfused_attention_time(shape, scope.card);
}

/// Widths of a token's queries, keys with values, and output on the card, elements.
struct CoreWidths {
    double query = 0.0, key_value = 0.0, output = 0.0;
};

/// Keys and values of the other context-parallel ranks: gathered forward and again backward, gradients scattered.
void add_gathered_context(BlockBuilder& block, const Scope& scope, double key_value_width, GraphRecorder::Place core) {
    const double elements = scope.tokens * scope.key.context_parallel * key_value_width;
    const Seconds gather = comm::all_gather_time(Bytes{bf16 * elements}, scope.context, scope.links);
    const auto one = [&](const char* name, CollectiveKind kind) {
        Collective call{name, kind, GroupName::context, scope.context.size, Bytes{bf16 * elements}, gather};
        call.place = core;
        return call;
    };
    block.communicate(Part::cp_comm, {one("gather_keys_values", CollectiveKind::all_gather)},
                      {one("gather_keys_values", CollectiveKind::all_gather),
                       one("scatter_key_value_gradients", CollectiveKind::reduce_scatter)});
}

/// Keys and values travel round a ring of ranks under the core; backward their gradients travel with them. What sticks
/// out is what a step of the ring takes longer than the work on one rank's keys and values.
void add_ring_context(BlockBuilder& block, const Scope& scope, double key_value_width, double ranks, double stride,
                      Seconds core_forward, GraphRecorder::Place core) {
    if (ranks <= 1.0) return;
    const auto group =
        topology::place_group(static_cast<int>(ranks), static_cast<int>(stride), scope.links.domain_size);
    const comm::Link& link = group.inside_one_domain() ? scope.links.inside : scope.links.outside;
    const double bytes = bf16 * scope.tokens * key_value_width;
    const auto one = [&](const char* name, double message, GraphRecorder::Place place) {
        Collective call{name,
                        CollectiveKind::ring_exchange,
                        GroupName::context,
                        group.size,
                        Bytes{message},
                        comm::transfer_time(Bytes{message}, link)};
        call.count = ranks - 1.0;
        call.place = place;
        return call;
    };
    const double beside = (ranks - 1.0) / ranks;
    const double backward = scope.job.flash_attention ? compute::flash_backward_ratio : compute::unfused_backward_ratio;
    block.begin_branch(core + 1);
    block.communicate_under(Part::cp_comm, one("ring_keys_values", bytes, core + 1), core_forward * beside,
                            one("ring_keys_values_gradients", 2.0 * bytes, block.here()),
                            core_forward * (backward * beside));
    block.end_branch();
    block.transient(2.0 * bytes);
}

/// Heads are exchanged for sequence before the core and back behind it; fewer key/value heads than ranks are copied.
void add_exchanged_context(BlockBuilder& block, const Scope& scope, const CoreWidths& width, double ranks,
                           GraphRecorder::Place core) {
    if (ranks <= 1.0) return;
    const auto group =
        topology::place_group(static_cast<int>(ranks), scope.key.tensor_parallel, scope.links.domain_size);
    const auto one = [&](const char* name, double columns, GraphRecorder::Place place) {
        const Bytes message{bf16 * scope.tokens * columns};
        Collective call{name,
                        CollectiveKind::all_to_all,
                        GroupName::context,
                        group.size,
                        message,
                        comm::all_to_all_time(message, group, scope.links)};
        call.place = place;
        return call;
    };
    const double in = width.query + width.key_value;
    block.communicate(Part::cp_comm,
                      {one("exchange_heads", in, core), one("exchange_sequence", width.output, block.here())},
                      {one("exchange_heads", width.output, block.here()), one("exchange_sequence", in, core)});
}

/// The core of `heads` heads with the communication of context parallelism around it. `width.key_value` of a rank that
/// exchanges heads counts the copies of key/value heads.
void add_core(BlockBuilder& block, const Scope& scope, double heads, const CoreWidths& width) {
    const model::Attention& a = scope.job.transformer.attention;
    const int layers = scope.job.transformer.num_layers;
    const ContextShare context = context_share(scope);
    const GraphRecorder::Place core = block.here();
    compute::AttentionShape shape{double(scope.key.micro_batch_size),
                                  double(scope.job.sequence_length),
                                  1.0 / context.others,
                                  heads / context.all_to_all,
                                  double(a.qk_dim()),
                                  double(a.value_dim())};
    const double sliding = a.sliding_window > 0 && layers > 0 ? double(a.num_sliding_layers) / layers : 0.0;
    Seconds time = core_time(scope, shape) * (1.0 - sliding);
    block.attention("attention_core", shape, 1.0 - sliding);
    shape.window = a.sliding_window;
    block.attention("sliding_attention_core", shape, sliding);
    if (sliding > 0.0) time += core_time(scope, shape) * sliding;
    // Stored scores: softmax output, dropout mask, dropout output (5 bytes). Flash keeps one 32-bit number a row.
    const double rows = scope.tokens * heads;
    if (scope.job.flash_attention)
        block.keep(4.0 * rows, module::attention_core);
    else
        block.keep(5.0 * rows * scope.job.sequence_length, module::attention_core);
    const double stride = scope.tp() * context.all_to_all;
    switch (scope.job.methods.context) {
        case model::ContextMethod::all_gather:
            add_gathered_context(block, scope, width.key_value, core);
            break;
        case model::ContextMethod::ring:
        case model::ContextMethod::ulysses:
        case model::ContextMethod::hybrid:
            add_exchanged_context(block, scope, width, context.all_to_all, core);
            add_ring_context(block, scope, width.key_value, context.others, stride, time, core);
            break;
    }
}

/// Modules whose recompute drops the output of the core, which the output product reads.
unsigned drops_core_output(const Scope& scope) noexcept {
    return scope.job.flash_attention ? module::attention_core : 0U;
}

void add_grouped_query_products(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const model::Attention& a = model.attention;
    const double h = model.hidden, t = scope.tokens, d = a.head_dim;
    const double heads = a.num_heads / scope.tp(), kv_heads = std::max(1.0, a.num_kv_heads / scope.tp());
    const compute::Gemm qkv{t, (heads + 2.0 * kv_heads) * d, h}, out{t, h, heads * d};
    const GraphRecorder::Place first = block.here();
    block.product("qkv_product", qkv, scope.card);
    block.stream("rotary", 2.0 * bf16 * t * (heads + kv_heads) * d, 2.0 * bf16 * t * (heads + kv_heads) * d, 2);
    const double copied = std::max(kv_heads, context_share(scope).all_to_all);
    add_core(block, scope, heads, {heads * d, 2.0 * copied * d, heads * d});
    block.product("output_product", out, scope.card);
    block.keep(bf16 * t * (heads + 2.0 * kv_heads) * d);
    block.keep(bf16 * t * heads * d, drops_core_output(scope));
    block.parameters(qkv.n * h + out.k * h + (model.biases ? qkv.n + h : 0.0));
    add_tensor_communication(block, scope, t * h, t * h, block.input_gradient_time(qkv), first);
}

void add_latent_products(BlockBuilder& block, const Scope& scope) {
    const model::Attention& a = scope.job.transformer.attention;
    const double h = scope.job.transformer.hidden, t = scope.tokens, own = scope.own_tokens;
    const double heads = a.num_heads / scope.tp(), q_latent = a.q_lora_rank;
    const double kv_latent = a.kv_lora_rank, down = q_latent + kv_latent + a.qk_rope_head_dim;
    const double q_width = heads * a.qk_dim(), v_width = heads * a.v_head_dim;
    const double kv_width = heads * (double(a.qk_nope_head_dim) + a.v_head_dim);
    block.product("latent_down_product", {own, down, h}, scope.card);
    block.stream("latent_norms", 2.0 * bf16 * own * (q_latent + kv_latent), 3.0 * bf16 * own * (q_latent + kv_latent),
                 2, module::up_projections);
    const compute::Gemm query{t, q_width, q_latent > 0.0 ? q_latent : h}, key_value{t, kv_width, kv_latent},
        out{t, h, v_width};
    const GraphRecorder::Place first = block.here();
    block.product("query_up_product", query, scope.card, module::up_projections);
    block.product("key_value_up_product", key_value, scope.card, module::up_projections);
    block.stream("rotary", 2.0 * bf16 * t * 2.0 * q_width, 2.0 * bf16 * t * 2.0 * q_width, 2, module::up_projections);
    add_core(block, scope, heads, {q_width, q_width + v_width, v_width});
    block.product("output_product", out, scope.card);
    block.keep(bf16 * (own * down));
    block.keep(bf16 * (t * v_width), drops_core_output(scope));
    block.keep(bf16 * (own * (q_latent + kv_latent) + t * (2.0 * q_width + v_width)), module::up_projections);
    block.parameters(h * down + q_latent + kv_latent + query.k * q_width + kv_latent * kv_width + v_width * h);
    const double gathered = q_latent > 0.0 ? down : h + down;
    add_tensor_communication(block, scope, t * gathered, t * h, block.input_gradient_time(query), first);
}

void add_ffn_products(BlockBuilder& block, const Scope& scope, double ffn, unsigned modules) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, t = scope.tokens, width = ffn / scope.tp();
    const double inputs = model::is_gated(model.activation) ? 2.0 : 1.0;
    const compute::Gemm up{t, inputs * width, h}, down{t, h, width};
    const GraphRecorder::Place first = block.here();
    block.product("up_product", up, scope.card, modules);
    add_activation(block, scope, t, width, modules);
    block.product("down_product", down, scope.card);
    block.parameters(up.n * h + width * h + (model.biases ? up.n + h : 0.0));
    add_tensor_communication(block, scope, t * h, t * h, block.input_gradient_time(up), first);
}

/// Around the products of the experts, which were added behind `first`.
void add_dispatch(BlockBuilder& block, const Scope& scope, double copies, double gathered_rows,
                  GraphRecorder::Place first) {
    const double h = scope.job.transformer.hidden;
    const double dispatch_width = scope.card.element_bytes < bf16 ? 1.0 : bf16;
    const double load = scope.job.methods.expert_imbalance;
    const auto exchange = [&](const char* name, double width, GraphRecorder::Place place) {
        const Bytes message{width * copies * h * load};
        Collective call{name,
                        CollectiveKind::all_to_all,
                        GroupName::expert,
                        scope.expert.size,
                        message,
                        comm::all_to_all_time(message, scope.expert, scope.links)};
        call.place = place;
        return call;
    };
    const Bytes rows{bf16 * gathered_rows * h * load};
    Collective over_expert_tensor{"gather_scatter_expert_rows",
                                  CollectiveKind::all_gather,
                                  GroupName::expert_tensor,
                                  scope.expert_tensor.size,
                                  rows,
                                  comm::all_gather_time(rows, scope.expert_tensor, scope.links)};
    over_expert_tensor.count = 2.0;
    over_expert_tensor.place = first;
    const GraphRecorder::Place last = block.here();
    block.communicate(
        Part::ep_comm,
        {exchange("dispatch", dispatch_width, first), exchange("combine", bf16, last), over_expert_tensor},
        {exchange("combine_gradients", bf16, last), exchange("dispatch_gradients", bf16, first), over_expert_tensor},
        module::experts);
}

}  // namespace

void add_attention(BlockBuilder& block, const Scope& scope) {
    add_norm(block, scope, scope.job.transformer.hidden, scope.card);
    if (scope.job.transformer.attention.kind == model::AttentionKind::mla)
        add_latent_products(block, scope);
    else
        add_grouped_query_products(block, scope);
    add_residual(block, scope);
}

void add_dense_ffn(BlockBuilder& block, const Scope& scope, double ffn) {
    add_norm(block, scope, scope.job.transformer.hidden, scope.card);
    add_ffn_products(block, scope, ffn, module::feed_forward);
    add_residual(block, scope);
}

void add_experts(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const model::Experts experts = model.experts.value_or(model::Experts{});
    const double h = model.hidden, own = scope.tokens / scope.tp(), k = experts.top_k;
    const double copies = own * k, rows = copies * scope.key.expert_tensor_parallel;
    const double local = double(experts.num_routed) / scope.key.expert_parallel;
    const double width = double(experts.ffn) / scope.key.expert_tensor_parallel;
    const double inputs = model::is_gated(model.activation) ? 2.0 : 1.0;
    const double load = scope.job.methods.expert_imbalance;
    add_norm(block, scope, h, scope.wide);
    const GraphRecorder::Place behind_norm = block.here();
    block.product("router_product", {own, double(experts.num_routed), h}, scope.wide, module::experts);
    block.parameters(h * experts.num_routed);
    block.keep(8.0 * own * experts.num_routed);
    block.host("routing", scope.job.efficiency.moe_routing);
    // Permutation by rank and by expert, and back: the token once, its copies five times.
    const double permuted = bf16 * h * (2.0 * own + 6.0 * copies);
    block.stream("permute", permuted, permuted, 4, module::experts);
    const GraphRecorder::Place first = block.here();
    block.grouped_product("experts_up_product", local, {rows / local, inputs * width, h}, scope.card, load,
                          module::experts);
    add_activation(block, scope, rows, width, module::experts, load);
    block.grouped_product("experts_down_product", local, {rows / local, h, width}, scope.card, load);
    add_dispatch(block, scope, copies, rows, first);
    // Input of the experts; routing weights are applied before the second product.
    block.keep(scope.card.element_bytes * rows * h * load, module::experts);
    block.expert_parameters(local * h * width * (inputs + 1.0));
    if (experts.shared_ffn > 0) {
        block.begin_branch(behind_norm);
        add_ffn_products(block, scope, experts.shared_ffn, module::experts);
        block.end_branch();
    }
    add_residual(block, scope);
}

void add_embedding(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, elements = scope.tokens * h;
    const double rows = double(model::padded_vocabulary(model, scope.key.tensor_parallel)) / scope.tp();
    block.stream("embedding", 2.0 * bf16 * elements, elements * (bf16 + 2.0 * scope.gradient_bytes), 1);
    block.parameters(rows * h + double(model.learned_positions) * h);
    using enum CollectiveKind;
    if (scope.key.sequence_parallel)
        block.communicate(Part::tp_comm, {over_tensor_ranks(scope, "scatter_embeddings", reduce_scatter, elements)},
                          {over_tensor_ranks(scope, "gather_gradients", all_gather, elements)});
    else
        block.communicate(Part::tp_comm, {over_tensor_ranks(scope, "reduce_embeddings", all_reduce, elements)}, {});
}

void add_head(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, t = scope.tokens;
    const double rows = double(model::padded_vocabulary(model, scope.key.tensor_parallel)) / scope.tp();
    add_norm(block, scope, h, scope.wide);
    const compute::Gemm logits{t, rows, h};
    const GraphRecorder::Place first = block.here();
    block.product("logits_product", logits, scope.wide);
    // Loss: reads 16-bit logits for the maximum and again for the sum, writes 32-bit probabilities; backward reads
    // those and writes the 16-bit gradient.
    block.stream("cross_entropy", 8.0 * t * rows, 6.0 * t * rows, 2);
    block.logits((scope.job.fused_operators ? 6.0 : 12.0) * t * rows);
    if (!model.tied_embeddings || scope.key.pipelined) block.parameters(rows * h);
    using enum CollectiveKind;
    if (scope.key.sequence_parallel)
        block.communicate(Part::tp_comm, {over_tensor_ranks(scope, "gather_input", all_gather, t * h, first)},
                          {over_tensor_ranks(scope, "scatter_input_gradient", reduce_scatter, t * h, first)});
    else
        block.communicate(Part::tp_comm, {},
                          {over_tensor_ranks(scope, "reduce_input_gradient", all_reduce, t * h, first)});
}

void add_mtp_projection(BlockBuilder& block, const Scope& scope) {
    const double h = scope.job.transformer.hidden;
    add_norm(block, scope, h, scope.card);
    add_norm(block, scope, h, scope.card);
    const GraphRecorder::Place first = block.here();
    block.product("mtp_product", {scope.tokens, h / scope.tp(), 2.0 * h}, scope.card);
    block.parameters(2.0 * h * h / scope.tp());
    using enum CollectiveKind;
    const double elements = scope.tokens * h;
    block.communicate(Part::tp_comm,
                      {over_tensor_ranks(scope, "gather_input", all_gather, elements, first),
                       over_tensor_ranks(scope, "gather_output", all_gather, elements)},
                      {over_tensor_ranks(scope, "scatter_input_gradient", reduce_scatter, elements, first),
                       over_tensor_ranks(scope, "scatter_output_gradient", reduce_scatter, elements)});
}

}  // namespace windtunnel::train
