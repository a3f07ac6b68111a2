#include "windtunnel/driver/hand_out.hpp"

#include <gtest/gtest.h>

#include <set>

#include "windtunnel/driver/dry_run.hpp"

namespace windtunnel::driver {
namespace {

TEST(HandOut, ServesEveryIdleRankBeforeAnyoneGetsASecondBundle) {
    HandOut hand_out{3};
    std::set<int> first;
    for (int i = 0; i < 3; ++i) {
        const auto gift = hand_out.next(100);
        ASSERT_TRUE(gift);
        EXPECT_EQ(gift->blocks, 1U);  // nobody knows yet how long a block takes
        first.insert(gift->rank);
        hand_out.given(gift->rank, 1);
    }
    EXPECT_EQ(first.size(), 3U);
    for (int i = 0; i < 3; ++i) {
        const auto gift = hand_out.next(97);
        ASSERT_TRUE(gift);
        hand_out.given(gift->rank, 1);
    }
    EXPECT_FALSE(hand_out.next(94));  // one in work and one in hand
    EXPECT_EQ(hand_out.in_hand(), 6U);
}

TEST(HandOut, MakesBundlesOfShortBlocksAndSingleOnesOfLongBlocks) {
    // Blocks of 1 ms: 20 last a bundle of 20 ms. Blocks of 1 s: one.
    for (const auto& [time, blocks] : {std::pair{Seconds{1e-3}, 20U}, {Seconds{1.0}, 1U}}) {
        HandOut hand_out{2};
        const auto gift = hand_out.next(100'000);
        hand_out.given(gift->rank, 1);
        hand_out.done(gift->rank, 1, time);
        EXPECT_EQ(hand_out.next(100'000)->blocks, blocks);
    }
}

TEST(HandOut, GivesTheLastBlocksOneByOneToWhoeverIsFree) {
    HandOut hand_out{4};
    for (int i = 0; i < 3; ++i) hand_out.given(hand_out.next(100)->rank, 1);
    const auto last = hand_out.next(3);  // three blocks are left for four ranks
    ASSERT_TRUE(last);
    EXPECT_EQ(last->blocks, 1U);
    hand_out.given(last->rank, 1);
    EXPECT_FALSE(hand_out.next(2));  // nobody is idle
    hand_out.done(last->rank, 1, Seconds{1.0});
    EXPECT_EQ(hand_out.next(2)->rank, last->rank);
}

TEST(HandOut, AsksARankAgainThatGotNothing) {
    HandOut hand_out{1};
    hand_out.given(hand_out.next(5)->rank, 0);
    EXPECT_TRUE(hand_out.next(5));
}

constexpr DryRunCosts costs{Seconds{5e-6}, Seconds{2e-6}, Seconds{5e-6}};

TEST(DryRunOfRanks, OfOneWorkerAndNoCostsIsTheWork) {
    const DryRun run = dry_run({2, 100, Seconds{0.1}, 0.0}, {});
    EXPECT_NEAR(run.wall.value(), 10.0, 1e-9);
    EXPECT_NEAR(run.efficiency, 1.0, 1e-9);
}

TEST(DryRunOfRanks, LosesTheTailOfTheLastBlocks) {
    // 3 blocks of 1 s on 2 workers: 2 s of wall, 3 s of work: 75 %.
    EXPECT_NEAR(dry_run({3, 3, Seconds{1.0}, 0.0}, {}).efficiency, 0.75, 1e-9);
}

TEST(DryRunOfRanks, OfLongBlocksUsesAThousandRanks) {
    EXPECT_GT(dry_run({1024, 20 * 1023, Seconds{0.1}, 0.2}, costs).efficiency, 0.9);
}

TEST(DryRunOfRanks, IsBoundByRankZeroWhenBlocksAreTooShort) {
    // Without bundles one message in and one out for each block of 1 ms: 12 us a block serve 1 ms / 12 us = 83 workers.
    EXPECT_NEAR(most_useful_ranks(Seconds{1e-3}, 1.0, costs), 83.3, 0.1);
    // Bundles of 20: (2 x 5 us + 20 x 2 us) for 20 ms: 400 workers.
    EXPECT_NEAR(most_useful_ranks(Seconds{1e-3}, 20.0, costs), 400.0, 0.1);
    const DryRun run = dry_run({10'001, 1'000'000, Seconds{1e-3}, 0.2}, costs);
    EXPECT_GT(run.root_busy, 0.9);
    EXPECT_LT(run.efficiency, 0.1);
}

}  // namespace
}  // namespace windtunnel::driver
