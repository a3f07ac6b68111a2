#include "windtunnel/topology/routes.hpp"

#include <algorithm>

namespace windtunnel::topology {
namespace {

/// Shortest distances to one destination, over one plane or over all (plane -1).
class Distances {
public:
    Distances(const Graph& graph, const Health& health, int to, int plane)
        : graph_{graph}, health_{health}, plane_{plane}, hops_(static_cast<std::size_t>(graph.num_components()), -1) {
        if (health.component[static_cast<std::size_t>(to)] == 0) return;
        order_.push_back(to);
        hops_[static_cast<std::size_t>(to)] = 0;
        for (std::size_t head = 0; head < order_.size(); ++head) {
            const int here = order_[head];
            if (here != to && ends_traffic(here)) continue;  // cards and CPUs behind others are not passed through
            for (const Neighbour& next : graph.neighbours(here)) {
                if (!usable(next.link) || hops_[static_cast<std::size_t>(next.component)] >= 0) continue;
                hops_[static_cast<std::size_t>(next.component)] = hops_[static_cast<std::size_t>(here)] + 1;
                order_.push_back(next.component);
            }
        }
    }

    [[nodiscard]] bool reaches(int from) const { return hops_[static_cast<std::size_t>(from)] >= 0; }

    /// Moves what lies on the components towards the destination, farthest first; calls take(link, forward, amount).
    template <typename Take>
    void drain(std::vector<double>& held, Take take) const {
        for (auto i = order_.rbegin(); i != order_.rend(); ++i) {
            const auto here = static_cast<std::size_t>(*i);
            if (hops_[here] <= 0 || !(held[here] > 0.0)) continue;
            double rates = 0.0;
            for (const Neighbour& next : graph_.neighbours(*i))
                if (closer(*i, next)) rates += graph_.link(next.link).rate.value();
            for (const Neighbour& next : graph_.neighbours(*i)) {
                if (!closer(*i, next)) continue;
                const double part = held[here] * (graph_.link(next.link).rate.value() / rates);
                held[static_cast<std::size_t>(next.component)] += part;
                take(next.link, graph_.link(next.link).a == *i, part);
            }
            held[here] = 0.0;
        }
    }

private:
    [[nodiscard]] bool ends_traffic(int index) const {
        const Part part = graph_.component(index).part;
        return part == Part::card || part == Part::cpu;
    }
    [[nodiscard]] bool usable(int link) const {
        const FabricLink& cable = graph_.link(link);
        return health_.works(graph_, link) && cable.rate > BytesPerSecond{0.0} &&
               (plane_ < 0 || cable.plane < 0 || cable.plane == plane_);
    }
    [[nodiscard]] bool closer(int here, const Neighbour& next) const {
        const auto there = static_cast<std::size_t>(next.component);
        return usable(next.link) && hops_[there] >= 0 && hops_[there] + 1 == hops_[static_cast<std::size_t>(here)] &&
               (hops_[there] == 0 || !ends_traffic(next.component));
    }

    const Graph& graph_;
    const Health& health_;
    int plane_;
    std::vector<int> hops_;
    std::vector<int> order_;
};

int num_planes(const Graph& graph) {
    int planes = 0;
    for (const FabricLink& link : graph.links()) planes = std::max(planes, link.plane + 1);
    return planes;
}

/// Planes that a pair tries, in order; -1: all at once.
std::vector<int> planes_of_pair(int planes, int from, int to, Spread spread) {
    if (spread == Spread::spray || planes == 0) return {-1};
    std::vector<int> order;
    for (int i = 0; i < planes; ++i) order.push_back((from + to + i) % planes);
    return order;
}

}  // namespace

LinkLoads link_loads(const Graph& graph, const Health& health, std::span<const Demand> demands, Spread spread) {
    LinkLoads loads{std::vector<double>(2 * static_cast<std::size_t>(graph.num_links()), 0.0), 0.0};
    std::vector<Demand> by_destination(demands.begin(), demands.end());
    std::stable_sort(by_destination.begin(), by_destination.end(),
                     [](const Demand& x, const Demand& y) { return x.to < y.to; });
    const int planes = num_planes(graph);
    std::vector<double> held(static_cast<std::size_t>(graph.num_components()), 0.0);
    for (std::size_t i = 0; i < by_destination.size();) {
        std::size_t end = i;
        while (end < by_destination.size() && by_destination[end].to == by_destination[i].to) ++end;
        const int to = by_destination[i].to;
        std::vector<Distances> distances;  // one for each plane, or one for all
        const int sets = spread == Spread::spray || planes == 0 ? 1 : planes;
        for (int set = 0; set < sets; ++set) distances.emplace_back(graph, health, to, sets == 1 ? -1 : set);
        std::vector<std::vector<double>> start(distances.size(), held);
        for (; i < end; ++i) {
            const Demand& demand = by_destination[i];
            if (demand.from == to) continue;
            bool placed = false;
            for (const int plane : planes_of_pair(planes, demand.from, to, spread)) {
                const auto set = static_cast<std::size_t>(std::max(0, sets == 1 ? 0 : plane));
                if (!distances[set].reaches(demand.from)) continue;
                start[set][static_cast<std::size_t>(demand.from)] += demand.amount;
                placed = true;
                break;
            }
            if (!placed) loads.lost += demand.amount;
        }
        for (std::size_t set = 0; set < distances.size(); ++set)
            distances[set].drain(start[set], [&loads](int link, bool forward, double amount) {
                loads.amount[2 * static_cast<std::size_t>(link) + (forward ? 0U : 1U)] += amount;
            });
    }
    return loads;
}

std::vector<Hop> route(const Graph& graph, const Health& health, int from, int to, Spread spread) {
    std::vector<Hop> hops;
    if (from == to) return hops;
    for (const int plane : planes_of_pair(num_planes(graph), from, to, spread)) {
        const Distances distances{graph, health, to, plane};
        if (!distances.reaches(from)) continue;
        std::vector<double> held(static_cast<std::size_t>(graph.num_components()), 0.0);
        held[static_cast<std::size_t>(from)] = 1.0;
        distances.drain(held, [&hops](int link, bool forward, double share) {
            hops.push_back({link, forward, share});
        });
        break;
    }
    return hops;
}

std::vector<Demand> uniform_all_to_all(const Graph& graph, double amount) {
    const std::vector<int> cards = graph.all(Part::card);
    std::vector<Demand> demands;
    if (cards.size() < 2) return demands;
    const double part = amount / static_cast<double>(cards.size() - 1);
    for (const int from : cards)
        for (const int to : cards)
            if (from != to) demands.push_back({from, to, part});
    return demands;
}

}  // namespace windtunnel::topology
