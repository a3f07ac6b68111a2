#pragma once
/// The operators of the blocks of a decoder-only transformer, each added to a BlockBuilder.
#include "windtunnel/train/block_builder.hpp"

namespace windtunnel::train {

/// Norm, query/key/value products, rotary positions, attention core, output product, residual; tensor- and
/// context-parallel communication.
///
/// Model:   heads are split over tp; key/value heads are copied where there are fewer than tp; with sequence
/// parallelism an
///          all-gather before and a reduce-scatter behind, in both passes, else one all-reduce each; context
///          parallelism gathers keys and values of the other ranks and scatters their gradients.
/// Limits:  queries of a context-parallel rank are dealt so that causal work is even; down-projections of latent
/// attention are
///          copied over tp and work on the rank's own tokens (Megatron-Core).
/// Source:  Korthikanti et al., 2022; DeepSeek-V2 and V3 reports; Megatron-Core.
void add_attention(BlockBuilder& block, const Scope& scope);

/// Norm, feed-forward block of width `ffn` over tp, residual.
void add_dense_ffn(BlockBuilder& block, const Scope& scope, double ffn);

/// Norm, router, dispatch all-to-all, grouped products of the local experts, combine all-to-all, shared experts,
/// residual.
///
/// Model:   each tensor rank dispatches its own tokens (sequence parallelism); k copies of a token travel; balanced
/// routing. Limits:  no dropped tokens, no merging of copies for one node; 8-bit dispatch when the job's products are 8
/// bit. Source:  Megatron-Core all-to-all dispatcher; DeepSeek-V3 report, section 3.2.
void add_experts(BlockBuilder& block, const Scope& scope);

/// Table look-up and its sum over vocabulary shards; table rows padded (model/layout_rules.hpp).
void add_embedding(BlockBuilder& block, const Scope& scope);

/// Final norm, output product in 16 bit over vocabulary shards, cross-entropy.
///
/// Model:   6 bytes are held per logit: 16-bit logits, which become their gradient, and 32-bit softmax; 12 without
/// fused
///          operators: also the 32-bit logits and the 32-bit gradient, less what they replace.
/// Source:  fused vocabulary-parallel cross-entropy of Megatron-Core, checked against SimuMax's measured last stages;
/// 12:
///          TorchTitan and Megatron-LM before that.
void add_head(BlockBuilder& block, const Scope& scope);

/// The two norms and the 2h x h product in front of a multi-token-prediction layer. Source: DeepSeek-V3 report, 2.2.
void add_mtp_projection(BlockBuilder& block, const Scope& scope);

}  // namespace windtunnel::train
