#include "windtunnel/topology/builders.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::topology {

Graph supernode(const SupernodeShape& shape) {
    base::expects(shape.num_nodes >= 1 && shape.cards_per_node >= 1 && shape.cpus_per_node >= 0 && shape.planes >= 1 &&
                      shape.plane_switches >= 1,
                  "a supernode has nodes, cards, planes and switches");
    Graph graph;
    const int nodes = shape.num_nodes, planes = shape.planes;
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < shape.cards_per_node; ++i) graph.add({Part::card, node, -1});
    const int first_cpu = graph.num_components();
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < shape.cpus_per_node; ++i) graph.add({Part::cpu, node, -1});
    const int first_chip = graph.num_components();
    for (int node = 0; node < nodes; ++node)
        for (int plane = 0; plane < planes; ++plane) graph.add({Part::node_switch, node, plane});
    const int first_plane_switch = graph.num_components();
    for (int plane = 0; plane < planes; ++plane)
        for (int i = 0; i < shape.plane_switches; ++i) graph.add({Part::plane_switch, -1, plane});

    const BytesPerSecond card_port = shape.card_rate / static_cast<double>(planes);
    const BytesPerSecond cpu_port = shape.cpu_rate / static_cast<double>(planes);
    const BytesPerSecond uplink = shape.uplink_rate / static_cast<double>(shape.plane_switches);
    for (int node = 0; node < nodes; ++node) {
        for (int plane = 0; plane < planes; ++plane) {
            const int board = node * planes + plane, chip = first_chip + board;
            for (int i = 0; i < shape.cards_per_node; ++i)
                graph.connect({node * shape.cards_per_node + i, chip, card_port, shape.board_latency, plane,
                               Medium::electrical, board});
            for (int i = 0; i < shape.cpus_per_node; ++i)
                graph.connect({first_cpu + node * shape.cpus_per_node + i, chip, cpu_port, shape.board_latency, plane,
                               Medium::electrical, board});
            for (int i = 0; i < shape.plane_switches; ++i)
                graph.connect({chip, first_plane_switch + plane * shape.plane_switches + i, uplink, shape.fibre_latency,
                               plane, Medium::optical, board});
        }
    }
    return graph;
}

int optical_modules(const SupernodeShape& shape) noexcept {
    const double fibres = std::ceil(shape.uplink_rate / shape.module_rate - 1e-9);
    return 2 * static_cast<int>(fibres) * shape.num_nodes * shape.planes +
           shape.scale_out_modules_per_card * shape.num_nodes * shape.cards_per_node;
}

LeafPorts leaf_ports(int leaf_radix, double oversubscription) noexcept {
    for (int down = leaf_radix - 1; down > 1; --down) {
        const int up = static_cast<int>(std::ceil(down / oversubscription - 1e-9));
        if (down + up <= leaf_radix) return {down, up};
    }
    return {1, 1};
}

Graph mesh_nodes(const MeshNodesShape& shape) {
    base::expects(
        shape.num_nodes >= 1 && shape.cards_per_node >= 1 && shape.leaf_radix >= 2 && shape.oversubscription >= 1.0,
        "a fabric has nodes, cards and leaves of at least two ports");
    Graph graph;
    const int per_node = shape.cards_per_node, cards = shape.num_nodes * per_node;
    for (int i = 0; i < cards; ++i) graph.add({Part::card, i / per_node, -1});
    const BytesPerSecond mesh_link = shape.mesh_rate / static_cast<double>(std::max(1, per_node - 1));
    for (int node = 0; node < shape.num_nodes; ++node)
        for (int i = 0; i < per_node; ++i)
            for (int j = i + 1; j < per_node; ++j)
                graph.connect({node * per_node + i, node * per_node + j, mesh_link, shape.mesh_latency, -1,
                               Medium::electrical, -1});

    const LeafPorts ports = leaf_ports(shape.leaf_radix, shape.oversubscription);
    const int leaves = (cards + ports.down - 1) / ports.down;
    const int first_leaf = graph.num_components();
    for (int i = 0; i < leaves; ++i) graph.add({Part::leaf, -1, -1});
    for (int i = 0; i < cards; ++i)
        graph.connect({i, first_leaf + i / ports.down, shape.port_rate, shape.port_latency, -1, Medium::optical, -1});
    if (leaves == 1) return graph;
    const int first_spine = graph.num_components();
    for (int i = 0; i < ports.up; ++i) graph.add({Part::spine, -1, -1});
    const BytesPerSecond uplink = shape.port_rate * (ports.down / (shape.oversubscription * ports.up));
    for (int leaf = 0; leaf < leaves; ++leaf)
        for (int i = 0; i < ports.up; ++i)
            graph.connect({first_leaf + leaf, first_spine + i, uplink, shape.port_latency, -1, Medium::optical, leaf});
    return graph;
}

}  // namespace windtunnel::topology
