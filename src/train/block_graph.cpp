#include "windtunnel/train/block_graph.hpp"

#include <algorithm>

namespace windtunnel::train {
namespace {

constexpr std::array communication_parts{Part::tp_comm, Part::cp_comm, Part::ep_comm};

Seconds communication(const PartTimes& times) noexcept {
    Seconds sum;
    for (const Part part : communication_parts) sum += times[part];
    return sum;
}

/// `all` of communication becomes `exposed`.
void expose(PartTimes& times, Seconds all, Seconds exposed) noexcept {
    if (!(all > Seconds{0.0})) {
        times[Part::launch] += exposed;
        return;
    }
    for (const Part part : communication_parts) times[part] *= exposed / all;
}

}  // namespace

std::string to_text(BlockKind kind) {
    constexpr std::array words{"embedding", "dense_layer", "moe_layer", "mtp_projection", "head"};
    return words[static_cast<std::size_t>(kind)];
}

StreamRules stream_rules(const Job& job) noexcept {
    StreamRules rules;
    const model::Overlap& overlap = job.methods.overlap;
    rules.compute_rate = overlap.compute_rate.value_or(1.0);
    rules.communication_rate = overlap.communication_rate;
    rules.host_launch = job.methods.host.launch;
    rules.graph = job.methods.host.graphs;
    rules.graph_launch = job.methods.host.graph_launch;
    return rules;
}

void hide_by_graph(const Job& job, const OperatorGraph& whole, BlockCost& cost) {
    const OperatorGraph graph = cut_into_chunks(whole, job.methods.overlap.chunks);
    const StreamRules rules = stream_rules(job);
    const Seconds floor = job.efficiency.host_per_layer_pass * job.efficiency.release_factor;
    constexpr std::array forward{Pass::forward};
    constexpr std::array backward{Pass::recompute, Pass::backward_input, Pass::backward_weight};
    const Seconds forward_time = std::max(floor, simulate(passes_of(graph, forward), rules).makespan);
    const Seconds backward_time = std::max(floor, simulate(passes_of(graph, backward), rules).makespan);

    const Seconds all = communication(cost.forward);
    const Seconds exposed = std::max(Seconds{0.0}, forward_time - (cost.forward.total() - all));
    expose(cost.forward, all, exposed);

    // Recompute is one part: its communication is exposed in the same proportion.
    Seconds again;
    for (const Operator& one : graph.operators)
        if (one.pass == Pass::recompute && one.unit == Unit::network) again += one.time;
    const Seconds back = communication(cost.backward_input), all_back = back + again;
    const Seconds compute =
        cost.backward_input.total() - back - cost.backward_input[Part::recompute] + cost.backward_weight.total();
    Seconds recomputed;
    for (const Operator& one : graph.operators)
        if (one.pass == Pass::recompute && one.unit != Unit::network) recomputed += one.duration();
    const Seconds exposed_back = std::max(Seconds{0.0}, backward_time - compute - recomputed);
    const double share = all_back > Seconds{0.0} ? exposed_back / all_back : 0.0;
    expose(cost.backward_input, back, back > Seconds{0.0} ? back * share : exposed_back - again * share);
    cost.backward_input[Part::recompute] = recomputed + again * share;
}

}  // namespace windtunnel::train
