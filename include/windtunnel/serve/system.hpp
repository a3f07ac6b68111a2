#pragma once
/// A deployment under a load, event by event.
///
/// Model:   arrivals, transfers and steps in the order of their times; of equal times arrivals first, then transfers,
///          then instances by number. Routers see unfinished requests. A split deployment computes prompts in one part,
///          sends their cache over the links of the prefill rank, one after the other, and decodes in the other part.
///          Autoscaling looks at the requests in the system in equal intervals.
/// Inputs:  SystemSetup, a Load, seed and trial for the router.
/// Returns: RunMetrics; each request to `each` when it ends.
/// Limits:  a prefill rank frees its blocks when the prompt is done, as if the cache went out layer by layer.
/// Source:  derived here; Little's law and the conservation of tokens and blocks are asserted in every run.
#include <functional>
#include <optional>

#include "windtunnel/serve/instance.hpp"
#include "windtunnel/serve/load.hpp"
#include "windtunnel/serve/metrics.hpp"

namespace windtunnel::serve {

struct PartSetup {
    RankRules rules;
    int instances = 1;
    int ranks = 1;  ///< of an instance
    StepTimes times;
};

struct SystemSetup {
    PartSetup main;  ///< the whole deployment, or its decode part
    std::optional<PartSetup> prefill;
    Bytes transfer_per_token;           ///< cache of a token of the prompt, over all cards of the rank
    BytesPerSecond transfer_bandwidth;  ///< of a prefill rank
    Seconds transfer_latency;
    Seconds before_queue;  ///< from arrival until the scheduler can see a request: tokenizer, hand-over
    model::Routing routing = model::Routing::least_loaded;
    model::Autoscaling autoscaling;
    model::Slo slo;
    bool jump = true;  ///< false: step by step, the twin of the tests
};

[[nodiscard]] RunMetrics run_system(const SystemSetup& setup, Load& load, std::uint64_t seed, std::uint64_t trial,
                                    const std::function<void(const Served&)>& each = {});

}  // namespace windtunnel::serve
