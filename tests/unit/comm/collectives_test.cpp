#include "windtunnel/comm/collectives.hpp"

#include <gtest/gtest.h>

namespace windtunnel::comm {
namespace {

constexpr Link nvlink{BytesPerSecond{200e9}, Seconds{5e-6}};
constexpr Link nic{BytesPerSecond{25e9}, Seconds{10e-6}};
constexpr Links two_tiers{nvlink, nic, 8};

// 7 steps of 5 us + (1.6e9/8)/200e9 = 1 ms: 7.035 ms; all-reduce twice that.
TEST(RingAllGather, TakesOneStepLessThanRanks) {
    EXPECT_NEAR(ring_all_gather_time(Bytes{1.6e9}, 8, nvlink).value(), 7.035e-3, 1e-12);
    EXPECT_NEAR(ring_all_reduce_time(Bytes{1.6e9}, 8, nvlink).value(), 14.07e-3, 1e-12);
}

TEST(RingAllReduce, OneRankNeedsNoTime) {
    EXPECT_EQ(ring_all_reduce_time(Bytes{1e9}, 1, nvlink).value(), 0.0);
    EXPECT_EQ(all_reduce_time(Bytes{1e9}, {1, 1, 1}, two_tiers).value(), 0.0);
    EXPECT_EQ(all_to_all_time(Bytes{1e9}, {1, 1, 1}, two_tiers).value(), 0.0);
}

TEST(RingAllReduce, NothingNeedsNoTime) {
    EXPECT_EQ(ring_all_reduce_time(Bytes{0.0}, 8, nvlink).value(), 0.0);
}

// Two equal tiers without latency: outside (d-1)/n + inside (g-1)/g = (n-1)/n of the message.
TEST(AllGather, OverTwoEqualTiersIsTheFlatFormula) {
    const Link same{BytesPerSecond{100e9}, Seconds{0.0}};
    const Seconds two = all_gather_time(Bytes{3.2e9}, {32, 8, 4}, {same, same, 8});
    EXPECT_NEAR(two.value(), ring_all_gather_time(Bytes{3.2e9}, 32, same).value(), 1e-15);
}

// 16 ranks, 8 in each of 2 nodes, 1.6 GB: outside 1 step of 10 us + (0.2e9/2)/25e9 = 4 ms; inside 7 steps of 5 us + 1
// ms.
TEST(AllGather, UsesEveryPortOfANode) {
    EXPECT_NEAR(all_gather_time(Bytes{1.6e9}, {16, 8, 2}, two_tiers).value(), 4.01e-3 + 7.035e-3, 1e-12);
}

// One member a node: each of 15 steps moves 0.1 GB over one port: 15 x (10 us + 4 ms).
TEST(AllGather, OfLoneMembersHasOnePortOnly) {
    EXPECT_NEAR(all_gather_time(Bytes{1.6e9}, {16, 1, 16}, two_tiers).value(), 15 * 4.01e-3, 1e-12);
}

// 32 ranks, 8 a node, 320 MB each: 24/32 leave by the port (9.6 ms + 10 us), 7/32 go to neighbours (0.35 ms): the port
// counts.
TEST(AllToAll, IsBoundByTheSlowerTier) {
    EXPECT_NEAR(all_to_all_time(Bytes{320e6}, {32, 8, 4}, two_tiers).value(), 9.6e-3 + 10e-6, 1e-12);
    EXPECT_NEAR(all_to_all_time(Bytes{320e6}, {8, 8, 1}, two_tiers).value(), 320e6 * 7 / 8 / 200e9 + 5e-6, 1e-12);
}

TEST(LinksOf, TakeTheFittedFractionOfTheDataSheet) {
    model::Accelerator card;
    card.scale_up = {BytesPerSecond{400e9}, Seconds{1e-6}, "x"};
    card.scale_out = {BytesPerSecond{50e9}, Seconds{2e-6}, "y"};
    card.scale_up_domain = 8;
    model::Efficiency efficiency;
    efficiency.scale_up = 0.5;
    efficiency.scale_out = 0.8;
    const Links links = links_of(card, efficiency);
    EXPECT_EQ(links.inside.bandwidth.value(), 200e9);
    EXPECT_EQ(links.outside.bandwidth.value(), 40e9);
    EXPECT_EQ(links.outside.latency.value(), 2e-6);
}

}  // namespace
}  // namespace windtunnel::comm
