#include "windtunnel/avail/checkpoint_cycle.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

model::TimeLaw fixed(double time) {
    return {model::TimeLawKind::deterministic, 1.0, time, {}, {}};
}

model::CheckpointCycle job(double mtbf, double write, double restart, bool inside) {
    model::CheckpointCycle one;
    one.mtbf = mtbf;
    one.write = write;
    one.work = 100.0;
    one.failures_in_recovery = inside;
    one.layers = {{"restart", 1.0, fixed(restart), 0.0, true}};
    return one;
}

TEST(CheckpointCycle, FailuresInsideARestartCostMore) {
    // M = 1, w = 0.5, d = 0.25, R = 0.1. Outside: (M + R)(e^0.75 - 1); inside, Daly: e^0.1 (e^0.75 - 1).
    const double grown = std::exp(0.75) - 1.0;
    EXPECT_NEAR(cycle_moments(job(1.0, 0.25, 0.1, false), 0.5).mean, 1.1 * grown, 1e-13);
    EXPECT_NEAR(cycle_moments(job(1.0, 0.25, 0.1, true), 0.5).mean, std::exp(0.1) * grown, 1e-13);
}

TEST(CheckpointCycle, LayersThatGoOnOnlyAddTheirTime) {
    // Nothing goes back: L = 1 of work at rate 0.5 of failures of 0.2 + 0.1 each: mean 1 + 0.5 x 0.3, variance 0.5 x
    // 0.09.
    model::CheckpointCycle one = job(2.0, 0.0, 0.0, false);
    one.layers = {{"online", 1.0, fixed(0.2), 0.1, false}};
    const CycleMoments cycle = cycle_moments(one, 1.0);
    EXPECT_NEAR(cycle.mean, 1.15, 1e-14);
    EXPECT_NEAR(cycle.variance, 0.045, 1e-14);
    EXPECT_EQ(cycle.clean, 1.0);
}

/// Both moments against paths of the same rules, with laws and layers of all kinds.
TEST(CheckpointCycle, MomentsAgreeWithPaths) {
    for (const bool inside : {false, true}) {
        model::CheckpointCycle one = job(1.0, 0.1, 0.0, inside);
        one.layers = {{"online", 0.6, {model::TimeLawKind::exponential, 1.0, 0.05, {}, {}}, 0.02, false},
                      {"restart", 0.4, {model::TimeLawKind::uniform, 0.1, 0.5, {}, {}}, 0.0, true}};
        base::Draws draws{base::RandomStream{3, 1, inside ? 1u : 0u}};
        const auto exponential = [&] { return -std::log(draws.uniform()); };
        const auto recovery = [&](const model::TimeLaw& law) {
            double sum = 0.0;
            for (;;) {
                const double time = sample(law, draws), failure = inside ? exponential() : 1e9;
                if (time <= failure) return sum + time;
                sum += failure;
            }
        };
        double sum = 0.0, square = 0.0;
        constexpr int paths = 40'000;
        for (int path = 0; path < paths; ++path) {
            double total = 0.0, done = 0.0;
            while (done < 0.9) {  // 0.8 of work and 0.1 of writing
                const double until = exponential();
                if (done + until >= 0.9) {
                    total += 0.9 - done;
                    break;
                }
                total += until;
                done += until;
                if (draws.uniform() < 0.6) {
                    total += recovery(one.layers[0].recover) + 0.02;
                } else {
                    total += recovery(one.layers[1].recover);
                    done = 0.0;
                }
            }
            sum += total;
            square += total * total;
        }
        const CycleMoments cycle = cycle_moments(one, 0.8);
        const double mean_time = sum / paths, variance = square / paths - mean_time * mean_time;
        EXPECT_NEAR(cycle.mean, mean_time, 4.0 * std::sqrt(cycle.variance / paths));
        EXPECT_NEAR(cycle.variance, variance, 0.05 * variance);
    }
}

TEST(CheckpointCycle, TheOptimumIsBetterThanItsNeighbours) {
    const model::CheckpointCycle one = job(24.0, 0.5, 0.2, true);
    const double best = interval_of(one, model::IntervalRule::optimum);
    EXPECT_LT(wall_time(one, best).mean, wall_time(one, 0.99 * best).mean);
    EXPECT_LT(wall_time(one, best).mean, wall_time(one, 1.01 * best).mean);
    EXPECT_NEAR(best, interval_of(one, model::IntervalRule::daly), 1e-3 * best);
    EXPECT_NEAR(interval_of(one, model::IntervalRule::young), std::sqrt(24.0), 1e-12);
}

}  // namespace
}  // namespace windtunnel::avail
