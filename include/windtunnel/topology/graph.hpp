#pragma once
/// Components of a cluster and the links between them: what carries traffic, and what can fail.
///
/// Model:   an undirected multigraph; a link carries its rate in each direction at once (full duplex). Switch chips of
/// a
///          multi-plane fabric belong to one plane and are connected within it only.
/// Source:  Zuo et al., Serving Large Language Models on Huawei CloudMatrix384, 2025 (planes); the rest is graph
/// theory.
#include <span>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::topology {

enum class Part { card, cpu, node_switch, plane_switch, leaf, spine };
inline constexpr int num_parts = 6;
/// What a link is made of: on a board, or over fibre with optical modules at its ends.
enum class Medium { electrical, optical };

struct Component {
    Part part = Part::card;
    int node = -1;   ///< -1: belongs to no node
    int plane = -1;  ///< -1: belongs to no plane
};

struct FabricLink {
    int a = 0, b = 0;     ///< components
    BytesPerSecond rate;  ///< in each direction
    Seconds latency;      ///< of one message
    int plane = -1;       ///< -1: no plane
    Medium medium = Medium::electrical;
    int common_cause = -1;  ///< links of one group fail together (same chip, board or cable tray); -1: alone
};

/// A neighbour of a component and the link to it.
struct Neighbour {
    int component = 0, link = 0;
};

class Graph {
public:
    /// Gives the index of the new component.
    int add(const Component& component);
    /// Expects components that exist, that differ, and a rate >= 0. Gives the index of the new link.
    int connect(const FabricLink& link);

    [[nodiscard]] int num_components() const noexcept { return static_cast<int>(components_.size()); }
    [[nodiscard]] int num_links() const noexcept { return static_cast<int>(links_.size()); }
    [[nodiscard]] const Component& component(int index) const { return components_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] const FabricLink& link(int index) const { return links_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] std::span<const Component> components() const noexcept { return components_; }
    [[nodiscard]] std::span<const FabricLink> links() const noexcept { return links_; }
    [[nodiscard]] std::span<const Neighbour> neighbours(int index) const {
        return adjacent_[static_cast<std::size_t>(index)];
    }

    /// Indices of all components of a kind, ascending.
    [[nodiscard]] std::vector<int> all(Part part) const;
    [[nodiscard]] int count(Part part) const noexcept;

private:
    std::vector<Component> components_;
    std::vector<FabricLink> links_;
    std::vector<std::vector<Neighbour>> adjacent_;
};

/// What of a graph works: one flag a component and a link. A link works only if both of its ends do.
struct Health {
    std::vector<char> component, link;
    explicit Health(const Graph& graph);
    void fail_component(int index) { component[static_cast<std::size_t>(index)] = 0; }
    void fail_link(int index) { link[static_cast<std::size_t>(index)] = 0; }
    void fail_plane(const Graph& graph, int plane);         ///< its switches and its links
    void fail_common_cause(const Graph& graph, int group);  ///< all links of the group
    [[nodiscard]] bool works(const Graph& graph, int link_index) const;
};

/// Rate of the links that a component has to working neighbours: what it can send at most.
[[nodiscard]] BytesPerSecond injection_rate(const Graph& graph, const Health& health, int component);

/// Rate of the links that leave a node, per direction, over what works. With `plane` >= 0 only those of the plane.
[[nodiscard]] BytesPerSecond uplink_rate(const Graph& graph, const Health& health, int node, int plane = -1);

/// Can all working cards reach each other? Cards that failed are left out; no card at all counts as connected.
[[nodiscard]] bool cards_connected(const Graph& graph, const Health& health);

}  // namespace windtunnel::topology
