#pragma once
/// Graphs of supernodes and of clusters of full-mesh nodes.
#include "windtunnel/topology/graph.hpp"

namespace windtunnel::topology {

/// A supernode of switched planes: in each node every card has one port to each of the node's switch chips, one chip a
/// plane; every chip has one uplink to each of the second-level switches of its plane.
struct SupernodeShape {
    int num_nodes = 0, cards_per_node = 0, cpus_per_node = 0;
    int planes = 0;              ///< = first-level switch chips of a node = ports of a card
    int plane_switches = 0;      ///< second-level switch chips of a plane
    BytesPerSecond card_rate;    ///< of a card over all planes, each direction
    BytesPerSecond cpu_rate;     ///< of a CPU over all planes
    BytesPerSecond uplink_rate;  ///< of a first-level chip over all its uplinks
    Seconds board_latency, fibre_latency;
    BytesPerSecond module_rate;          ///< of one optical module, each direction
    int scale_out_modules_per_card = 0;  ///< optical modules of the network outside the supernode
};

/// Model:   as the struct says. A card of two dies is one component: the dies share its injection. Links of one
///          first-level chip share a common-cause group (its board), numbered node x planes + plane.
/// Inputs:  counts >= 1 (CPUs >= 0), rates >= 0. Returns: components in the order cards (node by node), CPUs, node
///          switches (node by node, plane by plane), plane switches (plane by plane).
/// Limits:  no network outside the supernode.
/// Source:  Zuo et al., Serving LLMs on Huawei CloudMatrix384, 2025: 48 nodes x (8 NPU, 4 CPU, 7 L1 chips), 7
/// sub-planes
///          x 16 L2 chips, non-blocking.
[[nodiscard]] Graph supernode(const SupernodeShape& shape);

/// Optical modules: both ends of every fibre between the switch levels, and those of the network outside.
///
/// Model:   2 x (uplink rate / module rate) for each first-level chip, rounded up, and the given number for each card.
/// Source:  CloudMatrix384: 2 x 384 x 7 + 384 x 4 = 6,912 by an analyst's count.
[[nodiscard]] int optical_modules(const SupernodeShape& shape) noexcept;

/// Nodes of cards in a full mesh, each card with one network port; leaves and spines above.
struct MeshNodesShape {
    int num_nodes = 0, cards_per_node = 0;
    BytesPerSecond mesh_rate;       ///< of a card over all its mesh links
    BytesPerSecond port_rate;       ///< of a card's network port
    int leaf_radix = 0;             ///< ports of a leaf switch, all of the port rate
    double oversubscription = 1.0;  ///< card ports of a leaf over its uplinks, >= 1
    Seconds mesh_latency, port_latency;
};

/// Card ports and uplinks of a leaf: the most card ports d such that d + d / oversubscription fits into the radix.
struct LeafPorts {
    int down = 0, up = 0;
};
[[nodiscard]] LeafPorts leaf_ports(int leaf_radix, double oversubscription) noexcept;

/// Model:   card ports fill leaves in order; every leaf has one uplink to each of `up` spines. A fabric of one leaf has
///          no spine. The rate of an uplink is that of `down / (oversubscription x up)` ports, so that the
///          oversubscription is exact.
/// Inputs:  counts >= 1, leaf_radix >= 2, oversubscription >= 1.
/// Returns: components in the order cards (node by node), leaves, spines. Plane -1: there is only one.
/// Source:  two-level folded Clos (Leiserson, IEEE Trans. Computers 34(10), 1985); Atlas 800T A2: full mesh of 8 and
/// one
///          200 Gb/s port a card; its fabric above the leaf is not public, so radix and oversubscription are inputs.
[[nodiscard]] Graph mesh_nodes(const MeshNodesShape& shape);

}  // namespace windtunnel::topology
