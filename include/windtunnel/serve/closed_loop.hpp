#pragma once
/// Mean time to first token and per output token of a closed loop, without events: the fast twin of the event engine.
#include "windtunnel/serve/engine_cost.hpp"

namespace windtunnel::serve {

/// One attention data-parallel rank: `concurrency` requests are always in flight, each of `prompt` and `output` tokens.
struct ClosedLoop {
    double concurrency = 1.0;
    double prompt = 0.0, output = 1.0;  ///< mean tokens of a request, output > 0
    double token_budget = 8192.0;       ///< of a step
    double wave_share = 0.1;            ///< requests that start all at once, as the first ones of a run do
    double places = 1e9;                ///< sequences whose cache fits
};

struct ClosedLoopAnswer {
    Seconds first_token;    ///< mean, from sending the request
    Seconds per_token;      ///< mean over the output tokens behind the first
    double decoding = 0.0;  ///< sequences that decode at once
};

/// Model:   in the steady state a request decodes while the others bring one prompt each per cycle: the time per token
///          is a pure decode step plus the share of the prompts' steps that falls into it. The first token waits for
///          half a step, for prompts before it (M/D/1 wait at the prefill utilisation) and for its own steps. Requests
///          of the wave are prefilled one budget after the other; on average half of them come first.
/// Inputs:  as the struct says; tokens per step of speculation are those of the cost. Returns: seconds.
/// Limits:  lengths enter by their means; a full cache queues requests for whole turns; no prefix hits.
/// Source:  derived here; wait of M/D/1: Pollaczek-Khinchine.
[[nodiscard]] ClosedLoopAnswer closed_loop(const EngineCost& cost, const ClosedLoop& loop);

/// Time to prefill `sequences` prompts of `prompt` tokens in budgets, beside `decodes` sequences of `context` tokens.
[[nodiscard]] Seconds prefill_time(const EngineCost& cost, double sequences, double prompt, double budget,
                                   double decodes, double context);

/// All `requests` at once, none later: prefill, then decode together; beyond the places of the cache in turns.
[[nodiscard]] Seconds static_batch_time(const EngineCost& cost, double requests, double places, double prompt,
                                        double output, double budget);

/// One decode step of n sequences with `context` tokens each.
[[nodiscard]] Seconds decode_time(const EngineCost& cost, double sequences, double context);

}  // namespace windtunnel::serve
