#include "windtunnel/topology/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace windtunnel::topology {
namespace {

/// Dinic's algorithm: phases of shortest augmenting paths. Arc 2i and 2i + 1 are the two directions of an edge.
class Flow {
public:
    explicit Flow(int vertices)
        : first_(static_cast<std::size_t>(vertices)), depth_(first_.size()), at_(first_.size()) {}

    void add(int from, int to, std::int64_t there, std::int64_t back) {
        first_[static_cast<std::size_t>(from)].push_back(static_cast<int>(to_.size()));
        to_.push_back(to);
        left_.push_back(there);
        first_[static_cast<std::size_t>(to)].push_back(static_cast<int>(to_.size()));
        to_.push_back(from);
        left_.push_back(back);
    }

    std::int64_t maximum(int source, int sink) {
        std::int64_t total = 0;
        while (layer(source, sink)) {
            std::fill(at_.begin(), at_.end(), 0U);
            while (const std::int64_t pushed = push(source, sink)) total += pushed;
        }
        return total;
    }

private:
    bool layer(int source, int sink) {
        std::fill(depth_.begin(), depth_.end(), -1);
        std::vector<int> queue{source};
        depth_[static_cast<std::size_t>(source)] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const auto here = static_cast<std::size_t>(queue[head]);
            for (const int arc : first_[here]) {
                const auto next = static_cast<std::size_t>(to_[static_cast<std::size_t>(arc)]);
                if (left_[static_cast<std::size_t>(arc)] <= 0 || depth_[next] >= 0) continue;
                depth_[next] = depth_[here] + 1;
                queue.push_back(static_cast<int>(next));
            }
        }
        return depth_[static_cast<std::size_t>(sink)] >= 0;
    }

    /// One augmenting path of the layered graph, walked with a stack of its own.
    std::int64_t push(int source, int sink) {
        std::vector<int> path;
        int here = source;
        while (here != sink) {
            const auto vertex = static_cast<std::size_t>(here);
            if (at_[vertex] < first_[vertex].size()) {
                const int arc = first_[vertex][at_[vertex]];
                const int next = to_[static_cast<std::size_t>(arc)];
                if (left_[static_cast<std::size_t>(arc)] > 0 &&
                    depth_[static_cast<std::size_t>(next)] == depth_[vertex] + 1) {
                    path.push_back(arc);
                    here = next;
                } else {
                    ++at_[vertex];
                }
            } else if (path.empty()) {
                return 0;
            } else {  // a dead end: back one step, and never here again in this phase
                here = to_[static_cast<std::size_t>(path.back() ^ 1)];
                path.pop_back();
                ++at_[static_cast<std::size_t>(here)];
            }
        }
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const int arc : path) least = std::min(least, left_[static_cast<std::size_t>(arc)]);
        for (const int arc : path) {
            left_[static_cast<std::size_t>(arc)] -= least;
            left_[static_cast<std::size_t>(arc ^ 1)] += least;
        }
        return least;
    }

    std::vector<std::vector<int>> first_;
    std::vector<int> to_;
    std::vector<std::int64_t> left_;
    std::vector<int> depth_;
    std::vector<std::size_t> at_;
};

}  // namespace

BytesPerSecond min_cut(const Graph& graph, const Health& health, std::span<const int> sources,
                       std::span<const int> sinks) {
    const int source = graph.num_components(), sink = source + 1;
    Flow flow{sink + 1};
    for (int i = 0; i < graph.num_links(); ++i) {
        if (!health.works(graph, i)) continue;
        const FabricLink& link = graph.link(i);
        const auto rate = static_cast<std::int64_t>(std::llround(link.rate.value()));
        flow.add(link.a, link.b, rate, rate);
    }
    constexpr std::int64_t unlimited = std::int64_t{1} << 61;
    for (const int i : sources) flow.add(source, i, unlimited, 0);
    for (const int i : sinks) flow.add(i, sink, unlimited, 0);
    return BytesPerSecond{static_cast<double>(flow.maximum(source, sink))};
}

}  // namespace windtunnel::topology
