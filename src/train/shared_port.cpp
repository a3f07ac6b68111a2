#include "windtunnel/train/shared_port.hpp"

#include <algorithm>

#include "windtunnel/topology/groups.hpp"

namespace windtunnel::train {

void leave_port_to_others(const Job& job, const model::Layout& layout, const UnitCosts& costs, const Pipeline& pipeline,
                          std::span<HidingWindow> windows) {
    const int domain = job.cluster.accelerator.scale_up_domain;
    const auto leaves = [](const topology::GroupPlacement& group) { return !group.inside_one_domain(); };
    const bool tensor = leaves(topology::tensor_group(layout, domain));
    const bool context = leaves(topology::context_group(layout, domain));
    const bool expert = leaves(topology::expert_group(layout, domain));
    const auto held = [&](const PartTimes& parts) {
        Seconds time{0.0};
        if (tensor) time += parts[Part::tp_comm];
        if (context) time += parts[Part::cp_comm];
        if (expert) time += parts[Part::ep_comm];
        return time;
    };
    for (int stage = 0; stage < pipeline.num_stages(); ++stage) {
        const ChunkLoad load = chunk_load(job.transformer, layout, stage);
        const Seconds forward = held(chunk_forward_parts(load, costs)),
                      backward = held(chunk_backward_parts(load, costs));
        for (int copy = 0; copy < layout.stage_copies(); ++copy) {
            HidingWindow& window = windows[static_cast<std::size_t>(pipeline.rank_of(stage, copy))];
            window.forward = std::max(Seconds{0.0}, window.forward - forward);
            window.backward = std::max(Seconds{0.0}, window.backward - backward);
        }
    }
}

}  // namespace windtunnel::train
