#pragma once
/// What a pipeline rank does once a step beside its micro-batches: exchange of gradients and parameters over the
/// data-parallel ranks, and the optimizer.
#include "windtunnel/model/layout.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::train {

/// Parameters that one card of a pipeline rank holds.
struct HeldParameters {
    double dense = 0.0;   ///< replicated over dp x cp
    double expert = 0.0;  ///< replicated over edp
};

/// Ranks that share out states, and how many such groups hold the same ones. Without a shard group of the plan: all
/// ranks that hold a copy, in one group. Experts: the largest group that divides both.
struct ShardGroups {
    int ranks = 1, expert_ranks = 1;
    int replicas = 1, expert_replicas = 1;
};
[[nodiscard]] ShardGroups shard_groups(const Job& job, const model::Layout& layout) noexcept;

/// Work of one micro-batch under which an exchange can hide.
struct HidingWindow {
    Seconds forward, backward;
};

/// Exposed time of the exchange of a whole step.
///
/// Model:   bytes by optimizer sharding (n ranks of a group, w bytes a weight, g bytes a gradient):
///          0: all-reduce of gradients; 1: reduce-scatter of gradients and all-gather of weights, once a step;
///          2: reduce-scatter every micro-batch, all-gather once; 3: all-gather for forward and for backward and
///          reduce-scatter, every micro-batch; with a pipeline, 2 and 3 keep what they gathered until the step ends:
///          once a step. Exposed = max((1 - hidden) x time, time - window), where the window is the compute at hand:
///          one backward (one forward for gathers) of the micro-batch, or of the last (first) one where the exchange
///          comes once a step. A stage that dualpipe holds twice is exchanged with its copy: groups twice as large,
///          over twice the domains. With a shard group s below that (hybrid sharding) scatter and gather stay inside
///          it, and the 1/s that a rank keeps is all-reduced over the groups. With a bucket size the exchange goes
///          bucket by bucket: all but one hide under the window, and each pays its own latency.
/// Source:  ZeRO: Rajbhandari et al., SC20; Megatron-LM distributed optimizer; PyTorch FSDP.
[[nodiscard]] Seconds exchange_time(const Job& job, const model::Layout& layout, const HeldParameters& held,
                                    const HidingWindow& window);

/// Optimizer step of the states that the card keeps: bound by memory. fp32 master weight and two moments are read and
/// written, the gradient read, the new weight written.
[[nodiscard]] Seconds optimizer_time(const Job& job, const model::Layout& layout, const HeldParameters& held);

}  // namespace windtunnel::train
