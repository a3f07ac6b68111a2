#include "windtunnel/train/exchange.hpp"

#include <algorithm>
#include <cstdint>

namespace windtunnel::train {
namespace {

using model::Precision;

/// Ranks that exchange one buffer: `size` of them, `local` inside each scale-up domain.
struct Group {
    double size = 1.0, local = 1.0;
};

/// Neighbours in the group stand `stride` cards apart.
Group group_of(const Job& job, double size, double stride) noexcept {
    const double domain = std::max(1, job.cluster.accelerator.scale_up_domain);
    return {size, std::clamp(domain / stride, 1.0, size)};
}

/// Time to reduce-scatter, or to all-gather, `bytes` a card: rings over all cards of the domain, then over the domains
/// with every network card of the domain at work; the slower of the two paces, and each step costs a latency.
Seconds ring_time(const Job& job, const Group& group, Bytes bytes) noexcept {
    if (group.size <= 1.0) return Seconds{0.0};
    const auto& card = job.cluster.accelerator;
    const double outer = group.size / group.local;
    Seconds inside{0.0}, outside{0.0};
    if (group.local > 1.0)
        inside = bytes * ((group.local - 1.0) / group.local) / (card.scale_up.bandwidth * job.efficiency.scale_up) +
                 card.scale_up.latency * (group.local - 1.0);
    if (outer > 1.0)
        outside =
            bytes * ((outer - 1.0) / outer / group.local) / (card.scale_out.bandwidth * job.efficiency.scale_out) +
            card.scale_out.latency * (outer - 1.0);
    return std::max(inside, outside);
}

Seconds exposed(const Job& job, Seconds time, Seconds window) noexcept {
    return std::max(time * (1.0 - job.efficiency.scale_out_hidden), time - window);
}

Seconds group_exchange_time(const Job& job, const model::Layout& layout, const Group& group, double parameters,
                            const HidingWindow& window) noexcept {
    if (parameters <= 0.0 || group.size <= 1.0) return Seconds{0.0};
    const double weight_bytes =
        model::bytes_per_element(job.precision == Precision::fp32 ? Precision::fp32 : Precision::bf16);
    const Seconds gather = ring_time(job, group, Bytes{parameters * weight_bytes});
    const Seconds scatter = ring_time(job, group, Bytes{parameters * model::bytes_per_element(job.gradient_precision)});
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

}  // namespace

Seconds exchange_time(const Job& job, const model::Layout& layout, const HeldParameters& held,
                      const HidingWindow& window) {
    const double tp = layout.tensor_parallel;
    const double replicas = double{1.0} * layout.data_parallel() * layout.context_parallel;
    const double expert_stride = double{1.0} * layout.expert_parallel * layout.expert_tensor_parallel;
    return group_exchange_time(job, layout, group_of(job, replicas, tp), held.dense, window) +
           group_exchange_time(job, layout, group_of(job, layout.expert_data_parallel(), expert_stride), held.expert,
                               window);
}

Seconds optimizer_time(const Job& job, const model::Layout& layout, const HeldParameters& held) {
    // Read: gradient 4, master 4, moments 8; written: master 4, moments 8, weight 2 bytes.
    constexpr double bytes_per_parameter = 30.0;
    double parameters = held.dense + held.expert;
    if (layout.optimizer_sharding > 0) {
        const double replicas = double{1.0} * layout.data_parallel() * layout.context_parallel;
        parameters = held.dense / replicas + held.expert / std::max(1, layout.expert_data_parallel());
    }
    return Bytes{parameters * bytes_per_parameter} / (job.cluster.accelerator.memory_bandwidth * job.efficiency.memory);
}

}  // namespace windtunnel::train
