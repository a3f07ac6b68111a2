#include "windtunnel/train/layer_operators.hpp"

#include <algorithm>

#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::train {
namespace {

constexpr double bf16 = 2.0;  // bytes of an activation

Seconds tensor_gather_time(const Scope& scope, double elements) {
    return comm::all_gather_time(Bytes{bf16 * elements}, scope.tensor, scope.links);
}

/// Communication around a pair of column- and row-parallel products: `gathered` elements in, `scattered` out, and back.
void add_tensor_communication(BlockBuilder& block, const Scope& scope, double gathered, double scattered,
                              Seconds input_gradient) {
    const Seconds in = tensor_gather_time(scope, gathered), out = tensor_gather_time(scope, scattered);
    if (scope.key.sequence_parallel) {
        block.communicate(Part::tp_comm, in + out, in + out);
        block.regather(in, input_gradient);
    } else {
        block.communicate(Part::tp_comm, out + out, in + in);
    }
}

/// A norm on the rank's own tokens: its input is held, and its output in the precision of the product that reads it.
void add_norm(BlockBuilder& block, const Scope& scope, double width, const compute::Card& reader) {
    const double elements = scope.own_tokens * width;
    block.stream(2.0 * bf16 * elements, 3.0 * bf16 * elements, 1, Rerun::cheap);
    block.keep(bf16 * elements);
    block.keep_cheap(reader.element_bytes * elements);
    block.parameters(scope.job.transformer.biases ? 2.0 * width : width);
}

/// Stacks without flash attention or fused operators train with dropout; its masks are held.
bool has_dropout(const Job& job) noexcept {
    return !job.flash_attention || !job.fused_operators;
}

/// Residual addition, with the dropout mask where there is one.
void add_residual(BlockBuilder& block, const Scope& scope) {
    const double elements = scope.own_tokens * scope.job.transformer.hidden;
    block.stream(3.0 * bf16 * elements, 3.0 * bf16 * elements, 1);
    if (has_dropout(scope.job)) block.keep(elements);
}

/// Activation function between two products; `width` of its output on this card. It holds
/// its inputs (two when gated) and its output, which is cheap. Inputs stored in 8 bit are written once more forward and
/// read narrow backward: the time stays.
void add_activation(BlockBuilder& block, const Scope& scope, double rows, double width) {
    const double inputs = model::is_gated(scope.job.transformer.activation) ? 2.0 : 1.0;
    const double elements = rows * width;
    block.stream(bf16 * elements * (inputs + 1.0), bf16 * elements * (2.0 * inputs + 1.0), 1, Rerun::cheap);
    // An unfused gated activation also holds the gate behind the non-linear function.
    const bool extra = inputs > 1.0 && !scope.job.fused_operators;
    block.keep(model::bytes_per_element(scope.job.activation_precision) * elements * inputs);
    block.keep_cheap(elements * (scope.card.element_bytes + (extra ? bf16 : 0.0)));
    block.transient(2.0 * bf16 * elements);
}

void add_core(BlockBuilder& block, const Scope& scope, double heads) {
    const model::Attention& a = scope.job.transformer.attention;
    const int layers = scope.job.transformer.num_layers;
    compute::AttentionShape shape{double(scope.key.micro_batch_size),
                                  double(scope.job.sequence_length),
                                  1.0 / scope.key.context_parallel,
                                  heads,
                                  double(a.qk_dim()),
                                  double(a.value_dim())};
    const double sliding = a.sliding_window > 0 && layers > 0 ? double(a.num_sliding_layers) / layers : 0.0;
    block.attention(shape, 1.0 - sliding);
    shape.window = a.sliding_window;
    block.attention(shape, sliding);
    // Stored scores: softmax output, dropout mask, dropout output (5 bytes). Flash keeps one 32-bit number a row.
    const double rows = scope.tokens * heads;
    if (scope.job.flash_attention)
        block.keep(4.0 * rows);
    else
        block.keep_core(5.0 * rows * scope.job.sequence_length);
}

/// Keys and values of the other context-parallel ranks: gathered forward and again backward, gradients scattered.
void add_context_communication(BlockBuilder& block, const Scope& scope, double key_value_width) {
    const double elements = scope.tokens * scope.key.context_parallel * key_value_width;
    const Seconds gather = comm::all_gather_time(Bytes{bf16 * elements}, scope.context, scope.links);
    block.communicate(Part::cp_comm, gather, 2.0 * gather);
}

void add_grouped_query_products(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const model::Attention& a = model.attention;
    const double h = model.hidden, t = scope.tokens, d = a.head_dim;
    const double heads = a.num_heads / scope.tp(), kv_heads = std::max(1.0, a.num_kv_heads / scope.tp());
    const compute::Gemm qkv{t, (heads + 2.0 * kv_heads) * d, h}, out{t, h, heads * d};
    block.product(qkv, scope.card);
    block.stream(2.0 * bf16 * t * (heads + kv_heads) * d, 2.0 * bf16 * t * (heads + kv_heads) * d, 2);
    add_core(block, scope, heads);
    block.product(out, scope.card);
    block.keep(bf16 * t * (2.0 * heads + 2.0 * kv_heads) * d);
    block.parameters(qkv.n * h + out.k * h + (model.biases ? qkv.n + h : 0.0));
    add_tensor_communication(block, scope, t * h, t * h, block.input_gradient_time(qkv));
    add_context_communication(block, scope, 2.0 * kv_heads * d);
}

void add_latent_products(BlockBuilder& block, const Scope& scope) {
    const model::Attention& a = scope.job.transformer.attention;
    const double h = scope.job.transformer.hidden, t = scope.tokens, own = scope.own_tokens;
    const double heads = a.num_heads / scope.tp(), q_latent = a.q_lora_rank;
    const double kv_latent = a.kv_lora_rank, down = q_latent + kv_latent + a.qk_rope_head_dim;
    const double q_width = heads * a.qk_dim(), v_width = heads * a.v_head_dim;
    const double kv_width = heads * (double(a.qk_nope_head_dim) + a.v_head_dim);
    block.product({own, down, h}, scope.card);
    block.stream(2.0 * bf16 * own * (q_latent + kv_latent), 3.0 * bf16 * own * (q_latent + kv_latent), 2, Rerun::cheap);
    const compute::Gemm query{t, q_width, q_latent > 0.0 ? q_latent : h}, key_value{t, kv_width, kv_latent},
        out{t, h, v_width};
    block.product(query, scope.card, Rerun::cheap);
    block.product(key_value, scope.card, Rerun::cheap);
    block.stream(2.0 * bf16 * t * 2.0 * q_width, 2.0 * bf16 * t * 2.0 * q_width, 2, Rerun::cheap);
    add_core(block, scope, heads);
    block.product(out, scope.card);
    block.keep(bf16 * (own * down + t * v_width));
    block.keep_cheap(bf16 * (own * (q_latent + kv_latent) + t * (2.0 * q_width + v_width)));
    block.parameters(h * down + q_latent + kv_latent + query.k * q_width + kv_latent * kv_width + v_width * h);
    const double gathered = q_latent > 0.0 ? down : h + down;
    add_tensor_communication(block, scope, t * gathered, t * h, block.input_gradient_time(query));
    add_context_communication(block, scope, q_width + v_width);
}

void add_ffn_products(BlockBuilder& block, const Scope& scope, double ffn) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, t = scope.tokens, width = ffn / scope.tp();
    const double inputs = model::is_gated(model.activation) ? 2.0 : 1.0;
    const compute::Gemm up{t, inputs * width, h}, down{t, h, width};
    block.product(up, scope.card);
    add_activation(block, scope, t, width);
    block.product(down, scope.card);
    block.parameters(up.n * h + width * h + (model.biases ? up.n + h : 0.0));
    add_tensor_communication(block, scope, t * h, t * h, block.input_gradient_time(up));
}

