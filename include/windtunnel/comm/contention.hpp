#pragma once
/// How much longer a group takes when it and all groups like it cross oversubscribed leaves at once.
#include "windtunnel/comm/algorithms.hpp"
#include "windtunnel/topology/groups.hpp"

namespace windtunnel::comm {

/// Share of the members whose partner, `distance` members on, lies under another leaf.
///
/// Model:   domains fill leaves in order; partners are distance x stride domains apart, the short way round the group:
///          min(1, apart / domains of a leaf). A group within one leaf crosses nothing.
/// Inputs:  distance >= 0. Returns: share in [0, 1]. Limits: average over where groups begin. Source: derived here;
///          equal to routes on the graph of topology/builders.hpp for groups that begin at a leaf.
[[nodiscard]] double crossing_share(const topology::GroupPlacement& group, int distance, const Fabric& fabric) noexcept;

/// Factor on the volume of one collective between the domains of a group.
///
/// Model:   in a round all cards of a leaf send to partners at one distance; the leaf's uplinks carry
/// 1/oversubscription
///          of its ports, so flows get the port's rate over max(1, oversubscription x crossing share), which is their
///          max-min fair rate. The factor is the average over rounds by volume: ring 1 distance, pairwise and full mesh
///          every distance, nhr, nb, halving-doubling and tree the powers of two.
/// Inputs:  a group over >= 1 domains. Returns: factor >= 1; 1 without leaves or oversubscription.
/// Limits:  rounds in step over the whole cluster; uplinks used evenly.
/// Source:  fair_share.hpp on mesh_nodes(), which the tests compare.
[[nodiscard]] double leaf_slowdown(CollectiveAlgorithm algorithm, const topology::GroupPlacement& group,
                                   const Fabric& fabric) noexcept;

}  // namespace windtunnel::comm
