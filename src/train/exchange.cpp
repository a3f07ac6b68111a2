#include "windtunnel/train/exchange.hpp"

#include <algorithm>

#include "windtunnel/comm/collectives.hpp"

namespace windtunnel::train {
namespace {

using model::Precision;

Seconds exposed(const Job& job, Seconds time, Seconds window) noexcept {
    return std::max(time * (1.0 - job.efficiency.scale_out_hidden), time - window);
}

struct Exchange {
    const Job& job;
    const model::Layout& layout;
    const HidingWindow& window;
    comm::Links links;

    [[nodiscard]] Seconds time(const topology::GroupPlacement& group, double parameters) const noexcept {
        if (parameters <= 0.0 || group.size <= 1) return Seconds{0.0};
        const Precision weight = job.precision == Precision::fp32 ? Precision::fp32 : Precision::bf16;
        const Seconds gather =
            comm::all_gather_time(Bytes{parameters * model::bytes_per_element(weight)}, group, links);
        const Seconds scatter =  // a reduce-scatter moves what an all-gather moves
            comm::all_gather_time(Bytes{parameters * model::bytes_per_element(job.gradient_precision)}, group, links);
        const double often = layout.pipeline_parallel > 1 ? 1.0 : static_cast<double>(layout.num_micro_batches());
        switch (layout.optimizer_sharding) {
            case 0:
                return exposed(job, scatter * 2.0, window.backward);
            case 1:
                return exposed(job, scatter, window.backward) + exposed(job, gather, window.forward);
            case 2:
                return exposed(job, scatter, window.backward) * often + exposed(job, gather, window.forward);
            default:
                return (exposed(job, gather, window.forward) + exposed(job, gather + scatter, window.backward)) * often;
        }
    }
};

/// The group of a stage and of its copy on another rank of the pipeline.
topology::GroupPlacement with_copies(const topology::GroupPlacement& group, int copies) noexcept {
    return {group.size * copies, group.per_domain, group.num_domains * copies};
}

}  // namespace

Seconds exchange_time(const Job& job, const model::Layout& layout, const HeldParameters& held,
                      const HidingWindow& window) {
    const Exchange exchange{job, layout, window, comm::links_of(job.cluster.accelerator, job.efficiency)};
    const int domain = exchange.links.domain_size, copies = layout.stage_copies();
    return exchange.time(with_copies(topology::data_group(layout, domain), copies), held.dense) +
           exchange.time(with_copies(topology::expert_data_group(layout, domain), copies), held.expert);
}

Seconds optimizer_time(const Job& job, const model::Layout& layout, const HeldParameters& held) {
    // Read: gradient 4, master 4, moments 8; written: master 4, moments 8, weight 2 bytes.
    constexpr double bytes_per_parameter = 30.0;
    double parameters = held.dense + held.expert;
    if (layout.optimizer_sharding > 0) {
        const double copies = layout.stage_copies();
        const double replicas = copies * layout.data_parallel() * layout.context_parallel;
        parameters = held.dense / replicas + held.expert / (copies * std::max(1, layout.expert_data_parallel()));
    }
    return Bytes{parameters * bytes_per_parameter} / (job.cluster.accelerator.memory_bandwidth * job.efficiency.memory);
}

}  // namespace windtunnel::train
