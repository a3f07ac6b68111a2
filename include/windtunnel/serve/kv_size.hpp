#pragma once
/// Memory of an engine instance: weights, key/value cache, number of blocks.
#include <cstdint>

#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/transformer.hpp"

namespace windtunnel::serve {

/// Cache elements of a token, all layers, on one card of a tensor-parallel group.
///
/// Model:   key/value heads are split over tensor ranks until each rank has one; MLA keeps the whole latent everywhere.
/// Inputs:  tensor_parallel >= 1. Returns: elements.
/// Limits:  layers with a sliding window count in full, as an engine with one block table holds them.
/// Source:  vLLM's arithmetic of a block; model::kv_elements_per_token for one card.
[[nodiscard]] double kv_elements_of_card(const model::Transformer& transformer, int tensor_parallel) noexcept;

/// Bytes of weights on the fullest card of the instance.
///
/// Model:   attention and dense feed-forward over tensor ranks, experts over expert ranks, layers over pipeline stages,
///          embedding and head in 16 bit over tensor ranks, on the first and last stage (both where there is one).
/// Inputs:  degrees >= 1. Returns: bytes. Limits: norms and biases left out. Source: derived here.
[[nodiscard]] Bytes weight_bytes(const model::Transformer& transformer, const model::EngineLayout& layout,
                                 const model::EngineNumbers& numbers);

/// What the engine keeps free beside weights and cache.
struct MemoryUse {
    double utilisation = 0.9;  ///< share of the card's memory that the engine may take
    Bytes activations{2.0e9};  ///< peak of a profiling run at the token budget
    Bytes graphs{1.0e9};       ///< captured graphs and communication buffers
};

/// Peak of the activations of a step of `tokens`: hidden states, one feed-forward or routed expert inner state, logits
/// of `outputs` rows, 16 bit (32 bit logits).
[[nodiscard]] Bytes activation_bytes(const model::Transformer& transformer, const model::EngineLayout& layout,
                                     double tokens, double outputs) noexcept;

/// Blocks of `block_tokens` tokens that fit: floor((memory x utilisation - weights - activations - graphs) / block).
///
/// Model:   the arithmetic of vLLM's profiling run. Inputs: block_tokens >= 1.
/// Returns: blocks, >= 0 (0: the weights alone do not fit).
/// Limits:  fragmentation of the allocator is inside `utilisation`. Source: vLLM V1, kv_cache_utils.
[[nodiscard]] std::int64_t num_kv_blocks(const model::Transformer& transformer, const model::Accelerator& accelerator,
                                         const model::EngineLayout& layout, const model::EngineNumbers& numbers,
                                         const MemoryUse& use, int block_tokens);

}  // namespace windtunnel::serve