void add_dispatch(BlockBuilder& block, const Scope& scope, double copies, double gathered_rows) {
    const double h = scope.job.transformer.hidden;
    const double dispatch_width = scope.card.element_bytes < bf16 ? 1.0 : bf16;
    const Seconds dispatch = comm::all_to_all_time(Bytes{dispatch_width * copies * h}, scope.expert, scope.links);
    const Seconds combine = comm::all_to_all_time(Bytes{bf16 * copies * h}, scope.expert, scope.links);
    const Seconds over_expert_tensor =
        comm::all_gather_time(Bytes{bf16 * gathered_rows * h}, scope.expert_tensor, scope.links);
    block.communicate(Part::ep_comm, dispatch + combine + 2.0 * over_expert_tensor,
                      2.0 * combine + 2.0 * over_expert_tensor);
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
    add_ffn_products(block, scope, ffn);
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
    add_norm(block, scope, h, scope.wide);
    block.product({own, double(experts.num_routed), h}, scope.wide);
    block.parameters(h * experts.num_routed);
    block.keep(8.0 * own * experts.num_routed);
    block.host(scope.job.efficiency.moe_routing);
    // Permutation by rank and by expert, and back: the token once, its copies five times.
    const double permuted = bf16 * h * (2.0 * own + 6.0 * copies);
    block.stream(permuted, permuted, 4);
    add_dispatch(block, scope, copies, rows);
    block.grouped_product(local, {rows / local, inputs * width, h}, scope.card);
    add_activation(block, scope, rows, width);
    block.grouped_product(local, {rows / local, h, width}, scope.card);
    block.keep(scope.card.element_bytes * rows *
               h);  // input of the experts; routing weights are applied before the second product
    block.expert_parameters(local * h * width * (inputs + 1.0));
    if (experts.shared_ffn > 0) add_ffn_products(block, scope, experts.shared_ffn);
    add_residual(block, scope);
}

