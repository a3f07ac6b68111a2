#include "windtunnel/compute/attention.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/compute/gemm.hpp"

namespace windtunnel::compute {

double causal_pairs(double length, double window) noexcept {
    if (!(window > 0.0) || window >= length) return 0.5 * length * length;
    return length * window - 0.5 * window * window;
}

Flops attention_flops(const AttentionShape& shape) noexcept {
    const double pairs = shape.sequences * shape.query_share * causal_pairs(shape.length, shape.window);
    return Flops{2.0 * pairs * shape.heads * (shape.qk_dim + shape.value_dim)};
}

Seconds flash_attention_time(const AttentionShape& shape, const Card& card) noexcept {
    const double width = 0.5 * (shape.qk_dim + shape.value_dim);
    const double narrow = std::min(1.0, width / (width + 32.0) * (160.0 / 128.0));
    return attention_flops(shape) / (card.wide_peak * (card.attention * narrow));
}

Seconds unfused_attention_time(const AttentionShape& shape, const Card& card) noexcept {
    constexpr double bytes_per_score = 11.0;
    const double scores = shape.sequences * shape.query_share * shape.length * shape.length * shape.heads;
    const Flops work{2.0 * scores * (shape.qk_dim + shape.value_dim)};
    const bool aligned = std::fmod(shape.qk_dim, 8.0) == 0.0 && std::fmod(shape.value_dim, 8.0) == 0.0;
    const double rate = card.attention * (aligned ? 1.0 : unaligned_rate);
    return work / (card.wide_peak * rate) + streaming_time(Bytes{bytes_per_score * scores}, card);
}

}  // namespace windtunnel::compute
