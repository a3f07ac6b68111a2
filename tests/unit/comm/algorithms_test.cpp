#include "windtunnel/comm/algorithms.hpp"

#include <gtest/gtest.h>

#include "windtunnel/comm/message_schedule.hpp"

namespace windtunnel::comm {
namespace {

using enum CollectiveAlgorithm;
constexpr Operation all_operations[] = {Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce,
                                        Operation::all_to_all, Operation::broadcast};
constexpr Link ub{BytesPerSecond{150e9}, Seconds{5.5e-6}};

// ceil(log2 N): 6 -> 3, 48 -> 6, 384 -> 9, 1000 -> 10.
TEST(NonuniformBruck, NeedsTheLogarithmInRounds) {
    const int sizes[] = {6, 48, 384, 1000}, rounds[] = {3, 6, 9, 10};
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(steps(Operation::all_gather, nb, sizes[i])->rounds, rounds[i]);
        EXPECT_EQ(steps(Operation::all_gather, nhr, sizes[i])->rounds, rounds[i]);
        EXPECT_EQ(steps(Operation::all_reduce, nb, sizes[i])->rounds, 2 * rounds[i]);
    }
}

// Start-up at N = 1024, a = 5.5 us: ring 2 x 1023 x 5.5 us = 11.253 ms, NB 2 x 10 x 5.5 us = 0.110 ms; one volume.
TEST(NonuniformBruck, StartsUpAHundredTimesFasterThanTheRingWithEqualVolume) {
    const Steps slow = *steps(Operation::all_reduce, ring, 1024), fast = *steps(Operation::all_reduce, nb, 1024);
    EXPECT_NEAR(slow.rounds * 5.5e-6, 11.253e-3, 1e-9);
    EXPECT_NEAR(fast.rounds * 5.5e-6, 0.110e-3, 1e-9);
    EXPECT_EQ(slow.volume, fast.volume);
}

// Every algorithm that is spelled out delivers each block exactly once, in the rounds and with the volume of the closed
// form. The tree is pipelined there: here its rounds count, and no port carries more than the volume.
TEST(Algorithms, AgreeWithTheirMessages) {
    int compared = 0;
    for (const Operation operation : all_operations)
        for (int a = 0; a < model::num_collective_algorithms; ++a)
            for (const int n : {2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 17}) {
                const auto algorithm = static_cast<CollectiveAlgorithm>(a);
                const auto schedule = message_schedule(operation, algorithm, n);
                const auto closed = steps(operation, algorithm, n);
                if (!schedule) continue;
                ASSERT_TRUE(closed) << a << ' ' << n;
                const Delivery delivery = deliver(operation, *schedule);
                EXPECT_TRUE(delivery.exact) << name_of(algorithm) << ' ' << n << " op " << static_cast<int>(operation);
                EXPECT_EQ(delivery.rounds, closed->rounds) << name_of(algorithm) << ' ' << n;
                if (algorithm == tree && operation == Operation::all_reduce)
                    EXPECT_LE(delivery.port_load, closed->volume + 1e-12) << n;
                else
                    EXPECT_NEAR(delivery.volume, closed->volume, 1e-12)
                        << name_of(algorithm) << ' ' << n << " op " << static_cast<int>(operation);
                ++compared;
            }
    EXPECT_GE(compared, 11 * 24);
}

TEST(Delivery, SeesABlockThatComesTwiceOrNever) {
    MessageSchedule schedule = *message_schedule(Operation::all_gather, ring, 4);
    schedule.rounds.back().front().blocks = {0};
    EXPECT_FALSE(deliver(Operation::all_gather, schedule).exact);
    MessageSchedule cut = *message_schedule(Operation::all_reduce, nb, 6);
    cut.rounds.pop_back();
    EXPECT_FALSE(deliver(Operation::all_reduce, cut).exact);
}

// RS over 4 (3 rounds) + AR over 3 by NB (2 x 2 rounds) + AG (3 rounds); volume 2 x 3/4 + (2 x 2/3)/4 = 11/6.
TEST(Hierarchical, DeliversOnceWithTheRoundsAndVolumeOfItsTiers) {
    const Delivery delivery = deliver(Operation::all_reduce, *hierarchical_all_reduce(4, 3, ring, nb));
    EXPECT_TRUE(delivery.exact);
    EXPECT_EQ(delivery.rounds, 3 + 4 + 3);
    EXPECT_NEAR(delivery.volume, 11.0 / 6.0, 1e-12);
    const Link link{BytesPerSecond{1e9}, Seconds{1e-6}};
    const Tier tiers[] = {{4, link, ring}, {3, link, nb}};
    EXPECT_NEAR(tiered_time(Operation::all_reduce, Bytes{1e9}, tiers)->value(), 10e-6 + 11.0 / 6.0, 1e-12);
}

// Volumes (g-1)/g M + (d-1)/(d g) M = (n-1)/n M, for three tiers too: level sums are the flat formula without latency.
TEST(Hierarchical, OfEqualTiersAddsUpToTheFlatVolume) {
    const Link link{BytesPerSecond{50e9}, Seconds{0.0}};
    const Tier tiers[] = {{2, link, ring}, {8, link, nb}, {48, link, nhr}};
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce})
        EXPECT_NEAR(tiered_time(operation, Bytes{1e9}, tiers)->value(),
                    flat_time(operation, ring, Bytes{1e9}, 768, link)->value(), 1e-15);
    // All-to-all passes the whole buffer on each tier: 1/2 + 7/8 + 47/48.
    const Tier pairs[] = {{2, link, pairwise}, {8, link, pairwise}, {48, link, pairwise}};
    EXPECT_NEAR(tiered_time(Operation::all_to_all, Bytes{1e9}, pairs)->value(), (0.5 + 0.875 + 47.0 / 48.0) / 50.0,
                1e-12);
}

