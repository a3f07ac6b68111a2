#pragma once
/// From a plan to a system that can be run: costs, rules, blocks and links of each part, or why it cannot work.
///
/// Model:   pipeline stages of an instance take turns: as many groups of sequences as stages, each with its share of
/// the
///          seats and blocks, and the latency of the whole pipeline. The cache of a prompt goes from every card of the
///          prefill rank to every card of the decode rank over the link that both share: within one scale-up domain
///          where the whole deployment fits into one, else between domains.
/// Inputs:  a plan with [serve]; efficiencies of the engine on its card.
/// Returns: SystemSetup with facts for people; `problem` where the weights or the longest request do not fit.
/// Limits:  all instances of a part are alike.
/// Source:  derived here; block arithmetic of kv_size.hpp.
#include <string>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/serve/engine_cost.hpp"
#include "windtunnel/serve/system.hpp"

namespace windtunnel::serve {

/// One card of a part.
struct PartMemory {
    Bytes card, usable, weights, activations, runtime;
    Bytes block;                      ///< of a KV block on a card
    double kv_bytes_per_token = 0.0;  ///< on a card
    std::int64_t num_blocks = 0;      ///< of a data-parallel rank, the null block included
    std::int64_t tokens = 0;          ///< that they hold
    bool given = false;               ///< the plan gives the number of blocks
};

struct PlanSystem {
    SystemSetup setup;
    PartMemory memory;
    std::optional<PartMemory> prefill_memory;
    std::string problem;  ///< empty: it can work
    std::int64_t cards = 0, prefill_cards = 0;
    std::string policy;  ///< whose rules the batches follow, with the version
    [[nodiscard]] bool feasible() const noexcept { return problem.empty(); }
};

[[nodiscard]] PlanSystem plan_system(const model::Plan& plan, const model::EngineEfficiency& efficiency);
[[nodiscard]] std::string policy_text(const model::Deployment& deployment);

}  // namespace windtunnel::serve
