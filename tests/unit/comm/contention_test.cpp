#include "windtunnel/comm/contention.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "windtunnel/comm/collectives.hpp"
#include "windtunnel/comm/fair_share.hpp"
#include "windtunnel/topology/builders.hpp"

namespace windtunnel::comm {
namespace {

using enum CollectiveAlgorithm;

// 16 domains, 4 a leaf. Neighbours: 1 of 4 crosses; 3 on: 3 of 4; 8 on: all; 15 on is 1 back.
TEST(CrossingShare, CountsPartnersUnderAnotherLeaf) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    const Fabric fabric{4, 2.0};
    EXPECT_EQ(crossing_share(group, 1, fabric), 0.25);
    EXPECT_EQ(crossing_share(group, 3, fabric), 0.75);
    EXPECT_EQ(crossing_share(group, 8, fabric), 1.0);
    EXPECT_EQ(crossing_share(group, 15, fabric), 0.25);
    EXPECT_EQ(crossing_share({16, 1, 16, 4}, 1, fabric), 1.0);  // members four domains apart
    EXPECT_EQ(crossing_share({32, 8, 4, 1}, 1, fabric), 0.0);   // within one leaf
    EXPECT_EQ(crossing_share(group, 1, {}), 0.0);
}

// 8:1. The ring: 8/4 = 2. NB over 16: distances 1, 2, 4, 8 move 1, 2, 4, 8 blocks at 2, 4, 8, 8: 106/15.
TEST(LeafSlowdown, DependsOnTheAlgorithm) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    const Fabric fabric{4, 8.0};
    EXPECT_EQ(leaf_slowdown(ring, group, fabric), 2.0);
    EXPECT_NEAR(leaf_slowdown(nb, group, fabric), 106.0 / 15.0, 1e-12);
    EXPECT_EQ(leaf_slowdown(nb, group, {4, 1.0}), 1.0);
    EXPECT_EQ(leaf_slowdown(ring, {8, 8, 1, 1}, fabric), 1.0);
}

// The slow twin: flows of one round on the graph, all cards at once, shared fairly. The slowest flow of each round
// counts.
TEST(LeafSlowdown, IsThatOfFairFlowsOnTheGraph) {
    const topology::Graph graph =  // 8 nodes of 2 cards, leaves of 4 cards = 2 nodes, 4:1
        topology::mesh_nodes({8, 2, BytesPerSecond{100e9}, BytesPerSecond{10e9}, 5, 4.0, Seconds{0.0}, Seconds{0.0}});
    ASSERT_EQ(topology::leaf_ports(5, 4.0).down, 4);
    const topology::Health health{graph};
    const auto channels = channels_of(graph, health);
    const topology::GroupPlacement group{16, 2, 8, 1};
    const Fabric fabric{2, 4.0};
    for (int distance = 1; distance < 8; ++distance) {
        std::vector<Flow> flows;
        for (int card = 0; card < 16; ++card)
            flows.push_back(flow_of(graph, health, card, (card + 2 * distance) % 16, topology::Spread::spray));
        const auto rates = fair_rates(channels, flows);
        const double slowest = std::min_element(rates.begin(), rates.end())->value();
        EXPECT_NEAR(10e9 / slowest, std::max(1.0, 4.0 * crossing_share(group, distance, fabric)), 1e-9) << distance;
    }
}

/// 16 nodes of 8, 4 nodes under a leaf.
Links links(double oversubscription, CollectiveAlgorithm outside) {
    Links all{{BytesPerSecond{200e9}, Seconds{1e-6}}, {BytesPerSecond{25e9}, Seconds{10e-6}}, 8};
    all.outside_algorithm = outside;
    all.fabric = {4, oversubscription};
    return all;
}

// 1.6 GB over 128 ranks; outside 15 steps of 0.2 GB / 16 at half of 25 GB/s: 15 x (10 us + 1 ms); inside 7 x (1 us + 1
// ms).
TEST(AllGather, FeelsOversubscribedLeaves) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    EXPECT_NEAR(all_gather_time(Bytes{1.6e9}, group, links(8.0, ring)).value(), 15 * 1.01e-3 + 7 * 1.001e-3, 1e-12);
    EXPECT_NEAR(all_gather_time(Bytes{1.6e9}, group, links(1.0, ring)).value(), 15 * 0.51e-3 + 7 * 1.001e-3, 1e-12);
}

// 256 KB: 15 rounds of 10 us of the ring become 4 of NB; automatic takes the better of all.
TEST(AllGather, GoesByTheAlgorithmOfTheTier) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    const Seconds slow = all_gather_time(Bytes{256e3}, group, links(1.0, ring));
    const Seconds fast = all_gather_time(Bytes{256e3}, group, links(1.0, nb));
    EXPECT_NEAR((slow - fast).value(), 11 * 10e-6, 1e-12);
    for (const double bytes : {1e4, 1e7, 1e10})
        for (const double oversubscription : {1.0, 8.0}) {
            const Seconds least = all_gather_time(Bytes{bytes}, group, links(oversubscription, automatic));
            for (const CollectiveAlgorithm other : {ring, nhr, nb, halving_doubling, pairwise})
                EXPECT_LE(least, all_gather_time(Bytes{bytes}, group, links(oversubscription, other)));
        }
}

// Behind 8:1 leaves the ring beats the logarithm for large messages: neighbours stay under their leaf.
TEST(AllReduce, OfLargeMessagesPrefersNeighboursBehindLeaves) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    EXPECT_LT(all_reduce_time(Bytes{1e9}, group, links(8.0, ring)), all_reduce_time(Bytes{1e9}, group, links(8.0, nb)));
    EXPECT_GT(all_reduce_time(Bytes{1e4}, group, links(8.0, ring)), all_reduce_time(Bytes{1e4}, group, links(8.0, nb)));
}

// What an algorithm does not do is done by the ring: a tree gathers nothing.
TEST(AllGather, FallsBackToTheRing) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    EXPECT_EQ(all_gather_time(Bytes{1e9}, group, links(1.0, tree)),
              all_gather_time(Bytes{1e9}, group, links(1.0, ring)));
}

// 320 MB over 128 ranks: 120/128 leave the node; 8:1 and shares 2 (1 + 2 + 3)/4 + 9 of 15 distances cross: 8 x 12/15
// = 6.4.
TEST(AllToAll, FeelsOversubscribedLeaves) {
    const topology::GroupPlacement group{128, 8, 16, 1};
    EXPECT_NEAR(all_to_all_time(Bytes{320e6}, group, links(8.0, ring)).value(), 10e-6 + 320e6 * 120 / 128 / 25e9 * 6.4,
                1e-9);
}

}  // namespace
}  // namespace windtunnel::comm
