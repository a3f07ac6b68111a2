#pragma once
/// Loads that traffic puts on links.
#include <span>
#include <vector>

#include "windtunnel/topology/graph.hpp"

namespace windtunnel::topology {

/// Traffic from one component to another, in any additive unit (bytes, bytes per second).
struct Demand {
    int from = 0, to = 0;
    double amount = 0.0;
};

/// How packets of one pair choose among equal paths.
enum class Spread {
    spray,    ///< over all shortest paths, in proportion to the rates of the next links
    by_pair,  ///< the whole pair on one plane, (from + to) modulo the number of planes; spray inside the plane
};

/// One direction of a link and the share of a demand that takes it.
struct Hop {
    int link = 0;
    bool forward = true;  ///< from end a to end b
    double share = 1.0;
};

/// Loads of both directions of every link: entry 2 x link (a to b) and 2 x link + 1 (b to a).
struct LinkLoads {
    std::vector<double> amount;
    double lost = 0.0;  ///< demands whose ends are not connected
    [[nodiscard]] double forward(int link) const { return amount[2 * static_cast<std::size_t>(link)]; }
    [[nodiscard]] double backward(int link) const { return amount[2 * static_cast<std::size_t>(link) + 1]; }
};

/// Model:   shortest paths by number of hops over what works; equal ones share as `spread` says. Cards and CPUs do not
///          pass traffic on, except where they are wired to each other.
/// Inputs:  demands between components that exist, amounts >= 0. With by_pair, a plane that fails takes its pairs to
/// the
///          next plane that works.
/// Returns: loads; what cannot be delivered is counted in `lost`. Sum of loads = sum of amount x hops.
/// Limits:  static routes, no adaptive choice by load.
/// Source:  equal-cost multi-path, RFC 2992 (2000); planes: CloudMatrix384 report, 2025.
[[nodiscard]] LinkLoads link_loads(const Graph& graph, const Health& health, std::span<const Demand> demands,
                                   Spread spread);

/// The hops of one pair with their shares: what a flow of the fair-share model uses. Empty when not connected.
[[nodiscard]] std::vector<Hop> route(const Graph& graph, const Health& health, int from, int to, Spread spread);

/// Every card sends `amount` in equal parts to all other cards.
[[nodiscard]] std::vector<Demand> uniform_all_to_all(const Graph& graph, double amount);

}  // namespace windtunnel::topology
