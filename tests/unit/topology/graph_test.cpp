#include "windtunnel/topology/graph.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/topology/builders.hpp"
#include "windtunnel/topology/cuts.hpp"
#include "windtunnel/topology/routes.hpp"

namespace windtunnel::topology {
namespace {

/// CloudMatrix384 as published: 392 GB/s a package over 7 planes, 448 GB/s from each first-level chip.
SupernodeShape cloudmatrix() {
    return {48,
            8,
            4,
            7,
            16,
            BytesPerSecond{392e9},
            BytesPerSecond{160e9},
            BytesPerSecond{448e9},
            Seconds{0.2e-6},
            Seconds{0.5e-6},
            BytesPerSecond{56e9},
            4};
}
/// Two nodes of the same kind, small enough to be worked by hand.
SupernodeShape small() {
    return {4,
            2,
            0,
            3,
            2,
            BytesPerSecond{30e9},
            BytesPerSecond{0.0},
            BytesPerSecond{20e9},
            Seconds{1e-6},
            Seconds{1e-6},
            BytesPerSecond{10e9},
            1};
}
/// 8 cards of 196 GB/s in a mesh, ports of 25 GB/s.
MeshNodesShape atlas(int nodes, int radix, double oversubscription) {
    return {nodes,          8, BytesPerSecond{196e9}, BytesPerSecond{25e9}, radix, oversubscription, Seconds{0.5e-6},
            Seconds{1.5e-6}};
}

// 48 x 8 = 384 packages, 48 x 7 = 336 first-level and 7 x 16 = 112 second-level chips; 2 x 384 x 7 + 384 x 4 = 6,912.
TEST(Supernode, HasThePublishedCounts) {
    const Graph graph = supernode(cloudmatrix());
    EXPECT_EQ(graph.count(Part::card), 384);
    EXPECT_EQ(graph.count(Part::cpu), 192);
    EXPECT_EQ(graph.count(Part::node_switch), 336);
    EXPECT_EQ(graph.count(Part::plane_switch), 112);
    EXPECT_EQ(optical_modules(cloudmatrix()), 6912);
}

// 7 x 448 = 3,136 = 8 x 392 GB/s: what the cards of a node inject can leave it.
TEST(Supernode, IsNonBlockingAtTheBorderOfANode) {
    const Graph graph = supernode(cloudmatrix());
    const Health all{graph};
    EXPECT_NEAR(uplink_rate(graph, all, 17).value(), 3136e9, 1.0);
    EXPECT_NEAR(8.0 * injection_rate(graph, all, 17 * 8).value(), 3136e9, 1.0);
}

TEST(Supernode, LosesExactlyASeventhWithOnePlane) {
    const Graph graph = supernode(cloudmatrix());
    Health health{graph};
    health.fail_plane(graph, 3);
    for (int node = 0; node < 48; ++node) EXPECT_NEAR(uplink_rate(graph, health, node).value(), 3136e9 * 6 / 7, 1.0);
    EXPECT_TRUE(cards_connected(graph, health));
}

TEST(Supernode, KeepsEveryCardConnectedAfterAnySingleLoss) {
    const Graph graph = supernode(cloudmatrix());
    for (const int lost : graph.all(Part::plane_switch)) {
        Health health{graph};
        health.fail_component(lost);
        EXPECT_TRUE(cards_connected(graph, health)) << lost;
    }
    for (int plane = 0; plane < 7; ++plane) {
        Health health{graph};
        health.fail_plane(graph, plane);
        EXPECT_TRUE(cards_connected(graph, health)) << plane;
    }
    Health none{graph};
    for (int plane = 0; plane < 7; ++plane) none.fail_plane(graph, plane);
    EXPECT_FALSE(cards_connected(graph, none));
}

// 192 cards x 392 GB/s = 75,264 GB/s whichever half they are: by nodes, by parity, or at random.
TEST(Supernode, CarriesTheFullRateOverAnySplitIntoHalves) {
    const Graph graph = supernode(cloudmatrix());
    const Health all{graph};
    for (int kind = 0; kind < 4; ++kind) {
        std::vector<int> order(384), halves[2];
        std::iota(order.begin(), order.end(), 0);
        if (kind >= 2) {
            base::Draws random{{static_cast<std::uint64_t>(kind), 1, 0}};
            for (std::size_t i = 383; i > 0; --i) std::swap(order[i], order[random.bits() % (i + 1)]);
        }
        for (int i = 0; i < 384; ++i) halves[kind == 1 ? i % 2 : i / 192].push_back(order[static_cast<std::size_t>(i)]);
        EXPECT_EQ(min_cut(graph, all, halves[0], halves[1]).value(), 192 * 392e9) << kind;
    }
}

// A card sends 392 GB/s to 383 others, 376 of them in other nodes: 8 x 392 x 376/383 leave a node over 7 x 16 uplinks.
TEST(Supernode, SpreadsUniformAllToAllEvenlyOverAllUplinks) {
    const Graph graph = supernode(cloudmatrix());
    const LinkLoads loads = link_loads(graph, Health{graph}, uniform_all_to_all(graph, 392e9), Spread::spray);
    const double each = 8 * 392e9 * 376 / 383 / 112;
    for (int i = 0; i < graph.num_links(); ++i) {
        if (graph.link(i).medium != Medium::optical) continue;
        ASSERT_NEAR(loads.forward(i), each, each * 1e-9);
        ASSERT_NEAR(loads.backward(i), each, each * 1e-9);
        ASSERT_LE(loads.forward(i), graph.link(i).rate.value());
    }
    EXPECT_EQ(loads.lost, 0.0);
}

// Cards 0 and 6 of nodes 0 and 3, pair on plane (0 + 6) mod 3 = 0: card - chip, two uplinks of 1/2, chip - card. Plane
// 0 down: plane 1.
TEST(Route, OfAPairStaysInItsPlaneAndMovesOnWhenThePlaneIsLost) {
    const Graph graph = supernode(small());
    Health health{graph};
    for (const int plane : {0, 1}) {
        const std::vector<Hop> hops = route(graph, health, 0, 6, Spread::by_pair);
        ASSERT_EQ(hops.size(), 6U);
        double shares = 0.0;
        for (const Hop& hop : hops) {
            EXPECT_EQ(graph.link(hop.link).plane, plane);
            shares += hop.share;
        }
        EXPECT_NEAR(shares, 4.0, 1e-12);  // four hops
        health.fail_plane(graph, 0);
    }
}

// The sum over links of what they carry is the demand times its hops: 2 inside a node, 4 between nodes.
TEST(LinkLoads, AddUpToDemandTimesHops) {
    const Graph graph = supernode(small());
    const std::vector<Demand> demands{{0, 1, 3.0}, {0, 6, 5.0}, {7, 2, 1.0}};
    for (const Spread spread : {Spread::spray, Spread::by_pair}) {
        const LinkLoads loads = link_loads(graph, Health{graph}, demands, spread);
        EXPECT_NEAR(std::accumulate(loads.amount.begin(), loads.amount.end(), 0.0), 3.0 * 2 + 5.0 * 4 + 1.0 * 4, 1e-12);
    }
}

TEST(LinkLoads, CountWhatCannotBeDelivered) {
    const Graph graph = supernode(small());
    Health health{graph};
    health.fail_component(6);
    const std::vector<Demand> demands{{0, 6, 5.0}, {0, 1, 2.0}};
    EXPECT_EQ(link_loads(graph, health, demands, Spread::spray).lost, 5.0);
    EXPECT_TRUE(route(graph, health, 0, 6, Spread::spray).empty());
}

// The sum over all edges of a cut by brute force: all 2^n splits of the other components, for a graph of 10.
TEST(MinCut, EqualsBruteForceOverAllCuts) {
    base::Draws random{{7, 1, 0}};
    for (int trial = 0; trial < 20; ++trial) {
        Graph graph;
        for (int i = 0; i < 8; ++i) graph.add({});
        for (int i = 0; i < 8; ++i)
            for (int j = i + 1; j < 8; ++j)
                if (random.bits() % 3 != 0)
                    graph.connect({i, j, BytesPerSecond{static_cast<double>(random.bits() % 20)}, Seconds{0.0}});
        double least = 1e300;
        for (unsigned side = 0; side < 64; ++side) {
            const unsigned with_source = side << 1U | 1U;  // bit 0: source, bit 7 (sink) stays clear
            double cut = 0.0;
            for (const FabricLink& link : graph.links())
                if ((with_source >> static_cast<unsigned>(link.a) & 1U) !=
                    (with_source >> static_cast<unsigned>(link.b) & 1U))
                    cut += link.rate.value();
            least = std::min(least, cut);
        }
        const int source[] = {0}, sink[] = {7};
        EXPECT_EQ(min_cut(graph, Health{graph}, source, sink).value(), least);
    }
}

// 64 ports: 32 down and 32 up at 1:1; 42 and 21 at 2:1 (63 of 64); 51 and 13 at 4:1 (51/4 = 12.75).
TEST(LeafPorts, FillTheRadix) {
    EXPECT_EQ(leaf_ports(64, 1.0).down, 32);
    EXPECT_EQ(leaf_ports(64, 2.0).down, 42);
    EXPECT_EQ(leaf_ports(64, 2.0).up, 21);
    EXPECT_EQ(leaf_ports(64, 4.0).down, 51);
    EXPECT_EQ(leaf_ports(2, 8.0).down, 1);
}

// 16 nodes of 8 on leaves of 32 card ports: 4 leaves; the first two leaves send 64 x 25 GB/s at 1:1, half of it at 2:1
// (leaves of 42: split at a border of leaves, 84 cards to 44).
TEST(MeshNodes, PassAtMostTheirOversubscribedRate) {
    const Graph even = mesh_nodes(atlas(16, 64, 1.0));
    EXPECT_EQ(even.count(Part::leaf), 4);
    EXPECT_EQ(even.count(Part::spine), 32);
    std::vector<int> left(64), right(64);
    std::iota(left.begin(), left.end(), 0);
    std::iota(right.begin(), right.end(), 64);
    EXPECT_NEAR(min_cut(even, Health{even}, left, right).value(), 64 * 25e9, 1e3);

    const Graph tight = mesh_nodes(atlas(21, 64, 2.0));  // 168 cards = 4 leaves of 42
    std::vector<int> first(84), second(84);
    std::iota(first.begin(), first.end(), 0);
    std::iota(second.begin(), second.end(), 84);
    // The node at the border (cards 80 to 87) also has its mesh: 4 x 4 links of 28 GB/s.
    EXPECT_NEAR(min_cut(tight, Health{tight}, first, second).value(), 84 * 25e9 / 2 + 16 * 28e9, 1e3);
}

TEST(MeshNodes, ReachEachOtherOverTheMeshInsideAndTheLeafOutside) {
    const Graph graph = mesh_nodes(atlas(2, 64, 1.0));
    EXPECT_EQ(graph.count(Part::spine), 0);  // one leaf is enough
    EXPECT_EQ(route(graph, Health{graph}, 0, 7, Spread::spray).size(), 1U);
    EXPECT_EQ(route(graph, Health{graph}, 0, 8, Spread::spray).size(), 2U);
    EXPECT_NEAR(injection_rate(graph, Health{graph}, 0).value(), 196e9 + 25e9, 1.0);
}

TEST(Health, LinksOfOneCommonCauseFailTogether) {
    const Graph graph = supernode(small());
    Health health{graph};
    health.fail_common_cause(graph, 1);  // node 0, plane 1
    EXPECT_NEAR(uplink_rate(graph, health, 0).value(), 2 * 20e9, 1.0);
    EXPECT_NEAR(uplink_rate(graph, health, 1).value(), 3 * 20e9, 1.0);
}

}  // namespace
}  // namespace windtunnel::topology
