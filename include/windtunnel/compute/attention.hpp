#pragma once
/// The attention core: scores, softmax and the weighted sum of values.
#include "windtunnel/compute/card.hpp"

namespace windtunnel::compute {

/// Heads of one card over whole sequences; `query_share` is the part of each sequence's query positions that the card
/// has (1/cp, dealt so that causal work is even).
struct AttentionShape {
    double sequences = 1.0;
    double length = 0.0;  ///< tokens of a sequence
    double query_share = 1.0;
    double heads = 0.0;
    double qk_dim = 0.0, value_dim = 0.0;
    double window = 0.0;  ///< sliding window, tokens; 0: all positions before
};

/// Query-key pairs of one head and sequence under the causal mask, counted as half of the square; with a window w below
/// the length s: s w - w^2/2.
[[nodiscard]] double causal_pairs(double length, double window) noexcept;

/// Forward work, causal: 2 pairs (qk_dim + value_dim) per head. Backward does twice that (model FLOPs).
[[nodiscard]] Flops attention_flops(const AttentionShape& shape) noexcept;

/// Forward time of flash attention, without the launch.
///
/// Model:   causal work over attention fraction x 16-bit peak; narrow heads lose d/(d + 32) relative to 128.
/// Inputs:  as the struct says. Returns: time, >= 0. Backward takes 2.5 times as long (scores are computed again).
/// Limits:  blocks on the diagonal count half; wide heads gain nothing.
/// Source:  Dao, FlashAttention-2, 2023 (2.5: its backward FLOP count); the head-size loss is derived here.
[[nodiscard]] Seconds flash_attention_time(const AttentionShape& shape, const Card& card) noexcept;
inline constexpr double flash_backward_ratio = 2.5;

/// Forward time of attention as batched products with stored scores (no mask is skipped), without launches.
///
/// Model:   full square of products at the attention fraction, plus 11 bytes per score: softmax reads and writes 16 bit
/// (4),
///          dropout reads, writes and keeps a mask (5), the second product reads (2). Backward takes twice as long.
/// Inputs, returns: as above. Limits: fused scale, mask and softmax. Source: Korthikanti et al., 2022, section 4.
[[nodiscard]] Seconds unfused_attention_time(const AttentionShape& shape, const Card& card) noexcept;
inline constexpr double unfused_backward_ratio = 2.0;
/// Heads whose width is no multiple of 8 elements (16 bytes) miss the matrix units: the products run at this part of
/// their rate. Source: alignment rule of cuBLAS; 16-bit peaks without and with matrix units, 78 and 312 TFLOP/s (A100).
/// Assumed: fewer than five fitted rows have such heads, so no fit moves it.
inline constexpr double unaligned_rate = 0.25;

}  // namespace windtunnel::compute
