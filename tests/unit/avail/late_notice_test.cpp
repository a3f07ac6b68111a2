/// What is noticed late, cut off at a limit, complete later, or old at the start.
#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/law.hpp"
#include "windtunnel/avail/summary.hpp"

namespace windtunnel::avail {
namespace {

using model::Effect;
using model::Law;
using model::LawKind;
using Lost = model::RecoveryRung::Lost;

Law fixed(double seconds) {
    return {LawKind::deterministic, 1.0, Seconds{seconds}};
}
Law exponential_law(double mean) {
    return {LawKind::exponential, 1.0, Seconds{mean}};
}

/// 1-second steps for 200,000 s, a checkpoint without cost every 100 s, a part that fails every 2,000 s on average.
JobOnCluster long_job(Effect effect) {
    JobOnCluster job;
    job.num_nodes = 4;
    job.step_time = Seconds{1};
    job.horizon = Seconds{200'000};
    job.checkpoint_steps = 100;
    job.restart = fixed(20);
    job.classes = {{"part", 1, exponential_law(2'000), fixed(0), effect, 1.0, false}};
    job.ageing = Ageing::while_running;
    return job;
}

TEST(Detection, OneFailureByHand) {
    // Fails at 75 s (75 s of work, checkpoint at 70), is noticed at 85, restarts until 90, has 30 s of work left: 120.
    JobOnCluster job = long_job(Effect::stops);
    job.num_steps = 100;
    job.checkpoint_steps = 10;
    job.restart = fixed(5);
    job.classes = {{"part", 1, fixed(75), fixed(0), Effect::stops, 1.0, false, fixed(10)}};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.detection.value(), 10.0);
    EXPECT_DOUBLE_EQ(h.recovery.value(), 5.0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 5.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 120.0);
    EXPECT_DOUBLE_EQ(h.time_lost[0].value(), 20.0);
}

TEST(Detection, CostsAsMuchAsALongerRestart) {
    // Nothing fails while the job is down: detection 30 s + restart 20 s is exactly a restart of 50 s.
    JobOnCluster job = long_job(Effect::stops), longer = job;
    job.classes[0].detection = fixed(30);
    longer.restart = fixed(50);
    EXPECT_FALSE(exact_answer(job).answer.has_value());
    const Summary summary = evaluate(job, 1, {0, 200});
    const double exact = exact_answer(longer).answer->goodput;
    EXPECT_NEAR(summary.goodput.moments.mean, exact, 4.0 * summary.goodput.moments.standard_error() + 1e-4);
    EXPECT_NEAR(summary.detection_s.mean / summary.recovery_s.mean, 1.5, 0.01);
}

TEST(Detection, CorruptionLosesTheWorkUntilItIsNoticed) {
    // The last checkpoint before it is 50 s old on average, and 130 s later it is noticed: 180 s lost. Corruption in
    // corrupted work is found with it: a further one (130 s at 1/2,000 s) seldom comes, and adds nothing to the loss of
    // the first; so many are one.
    JobOnCluster job = long_job(Effect::corrupts);
    job.classes[0].detection = fixed(130);
    const Summary summary = evaluate(job, 1, {0, 200});
    const double each = summary.lost_s.mean / static_cast<double>(summary.recoveries[0]) * 200.0;
    EXPECT_NEAR(each, 180.0, 2.0);
}

TEST(Detection, OfCorruptionByHand) {
    // Corrupt at 75 s: the checkpoint at 70 is clean, those at 80 and 90 are not. Noticed at 95 s: back to 70 s of
    // work, restart until 100 s, 30 s of work left: 130 s.
    JobOnCluster job = long_job(Effect::corrupts);
    job.num_steps = 100;
    job.checkpoint_steps = 10;
    job.restart = fixed(5);
    job.classes = {{"part", 1, fixed(75), fixed(0), Effect::corrupts, 1.0, false, fixed(20)}};
    Rung retry{"retry", 1.0, fixed(1), Lost::nothing, {true}, false};
    job.ladder = {retry};  // keeps the wrong numbers: it does not help
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 25.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 130.0);
    EXPECT_EQ(h.recoveries[1], 1U);
    EXPECT_DOUBLE_EQ((h.useful + h.lost + h.recovery).value(), h.wall.value());
}

TEST(Limit, CutsARungOffAndKeepsItsTime) {
    // Exponential of mean 60 s cut off at 90 s: it helps with 1 - e^-1.5 = 0.7769, and takes 60 x 0.7769 = 46.6 s on
    // average; the restart of 20 s follows with 0.2231: 51.1 s together.
    JobOnCluster job = long_job(Effect::stops);
    Rung retry{"retry", 1.0, exponential_law(60), Lost::nothing, {true}, false};
    retry.limit = Seconds{90};
    job.ladder = {retry};
    const Summary summary = evaluate(job, 1, {0, 200});
    const double helped = -std::expm1(-1.5), all = static_cast<double>(summary.recoveries[0] + summary.recoveries[1]);
    EXPECT_NEAR(static_cast<double>(summary.recoveries[0]) / all, helped, 4.0 * std::sqrt(helped * (1 - helped) / all));
    EXPECT_NEAR(summary.recovery_s.mean * 200.0 / all, 60.0 * helped + 20.0 * (1.0 - helped), 1.0);
}

TEST(Background, ACheckpointUnderWayDoesNotCount) {
    // By hand: checkpoints at 10, 20, ... s take 6 s more in the background. A failure at 23 s finds the one of 20 s
    // incomplete: back to 10 s, 13 s lost. After the restart, at 28 s, the next failure comes 75 s of life later.
    JobOnCluster job = long_job(Effect::stops);
    job.num_steps = 30;
    job.checkpoint_steps = 10;
    job.checkpoint_background = Seconds{6};
    job.restart = fixed(5);
    job.classes = {{"part", 1, fixed(23), fixed(0), Effect::stops, 1.0, false}};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 13.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 48.0);
    // From a rollback to the next failure, exponential of mean 2,000 s: its remainder after whole intervals of 100 s is
    // 2,000 - 100 e^-0.05/(1 - e^-0.05) = 49.6 s on average; with e^-0.05 (1 - e^-0.015)/(1 - e^-0.05) = 0.2904 it
    // comes within 30 s of a checkpoint that was written since, and 100 s more are lost: 78.6 s.
    JobOnCluster many = long_job(Effect::stops);
    many.checkpoint_background = Seconds{30};
    const Summary summary = evaluate(many, 1, {0, 200});
    EXPECT_NEAR(summary.lost_s.mean / summary.stops.moments.mean, 78.6, 1.2);
}

TEST(StationaryFleet, FailsAtItsMeanRateFromTheStart) {
    // 100 members of any law, each replaced at once: 100 x 200,000 / 20,000 = 1,000 failures on average; a new Weibull
    // fleet of shape 0.75 has more, one of lognormal lives fewer.
    for (const Law& law : {Law{LawKind::weibull, 0.75, Seconds{16'797.7}}, Law{LawKind::gamma, 2.0, Seconds{10'000}},
                           Law{LawKind::lognormal, 1.0, Seconds{20'000.0 * std::exp(-0.5)}}, fixed(20'000)}) {
        JobOnCluster job = long_job(Effect::none);
        job.classes = {{"part", 100, law, fixed(0), Effect::none, 1.0, false}};
        job.fleet = FleetAge::stationary;
        const Summary summary = evaluate(job, 1, {0, 30});
        EXPECT_NEAR(model::mean(law).value(), 20'000.0, 1.0);
        EXPECT_NEAR(summary.failures[0].mean, 1'000.0, 4.0 * summary.failures[0].standard_error() + 1e-9);
        EXPECT_LT(summary.failures[0].standard_error(), 10.0);
    }
    JobOnCluster job = long_job(Effect::none);
    job.classes = {{"part", 100, {LawKind::weibull, 0.75, Seconds{16'797.7}}, fixed(0), Effect::none, 1.0, false}};
    EXPECT_GT(evaluate(job, 1, {0, 60}).failures[0].mean, 1'030.0);
}

TEST(StationaryFleet, ResidualLivesByHand) {
    // Gamma of shape 2 and scale 1: survival (1 + t) e^-t, mean 2; integral of it from 0 to t over 2:
    // 1 - e^-t (1 + t/2). At t = 1: 1 - 1.5/e = 0.448181; hazard -ln 0.551819 = 0.594535.
    EXPECT_NEAR(residual_time_at_hazard({LawKind::gamma, 2.0, Seconds{1}}, -std::log(1.5 * std::exp(-1.0))).value(),
                1.0, 1e-9);
    EXPECT_NEAR(residual_time_at_hazard({LawKind::weibull, 1.0, Seconds{7}}, 0.3).value(), 2.1, 1e-12);
    EXPECT_NEAR(residual_time_at_hazard(fixed(10), std::log(2.0)).value(), 5.0, 1e-12);
}

TEST(SparePool, LevelOverTime) {
    // One spare; a part fails at 75 s and takes it: of 140 s the pool is empty for 65 s.
    JobOnCluster job = long_job(Effect::stops);
    job.horizon = Seconds{2'000};
    job.spare_nodes = 1;
    job.classes = {{"part", 1, {LawKind::deterministic, 1.0, Seconds{75}}, fixed(1'000), Effect::stops, 1.0, true},
                   {"never", 1, fixed(1e9), fixed(0), Effect::none, 1.0, false}};
    job.horizon = Seconds{140};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.without_spare.value(), 65.0);
    EXPECT_DOUBLE_EQ(h.spare_seconds, 75.0);
}

}  // namespace
}  // namespace windtunnel::avail