// One shot sends 7 M in one round, the ring 14/8 M in 14: equal at M = 13 a B / (7 - 1.75). With 150 GB/s and a = 27 us
// that is 10.03 MB = 9.6 MiB: between 8 and 16 MiB.
TEST(OneShot, BeatsTheRingForSmallMessagesAndLosesForLargeOnes) {
    const Link link{BytesPerSecond{150e9}, Seconds{27e-6}};
    const double mib = 1024.0 * 1024.0;
    const auto time = [&](CollectiveAlgorithm algorithm, double bytes) {
        return flat_time(Operation::all_reduce, algorithm, Bytes{bytes}, 8, link)->value();
    };
    EXPECT_LT(time(one_shot, 8 * mib), time(ring, 8 * mib));
    EXPECT_GT(time(one_shot, 16 * mib), time(ring, 16 * mib));
    const double equal = 13 * 27e-6 * 150e9 / 5.25;
    EXPECT_NEAR(time(one_shot, equal), time(ring, equal), 1e-12);
}

// 4 of 8 in a mesh of 196 GB/s: 3/7 of it is 84; three rounds at once then take 3/4 M / 84.
TEST(SubMesh, HasItsShareOfTheLinks) {
    const Link mesh = sub_mesh({BytesPerSecond{196e9}, Seconds{0.5e-6}}, 4, 8);
    EXPECT_NEAR(mesh.bandwidth.value(), 84e9, 1.0);
    EXPECT_NEAR(flat_time(Operation::all_gather, full_mesh, Bytes{1e9}, 4, mesh)->value(), 0.5e-6 + 0.75 / 84, 1e-12);
    EXPECT_EQ(sub_mesh({BytesPerSecond{196e9}, Seconds{0.0}}, 8, 8).bandwidth.value(), 196e9);
}

// M instead of 2 M (p-1)/p: the bandwidth term falls by 2 (p-1)/p = 1.75 at p = 8.
TEST(InNetwork, ReducesTheVolumeByTwiceTheShare) {
    EXPECT_NEAR(steps(Operation::all_reduce, ring, 8)->volume / steps(Operation::all_reduce, in_network, 8)->volume,
                1.75, 1e-12);
}

// The cheapest is never dearer than any other, small messages take few rounds, large ones the least volume.
TEST(Cheapest, IsTheLeastOfAll) {
    for (const Operation operation : all_operations)
        for (const double bytes : {1e2, 1e5, 1e7, 1e9})
            for (const int n : {2, 6, 64, 1000}) {
                const double least = flat_time(operation, automatic, Bytes{bytes}, n, ub)->value();
                for (const CollectiveAlgorithm other : {ring, tree, halving_doubling, nhr, nb, pairwise, one_shot}) {
                    const auto time = flat_time(operation, other, Bytes{bytes}, n, ub);
                    EXPECT_LE(least, time.value_or(Seconds{1e9}).value());
                }
            }
    EXPECT_EQ(cheapest(Operation::all_reduce, Bytes{64.0}, 8, ub), one_shot);
    EXPECT_EQ(cheapest(Operation::all_reduce, Bytes{1e10}, 48, ub), nhr);
    EXPECT_EQ(cheapest(Operation::all_to_all, Bytes{1e10}, 48, ub), pairwise);
}

// 0.75 GB reduced of 1 GB on 4 ranks at 500 GB/s: 1.5 ms more.
TEST(FlatTime, AddsTheReductionWhereItsRateIsGiven) {
    const double without = flat_time(Operation::reduce_scatter, ring, Bytes{1e9}, 4, ub)->value();
    EXPECT_NEAR(flat_time(Operation::reduce_scatter, ring, Bytes{1e9}, 4, ub, BytesPerSecond{500e9})->value(),
                without + 1.5e-3, 1e-12);
}

TEST(FlatTime, IsNothingForOneRankOrNoBytes) {
    for (const Operation operation : all_operations) {
        EXPECT_EQ(flat_time(operation, automatic, Bytes{1e9}, 1, ub)->value(), 0.0);
        EXPECT_EQ(flat_time(operation, automatic, Bytes{0.0}, 8, ub)->value(), 0.0);
    }
}

}  // namespace
}  // namespace windtunnel::comm
