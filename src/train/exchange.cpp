#include "windtunnel/train/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windtunnel/comm/collectives.hpp"

namespace windtunnel::train {
namespace {

using model::Precision;

/// A group that exchanges shards, and the replicas of it that sum them up.
struct Placed {
    topology::GroupPlacement shard, replica;
};

struct Exchange {
    const Job& job;
    const model::Layout& layout;
    const HidingWindow& window;
    comm::Links links;

    /// Exposed time of a transfer of `bytes`; `time(share)` is how long a share of it takes.
    template <class Time>
    [[nodiscard]] Seconds exposed(Bytes bytes, Seconds under, const Time& time) const noexcept {
        const Bytes bucket = job.methods.overlap.bucket;
        if (!(bucket > Bytes{0.0})) {
            const Seconds whole = time(1.0);
            return std::max(whole * (1.0 - job.efficiency.scale_out_hidden), whole - under);
        }
        const double buckets = std::max(1.0, std::ceil(bytes / bucket));
        const Seconds one = time(1.0 / buckets);
        return std::max(one, one * buckets - under);
    }

    [[nodiscard]] Seconds time(const Placed& group, double parameters) const noexcept {
        if (parameters <= 0.0 || (group.shard.size <= 1 && group.replica.size <= 1)) return Seconds{0.0};
        const Precision weight = job.precision == Precision::fp32 ? Precision::fp32 : Precision::bf16;
        const Bytes weights{parameters * model::bytes_per_element(weight)};
        const Bytes gradients{parameters * model::bytes_per_element(job.gradient_precision)};
        const auto gather = [&](double share) { return comm::all_gather_time(weights * share, group.shard, links); };
        // A reduce-scatter moves what an all-gather moves. Replicas sum up what a rank keeps of it.
        const auto scatter = [&](double share) {
            const Seconds inside = comm::all_gather_time(gradients * share, group.shard, links);
            if (group.replica.size <= 1) return inside;
            const Bytes kept = gradients * share / static_cast<double>(group.shard.size);
            return inside + comm::all_reduce_time(kept, group.replica, links);
        };
        const double often = layout.pipeline_parallel > 1 ? 1.0 : static_cast<double>(layout.num_micro_batches());
        switch (layout.optimizer_sharding) {
            case 0:
                return exposed(gradients, window.backward, [&](double share) { return scatter(share) * 2.0; });
            case 1:
                return exposed(gradients, window.backward, scatter) + exposed(weights, window.forward, gather);
            case 2:
                return exposed(gradients, window.backward, scatter) * often + exposed(weights, window.forward, gather);
            default:
                return (exposed(weights, window.forward, gather) +
                        exposed(weights + gradients, window.backward,
                                [&](double share) { return gather(share) + scatter(share); })) *
                       often;
        }
    }
};

/// The group of a stage and of its copy on another rank of the pipeline.
topology::GroupPlacement with_copies(const topology::GroupPlacement& group, int copies) noexcept {
    return {group.size * copies, group.per_domain, group.num_domains * copies};
}

/// `ranks` of `group` in a shard group, `stride` apart.
Placed placed(const topology::GroupPlacement& group, int ranks, int stride, int copies, int domain) noexcept {
    if (ranks >= group.size) return {with_copies(group, copies), {}};
    return {topology::place_group(ranks, stride, domain),
            with_copies(topology::place_group(group.size / ranks, stride * ranks, domain), copies)};
}

/// Ranks of a shard group of the plan out of `all`; all of them without one.
int sharing(const Job& job, const model::Layout& layout, int all) noexcept {
    const int group = layout.optimizer_sharding > 0 ? job.methods.shard_group : 0;
    return group > 0 ? std::gcd(group, all) : all;
}

}  // namespace

ShardGroups shard_groups(const Job& job, const model::Layout& layout) noexcept {
    const int copies = layout.stage_copies();
    const int all = layout.data_parallel() * layout.context_parallel;
    const int experts = std::max(1, layout.expert_data_parallel());
    const int ranks = sharing(job, layout, all), expert_ranks = sharing(job, layout, experts);
    ShardGroups groups{ranks, expert_ranks, all / ranks * copies, experts / expert_ranks * copies};
    // One group over everything takes the copies of a stage in.
    if (ranks == all) groups = {all * copies, groups.expert_ranks, 1, groups.expert_replicas};
    if (expert_ranks == experts) {
        groups.expert_ranks = experts * copies;
        groups.expert_replicas = 1;
    }
    return groups;
}

Seconds exchange_time(const Job& job, const model::Layout& layout, const HeldParameters& held,
                      const HidingWindow& window) {
    const Exchange exchange{job, layout, window, comm::links_of(job.cluster.accelerator, job.efficiency)};
    const int domain = exchange.links.domain_size, copies = layout.stage_copies();
    const auto data = topology::data_group(layout, domain), experts = topology::expert_data_group(layout, domain);
    return exchange.time(placed(data, sharing(job, layout, data.size), layout.tensor_parallel, copies, domain),
                         held.dense) +
           exchange.time(placed(experts, sharing(job, layout, std::max(1, experts.size)),
                                layout.expert_tensor_parallel * layout.expert_parallel, copies, domain),
                         held.expert);
}

Seconds optimizer_time(const Job& job, const model::Layout& layout, const HeldParameters& held) {
    // Read: gradient 4, master 4, moments 8; written: master 4, moments 8, weight 2 bytes.
    constexpr double bytes_per_parameter = 30.0;
    double parameters = held.dense + held.expert;
    if (layout.optimizer_sharding > 0) {
        const ShardGroups groups = shard_groups(job, layout);
        parameters = held.dense / groups.ranks + held.expert / groups.expert_ranks;
    }
    const Seconds time =
        Bytes{parameters * bytes_per_parameter} / (job.cluster.accelerator.memory_bandwidth * job.efficiency.memory);
    const model::Offload& offload = job.methods.offload;
    if (!(offload.optimizer > 0.0)) return time;
    // Master weight and moments come from the host and go back, both ways at once, while others are updated.
    return std::max(time, Bytes{parameters * 12.0 * offload.optimizer} / offload.bandwidth);
}

}  // namespace windtunnel::train
