#include "windtunnel/model/transformer.hpp"

namespace windtunnel::model {
namespace {

using Count = std::int64_t;

Count attention_weights(const Transformer& model) {
    const Attention& a = model.attention;
    const Count h = model.hidden, heads = a.num_heads;
    if (a.kind == AttentionKind::mla) {
        const Count query =
            a.q_lora_rank > 0 ? h * a.q_lora_rank + Count{a.q_lora_rank} * heads * a.qk_dim() : h * heads * a.qk_dim();
        const Count latent = h * (Count{a.kv_lora_rank} + a.qk_rope_head_dim);
        const Count key_value = Count{a.kv_lora_rank} * heads * (Count{a.qk_nope_head_dim} + a.v_head_dim);
        return query + latent + key_value + heads * a.v_head_dim * h;
    }
    return 2 * h * heads * a.head_dim + 2 * h * Count{a.num_kv_heads} * a.head_dim;
}

Count feed_forward_weights(const Transformer& model, Count ffn) {
    return (is_gated(model.activation) ? 3 : 2) * Count{model.hidden} * ffn;
}

/// Two norms per layer and a final one; MLA adds the norms of its latents; biases and LayerNorm shifts where present.
Count norm_and_bias_weights(const Transformer& model, Count moe_layers) {
    const Attention& a = model.attention;
    const Count h = model.hidden, layers = model.num_layers;
    Count sum = (2 * layers + 1) * h;
    if (a.kind == AttentionKind::mla) sum += layers * (Count{a.q_lora_rank} + a.kv_lora_rank);
    if (!model.biases) return sum;
    sum *= 2;
    const Count qkv = Count{a.num_heads} * a.qk_dim() + Count{a.num_kv_heads} * (Count{a.qk_dim()} + a.value_dim());
    const Count inner = is_gated(model.activation) ? 2 : 1;
    return sum + layers * (qkv + h) + (layers - moe_layers) * (inner * model.ffn + h);
}

}  // namespace

int Transformer::num_moe_layers() const noexcept {
    if (!experts || num_layers <= num_dense_layers || moe_layer_step < 1) return 0;
    return (num_layers - num_dense_layers) / moe_layer_step;
}

ParameterCount parameter_count(const Transformer& model) {
    ParameterCount count;
    const Count h = model.hidden, moe_layers = model.num_moe_layers(), dense_layers = model.num_layers - moe_layers;
    count.attention_per_layer = attention_weights(model);
    count.dense_ffn_per_layer = feed_forward_weights(model, model.ffn);
    Count all_experts = 0, used_experts = 0;
    if (model.experts) {
        count.expert = feed_forward_weights(model, model.experts->ffn);
        count.shared_experts_per_layer = feed_forward_weights(model, model.experts->shared_ffn);
        count.router_per_layer = h * model.experts->num_routed;
        const Count always = count.shared_experts_per_layer + count.router_per_layer;
        all_experts = always + model.experts->num_routed * count.expert;
        used_experts = always + model.experts->top_k * count.expert;
    }
    const Count common = model.num_layers * count.attention_per_layer + dense_layers * count.dense_ffn_per_layer;
    count.layers = common + moe_layers * all_experts;
    count.active_layers = common + moe_layers * used_experts;
    count.input_embedding = Count{model.vocabulary} * h;
    count.output_embedding = model.tied_embeddings ? 0 : count.input_embedding;
    count.positions = Count{model.learned_positions} * h;
    count.norms_and_biases = norm_and_bias_weights(model, moe_layers);
    const Count mtp_ffn = moe_layers > 0 ? all_experts : count.dense_ffn_per_layer;
    count.mtp = model.num_mtp_layers * (count.attention_per_layer + mtp_ffn + 2 * h * h);
    return count;
}

std::int64_t kv_elements_per_token(const Transformer& model) {
    const Attention& a = model.attention;
    if (a.kind == AttentionKind::mla) return Count{model.num_layers} * (Count{a.kv_lora_rank} + a.qk_rope_head_dim);
    return 2 * Count{model.num_layers} * a.num_kv_heads * a.head_dim;
}

}  // namespace windtunnel::model
