#include "windtunnel/serve/kv_size.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::serve {

double kv_elements_of_card(const model::Transformer& transformer, int tensor_parallel) noexcept {
    const model::Attention& a = transformer.attention;
    const double layers = transformer.num_layers;
    if (a.kind == model::AttentionKind::mla) return layers * (a.kv_lora_rank + a.qk_rope_head_dim);
    const double heads = std::max(1.0, static_cast<double>(a.num_kv_heads) / tensor_parallel);
    return 2.0 * layers * heads * a.head_dim;
}

Bytes weight_bytes(const model::Transformer& transformer, const model::EngineLayout& layout,
                   const model::EngineNumbers& numbers) {
    const model::ParameterCount count = model::parameter_count(transformer);
    const double tp = layout.tensor_parallel, pp = layout.pipeline_parallel;
    const double layers = std::ceil(transformer.num_layers / pp);
    const double moe_share = static_cast<double>(transformer.num_moe_layers()) / std::max(1, transformer.num_layers);
    const double dense = static_cast<double>(count.attention_per_layer) +
                         (1.0 - moe_share) * static_cast<double>(count.dense_ffn_per_layer) +
                         moe_share * static_cast<double>(count.shared_experts_per_layer);
    double routed = 0.0;
    if (transformer.experts)
        routed = moe_share * static_cast<double>(count.expert) *
                 std::ceil(static_cast<double>(transformer.experts->num_routed + layout.redundant_experts) /
                           layout.expert_parallel) /
                 layout.expert_tensor_parallel;
    const double tables = static_cast<double>(count.input_embedding) +
                          (layout.pipeline_parallel == 1 ? static_cast<double>(count.output_embedding) : 0.0);
    return Bytes{layers * (dense / tp * numbers.dense.bytes + routed * numbers.experts.bytes) + 2.0 * tables / tp};
}

Bytes activation_bytes(const model::Transformer& transformer, const model::EngineLayout& layout, double tokens,
                       double outputs) noexcept {
    const double tp = layout.tensor_parallel;
    const double gates = model::is_gated(transformer.activation) ? 3.0 : 1.0;
    double inner = gates * transformer.ffn / tp;
    if (transformer.experts)
        inner = std::max(
            inner, transformer.experts->top_k *
                       (gates * transformer.experts->ffn / layout.expert_tensor_parallel + 2.0 * transformer.hidden) *
                       layout.attention_data_parallel / layout.expert_parallel);
    const double logits = outputs * transformer.vocabulary / tp * 4.0;
    return Bytes{std::max(tokens * (4.0 * transformer.hidden + inner) * 2.0, logits)};
}

std::int64_t num_kv_blocks(const model::Transformer& transformer, const model::Accelerator& accelerator,
                           const model::EngineLayout& layout, const model::EngineNumbers& numbers, const MemoryUse& use,
                           int block_tokens) {
    const Bytes free = accelerator.memory * use.utilisation - weight_bytes(transformer, layout, numbers) -
                       use.activations - use.graphs;
    const double per_layer =
        kv_elements_of_card(transformer, layout.tensor_parallel) / std::max(1, transformer.num_layers);
    const double layers = std::ceil(static_cast<double>(transformer.num_layers) / layout.pipeline_parallel);
    const double block = per_layer * layers * numbers.kv_bytes * block_tokens;
    if (!(free.value() > 0.0) || !(block > 0.0)) return 0;
    return static_cast<std::int64_t>(std::min(std::floor(free.value() / block), 9.0e15));
}

}  // namespace windtunnel::serve
