#include "windtunnel/compute/attention.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {

FlopsPerToken flops_per_token(const model::Transformer& transformer, int sequence_length) {
    const model::ParameterCount count = model::parameter_count(transformer);
    const model::Attention& a = transformer.attention;
    const double head = double(transformer.vocabulary) * transformer.hidden;
    double weights = double(count.active_layers) + head;
    if (transformer.num_mtp_layers > 0) {
        const bool moe = transformer.num_moe_layers() > 0;
        const double idle =
            moe ? double(transformer.experts->num_routed - transformer.experts->top_k) * double(count.expert) : 0.0;
        weights += double(count.mtp) + transformer.num_mtp_layers * (head - idle);
    }
    const double width = double(a.num_heads) * (a.qk_dim() + a.value_dim());
    const double all_layers = double(transformer.num_layers) + transformer.num_mtp_layers;
    const double sliding = a.sliding_window > 0 ? a.num_sliding_layers : 0.0;
    const double length = sequence_length;
    const double pairs = (all_layers - sliding) * compute::causal_pairs(length, 0.0) +
                         sliding * compute::causal_pairs(length, a.sliding_window);
    FlopsPerToken flops;
    flops.weights = 6.0 * weights;
    flops.attention_causal = length > 0.0 ? 6.0 * width * pairs / length : 0.0;
    flops.attention_full = 2.0 * flops.attention_causal;
    return flops;
}

}  // namespace windtunnel::train
