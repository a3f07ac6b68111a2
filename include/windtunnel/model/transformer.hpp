#pragma once
/// The structure of a decoder-only transformer, as its published configuration gives it.
#include <cstdint>
#include <optional>
#include <string>

namespace windtunnel::model {

enum class AttentionKind { mha, mqa, gqa, mla };
enum class Activation { swiglu, geglu, gelu, relu, squared_relu };

/// swiglu and geglu have three weight matrices per feed-forward block, the others two.
[[nodiscard]] constexpr bool is_gated(Activation activation) noexcept {
    return activation == Activation::swiglu || activation == Activation::geglu;
}

/// Query/key/value structure. MLA uses the lora ranks and the *_head_dim fields; the others num_kv_heads and head_dim.
struct Attention {
    AttentionKind kind = AttentionKind::mha;
    int num_heads = 0;
    int num_kv_heads = 0;        ///< = num_heads for MHA and MLA, 1 for MQA
    int head_dim = 0;            ///< MHA, MQA, GQA
    int q_lora_rank = 0;         ///< MLA; 0: queries come straight from the hidden state
    int kv_lora_rank = 0;        ///< MLA
    int qk_nope_head_dim = 0;    ///< MLA
    int qk_rope_head_dim = 0;    ///< MLA
    int v_head_dim = 0;          ///< MLA
    int sliding_window = 0;      ///< tokens; 0: full attention everywhere
    int num_sliding_layers = 0;  ///< layers with the window; the rest attend fully
    /// Weights of a sparse-attention indexer and the like are not modelled: such models are not shipped.

    /// Width of a query/key head and of a value head.
    [[nodiscard]] constexpr int qk_dim() const noexcept {
        return kind == AttentionKind::mla ? qk_nope_head_dim + qk_rope_head_dim : head_dim;
    }
    [[nodiscard]] constexpr int value_dim() const noexcept {
        return kind == AttentionKind::mla ? v_head_dim : head_dim;
    }
};

/// Mixture of experts of the MoE layers.
struct Experts {
    int num_routed = 0;
    int top_k = 0;       ///< routed experts per token
    int ffn = 0;         ///< intermediate size of one routed expert
    int shared_ffn = 0;  ///< intermediate size of all shared experts together; 0: none
};

struct Transformer {
    std::string name;
    int num_layers = 0;
    int num_dense_layers = 0;  ///< leading layers without experts; = num_layers for dense models
    int moe_layer_step = 1;    ///< after the leading dense layers, every n-th layer has experts
    int hidden = 0;
    int ffn = 0;  ///< intermediate size of dense layers; 0 where every layer has experts
    Attention attention;
    std::optional<Experts> experts;
    int vocabulary = 0;         ///< as published; padding is a matter of the layout
    int padded_vocabulary = 0;  ///< rows that are stored; 0: the next multiple of 128 x tp (model/layout_rules.hpp)
    Activation activation = Activation::swiglu;
    bool tied_embeddings = false;
    bool biases = false;
    int learned_positions = 0;  ///< rows of a learned position table; 0: none (rotary, ALiBi)
    int num_mtp_layers = 0;     ///< multi-token-prediction modules behind the last layer

    [[nodiscard]] bool layer_has_experts(int layer) const noexcept {
        return experts && layer >= num_dense_layers &&
               (layer - num_dense_layers) % moe_layer_step == moe_layer_step - 1;
    }
    [[nodiscard]] int num_moe_layers() const noexcept;
};

/// Parameter counts by part. Formula: weights of attention, feed-forward, router, input and output embedding (counted
/// once when tied); norms, biases and MTP modules apart, so that `total()` compares with the printed checks.
struct ParameterCount {
    std::int64_t attention_per_layer = 0;
    std::int64_t dense_ffn_per_layer = 0;
    std::int64_t expert = 0;  ///< one routed expert
    std::int64_t shared_experts_per_layer = 0;
    std::int64_t router_per_layer = 0;
    std::int64_t input_embedding = 0;
    std::int64_t output_embedding = 0;  ///< 0 when tied
    std::int64_t positions = 0;         ///< learned position table
    std::int64_t norms_and_biases = 0;  ///< whole model
    std::int64_t mtp = 0;               ///< all MTP modules: one MoE or dense layer + 2 h x h projection each
    std::int64_t layers = 0;            ///< all layers: attention, feed-forward, router, all experts
    std::int64_t active_layers = 0;     ///< the same with top_k instead of all routed experts

    /// attention + ffn + router + embeddings, as `derived_check` of the published tables counts.
    [[nodiscard]] std::int64_t total() const noexcept { return layers + input_embedding + output_embedding; }
    [[nodiscard]] std::int64_t activated() const noexcept { return active_layers + input_embedding + output_embedding; }
};

/// Source: Pangu Ultra MoE, DeepSeek-V3 and Llama 3 reports; checked against 90 published totals in the tests.
[[nodiscard]] ParameterCount parameter_count(const Transformer& model);

/// Key/value cache elements per token over all layers (MLA: latent + rope part).
[[nodiscard]] std::int64_t kv_elements_per_token(const Transformer& model);

}  // namespace windtunnel::model
