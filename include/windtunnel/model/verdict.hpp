#pragma once
/// Why a design cannot be used: a value that is counted and stored, never an exception.
#include <string>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::model {

enum class VerdictReason {
    fits,  ///< usable
    more_cards_than_cluster,
    world_size_not_divisible,             ///< cards by tp x cp x pp
    expert_groups_not_divisible,          ///< cards by etp x ep x pp, or the groups do not fold into tp x cp x dp
    heads_not_divisible,                  ///< attention heads by tp
    kv_heads_not_divisible,               ///< key/value heads by tp (neither divides the other)
    ffn_not_divisible,                    ///< feed-forward size by tp (or expert size by etp)
    experts_not_divisible,                ///< routed experts by ep
    experts_without_moe,                  ///< ep or etp above 1 for a dense model
    vocabulary_not_divisible,             ///< a given padded vocabulary by tp, or smaller than the vocabulary
    layers_not_divisible,                 ///< layers by pp x vpp under the chosen split, or fewer layers than chunks
    virtual_stages_without_interleaving,  ///< vpp > 1 with a schedule that has no chunks, or a vpp that it cannot use
    odd_pipeline,                         ///< dualpipe: ranks in pairs
    micro_batches_not_divisible,          ///< interleaved: micro-batches by pp; dualpipe: by 2, and at least 2 pp
    batch_not_divisible,                  ///< global batch by micro-batch x dp, or smaller than that
    sequence_not_divisible,               ///< sequence by cp (2 x cp) or tp with sequence parallelism
    sharding_not_supported,               ///< ZeRO 2 or 3 together with a pipeline where the framework cannot
    precision_not_supported,              ///< the card has no such matrix unit
    out_of_memory,
    above_limit,  ///< of [search.limits]: parameters, money, power
};
inline constexpr int num_verdict_reasons = 20;

[[nodiscard]] std::string to_text(VerdictReason reason);  ///< the enum's spelling, for tables
[[nodiscard]] std::string explain(VerdictReason reason);  ///< one sentence for people

struct Verdict {
    VerdictReason reason = VerdictReason::fits;
    std::string detail;  ///< values and the nearest valid choices, or the stage and what is missing
    Bytes missing;       ///< out_of_memory: above the card's usable memory on the fullest stage
    int stage = -1;      ///< out_of_memory: that stage
    [[nodiscard]] bool feasible() const noexcept { return reason == VerdictReason::fits; }
};

}  // namespace windtunnel::model
