#pragma once
/// What one iteration of an engine computes, and what a cost model must answer about it.
///
/// Model:   an iteration is described by sums over its sequences, so that its cost takes the same time for one sequence
///          and for a thousand. Decode without arrivals is a line in the tokens that are read from the cache.
/// Units:   tokens, query-key pairs (one head, causal mask applied), seconds.
/// Source:  derived here; the sums are those that operators of an engine depend on (projections: tokens; attention of
///          prefill: pairs; attention of decode: cached tokens; output head: sequences that emit a token).
#include <concepts>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::serve {

/// One iteration of one engine instance (of one attention data-parallel rank where the instance has several).
struct StepLoad {
    int decode_sequences = 0;      ///< each computes `tokens_per_decode` query tokens
    double decode_context = 0.0;   ///< cached tokens that they read, summed
    int prefill_sequences = 0;     ///< chunks in the iteration
    double prefill_tokens = 0.0;   ///< tokens of the chunks, summed
    double prefill_context = 0.0;  ///< cached tokens before each chunk, summed over chunks
    double prefill_pairs = 0.0;    ///< query-key pairs, summed over chunks: c (context + (c + 1) / 2) for a chunk of c
    int outputs = 0;               ///< sequences that emit a token: decodes and chunks that end their prompt
};

/// Time of an iteration of `n` decodes and nothing else: fixed + per_context_token x decode_context.
struct DecodeLine {
    Seconds fixed;
    Seconds per_context_token;
};

/// A cost model: a value without state that changes. `decode_line(n)` gives what step_time() gives for n decodes, to
/// rounding; a model that is no line in the context says so with `linear_decode == false`, then every iteration is
/// computed.
template <class C>
concept StepCost = requires(const C& cost, const StepLoad& load, int sequences) {
    { cost.step_time(load) } -> std::same_as<Seconds>;
    { cost.decode_line(sequences) } -> std::same_as<DecodeLine>;
    { cost.linear_decode() } -> std::same_as<bool>;
};

}  // namespace windtunnel::serve
