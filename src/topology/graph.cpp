#include "windtunnel/topology/graph.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::topology {

int Graph::add(const Component& component) {
    components_.push_back(component);
    adjacent_.emplace_back();
    return num_components() - 1;
}

int Graph::connect(const FabricLink& link) {
    base::expects(
        link.a >= 0 && link.a < num_components() && link.b >= 0 && link.b < num_components() && link.a != link.b,
        "a link has two ends that exist and differ");
    base::expects(link.rate >= BytesPerSecond{0.0}, "a rate is not negative");
    const int index = num_links();
    links_.push_back(link);
    adjacent_[static_cast<std::size_t>(link.a)].push_back({link.b, index});
    adjacent_[static_cast<std::size_t>(link.b)].push_back({link.a, index});
    return index;
}

std::vector<int> Graph::all(Part part) const {
    std::vector<int> found;
    for (int i = 0; i < num_components(); ++i)
        if (component(i).part == part) found.push_back(i);
    return found;
}

int Graph::count(Part part) const noexcept {
    return static_cast<int>(
        std::count_if(components_.begin(), components_.end(), [part](const Component& c) { return c.part == part; }));
}

Health::Health(const Graph& graph)
    : component(static_cast<std::size_t>(graph.num_components()), 1),
      link(static_cast<std::size_t>(graph.num_links()), 1) {}

void Health::fail_plane(const Graph& graph, int plane) {
    for (int i = 0; i < graph.num_components(); ++i)
        if (graph.component(i).plane == plane) fail_component(i);
    for (int i = 0; i < graph.num_links(); ++i)
        if (graph.link(i).plane == plane) fail_link(i);
}

void Health::fail_common_cause(const Graph& graph, int group) {
    for (int i = 0; i < graph.num_links(); ++i)
        if (graph.link(i).common_cause == group) fail_link(i);
}

bool Health::works(const Graph& graph, int link_index) const {
    const FabricLink& cable = graph.link(link_index);
    return link[static_cast<std::size_t>(link_index)] != 0 && component[static_cast<std::size_t>(cable.a)] != 0 &&
           component[static_cast<std::size_t>(cable.b)] != 0;
}

BytesPerSecond injection_rate(const Graph& graph, const Health& health, int component) {
    BytesPerSecond rate;
    for (const Neighbour& next : graph.neighbours(component))
        if (health.works(graph, next.link)) rate += graph.link(next.link).rate;
    return rate;
}

BytesPerSecond uplink_rate(const Graph& graph, const Health& health, int node, int plane) {
    BytesPerSecond rate;
    for (int i = 0; i < graph.num_links(); ++i) {
        const FabricLink& link = graph.link(i);
        const bool leaves = (graph.component(link.a).node == node) != (graph.component(link.b).node == node);
        if (leaves && (plane < 0 || link.plane == plane) && health.works(graph, i)) rate += link.rate;
    }
    return rate;
}

bool cards_connected(const Graph& graph, const Health& health) {
    std::vector<char> seen(static_cast<std::size_t>(graph.num_components()), 0);
    std::vector<int> open;
    for (int i = 0; i < graph.num_components() && open.empty(); ++i)
        if (graph.component(i).part == Part::card && health.component[static_cast<std::size_t>(i)] != 0)
            open.push_back(i);
    if (open.empty()) return true;
    seen[static_cast<std::size_t>(open.front())] = 1;
    while (!open.empty()) {
        const int here = open.back();
        open.pop_back();
        for (const Neighbour& next : graph.neighbours(here)) {
            char& mark = seen[static_cast<std::size_t>(next.component)];
            if (mark != 0 || !health.works(graph, next.link)) continue;
            mark = 1;
            open.push_back(next.component);
        }
    }
    for (int i = 0; i < graph.num_components(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (graph.component(i).part == Part::card && health.component[at] != 0 && seen[at] == 0) return false;
    }
    return true;
}

}  // namespace windtunnel::topology