void add_embedding(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, elements = scope.tokens * h;
    const double rows = double(model::padded_vocabulary(model, scope.key.tensor_parallel)) / scope.tp();
    block.stream(2.0 * bf16 * elements, elements * (bf16 + 2.0 * scope.gradient_bytes), 1);
    block.parameters(rows * h + double(model.learned_positions) * h);
    const Seconds scatter = tensor_gather_time(scope, elements);
    if (scope.key.sequence_parallel)
        block.communicate(Part::tp_comm, scatter, scatter);
    else
        block.communicate(Part::tp_comm, scatter + scatter, Seconds{0.0});
}

void add_head(BlockBuilder& block, const Scope& scope) {
    const model::Transformer& model = scope.job.transformer;
    const double h = model.hidden, t = scope.tokens;
    const double rows = double(model::padded_vocabulary(model, scope.key.tensor_parallel)) / scope.tp();
    add_norm(block, scope, h, scope.wide);
    const compute::Gemm logits{t, rows, h};
    block.product(logits, scope.wide);
    // Loss: reads 16-bit logits for the maximum and again for the sum, writes 32-bit probabilities; backward reads
    // those and writes the 16-bit gradient.
    block.stream(8.0 * t * rows, 6.0 * t * rows, 2);
    block.logits((scope.job.fused_operators ? 6.0 : 12.0) * t * rows);
    if (!model.tied_embeddings || scope.key.pipelined) block.parameters(rows * h);
    const Seconds gather = tensor_gather_time(scope, t * h);
    if (scope.key.sequence_parallel)
        block.communicate(Part::tp_comm, gather, gather);
    else
        block.communicate(Part::tp_comm, Seconds{0.0}, gather + gather);
}

void add_mtp_projection(BlockBuilder& block, const Scope& scope) {
    const double h = scope.job.transformer.hidden;
    add_norm(block, scope, h, scope.card);
    add_norm(block, scope, h, scope.card);
    block.product({scope.tokens, h / scope.tp(), 2.0 * h}, scope.card);
    block.parameters(2.0 * h * h / scope.tp());
    const Seconds gather = tensor_gather_time(scope, scope.tokens * h);
    block.communicate(Part::tp_comm, 2.0 * gather, 2.0 * gather);
}

}  // namespace windtunnel::train
