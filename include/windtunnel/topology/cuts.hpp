#pragma once
/// How much traffic can pass from one set of components to another.
#include <span>

#include "windtunnel/topology/graph.hpp"

namespace windtunnel::topology {

/// The largest rate from all sources together to all sinks together; equal to the smallest cut between them.
///
/// Model:   maximum flow with links full duplex, in whole bytes per second. A source's own injection is the sum of its
///          links: sources and sinks that neighbour each other directly count that link too.
/// Inputs:  disjoint sets of components. Returns: rate, >= 0; 0 when either set is empty or nothing connects them.
/// Limits:  ideal routing (any split of the flow over paths).
/// Source:  Ford and Fulkerson, 1956 (max-flow min-cut); Dinic, Soviet Math. Doklady 11, 1970 (algorithm).
[[nodiscard]] BytesPerSecond min_cut(const Graph& graph, const Health& health, std::span<const int> sources,
                                     std::span<const int> sinks);

}  // namespace windtunnel::topology
