#include "windtunnel/avail/history.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/summary.hpp"
#include "windtunnel/avail/two_state.hpp"

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

double phases(const History& h) {
    return (h.useful + h.slowed + h.checkpoint + h.lost + h.detection + h.recovery + h.waiting).value();
}

/// 100 steps of 1 s, a checkpoint of 2 s after every 10 steps; one part that fails every `life` seconds.
JobOnCluster small_job(double life) {
    JobOnCluster job;
    job.num_nodes = 4;
    job.spare_nodes = 2;
    job.step_time = Seconds{1};
    job.num_steps = 100;
    job.checkpoint_steps = 10;
    job.checkpoint_write = Seconds{2};
    job.restart = fixed(5);
    job.classes = {{"part", 1, fixed(life), fixed(1000), Effect::stops, 1.0, true}};
    return job;
}

TEST(History, WithoutFailuresIsWorkAndCheckpointsExactly) {
    JobOnCluster job = small_job(1.0);
    job.classes.clear();
    const History h = history(job, 1, 0);
    EXPECT_TRUE(h.finished);
    EXPECT_EQ(h.wall.value(), 118.0);  // 100 + 9 x 2
    EXPECT_EQ(h.useful.value(), 100.0);
    EXPECT_EQ(h.checkpoints, 9U);
    EXPECT_EQ(h.stops, 0U);
}

TEST(History, OneFailureByHand) {
    // Life 75 s. 10 s work + 2 s write: at 72 s six checkpoints are there, at 75 s 3 s of work are lost. Restart until
    // 80 s, 40 s of work with 3 checkpoints to do: 46 s, end at 126 s. The part on the spare node would fail at 75 + 75
    // = 150 s.
    const History h = history(small_job(75), 1, 0);
    EXPECT_TRUE(h.finished);
    EXPECT_DOUBLE_EQ(h.wall.value(), 126.0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 3.0);
    EXPECT_DOUBLE_EQ(h.recovery.value(), 5.0);
    EXPECT_DOUBLE_EQ(h.checkpoint.value(), 18.0);
    EXPECT_DOUBLE_EQ(h.useful.value(), 100.0);
    EXPECT_EQ(h.stops, 1U);
    EXPECT_EQ(h.fewest_spares, 1);
    EXPECT_DOUBLE_EQ(h.time_lost[0].value(), 8.0);
    EXPECT_EQ(h.recoveries, (std::vector<std::uint64_t>{1}));
}

TEST(History, AFailureDuringTheRestartBeginsItAnew) {
    // Two parts, 75 s and 78 s: the second strikes in the restart (75 to 80), which then ends at 83. End 83 + 46 = 129.
    JobOnCluster job = small_job(75);
    job.classes.push_back({"other", 1, fixed(78), fixed(1000), Effect::stops, 1.0, true});
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 129.0);
    EXPECT_DOUBLE_EQ(h.recovery.value(), 8.0);
    EXPECT_EQ(h.stops, 2U);
    EXPECT_EQ(h.fewest_spares, 0);
    EXPECT_DOUBLE_EQ(h.time_lost[0].value(), 11.0);  // the outage belongs to the part that began it
    EXPECT_DOUBLE_EQ(h.time_lost[1].value(), 0.0);
}

TEST(History, ClocksThatRestWhileTheJobIsDownFailLater) {
    // The second part has 3 s left at 75 s; its clock rests until 80 s, so it fails at 83 s after 3 s of work: lost,
    // restart to 88 s, end 88 + 46 = 134.
    JobOnCluster job = small_job(75);
    job.classes.push_back({"other", 1, fixed(78), fixed(1000), Effect::stops, 1.0, true});
    job.ageing = Ageing::while_running;
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 134.0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 6.0);
    EXPECT_DOUBLE_EQ(h.recovery.value(), 10.0);
}

TEST(History, AnEmptyPoolWaitsForTheEarliestReturn) {
    // No spare, repair 1,000 s: waits from 75 to 1,075, restart to 1,080; the mended part is new then.
    JobOnCluster job = small_job(75);
    job.spare_nodes = 0;
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.waiting.value(), 1000.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 1126.0);
    EXPECT_EQ(h.fewest_spares, 0);
}

TEST(History, ARepairInPlaceIsWaitedForAndTakesNoSpare) {
    JobOnCluster job = small_job(75);
    job.classes[0].takes_node = false;
    job.classes[0].repair = fixed(20);
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.waiting.value(), 20.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 146.0);
    EXPECT_EQ(h.fewest_spares, 2);
}

TEST(History, ReturnedNodesFillThePoolAgain) {
    // Repair 1 s: the pool of 2 goes to 1 and back before each next failure.
    JobOnCluster job = small_job(30);
    job.classes[0].repair = fixed(1);
    const History h = history(job, 1, 0);
    EXPECT_GT(h.stops, 3U);
    EXPECT_EQ(h.fewest_spares, 1);
    EXPECT_EQ(h.waiting.value(), 0.0);
}

TEST(History, ARungInPlaceKeepsTheWorkAndTheNode) {
    JobOnCluster job = small_job(75);
    job.ladder = {{"retry", 1.0, fixed(4), Lost::nothing, {true}, false}};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 122.0);  // 118 + 4
    EXPECT_EQ(h.lost.value(), 0.0);
    EXPECT_EQ(h.fewest_spares, 2);
    EXPECT_EQ(h.recoveries, (std::vector<std::uint64_t>{1, 0}));
}

TEST(History, ARungThatLosesAStepRepeatsOnlyThat) {
    JobOnCluster job = small_job(75.25);  // 3.25 s after the checkpoint: a quarter of a step is lost
    job.ladder = {{"step retry", 1.0, fixed(4), Lost::one_step, {true}, false}};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 0.25);
    EXPECT_DOUBLE_EQ(h.wall.value(), 122.25);
}

TEST(History, ARungThatDoesNotSucceedFallsToTheNext) {
    JobOnCluster job = small_job(75);
    job.ladder = {{"never", 0.0, fixed(3), Lost::nothing, {true}, false},
                  {"not mine", 1.0, fixed(1), Lost::nothing, {false}, false},
                  {"move", 1.0, fixed(6), Lost::one_step, {true}, true}};
    const History h = history(job, 1, 0);
    EXPECT_DOUBLE_EQ(h.recovery.value(), 9.0);
    EXPECT_DOUBLE_EQ(h.wall.value(), 127.0);
    EXPECT_EQ(h.recoveries, (std::vector<std::uint64_t>{0, 0, 1, 0}));
    EXPECT_EQ(h.fewest_spares, 1);  // the node was moved
    job.spare_nodes = 0;            // no spare: the rung is skipped, the restart waits for the repair
    const History without = history(job, 1, 0);
    EXPECT_EQ(without.recoveries, (std::vector<std::uint64_t>{0, 0, 0, 1}));
    EXPECT_DOUBLE_EQ(without.waiting.value(), 1000.0);
}

TEST(History, LadderTimeIsTheSumOverRungsThatAreReached) {
    // E[T] = sum t_i prod_{j<i} (1 - s_j): 10 + 0.4 x 30 + 0.4 x 0.5 x 100 = 42 s per failure, over many failures.
    JobOnCluster job = small_job(1000);
    job.num_steps.reset();
    job.checkpoint_steps = 1'000'000;
    job.horizon = Seconds{4e6};
    job.restart = exponential_law(100);
    job.ageing = Ageing::while_running;
    job.ladder = {{"a", 0.6, exponential_law(10), Lost::nothing, {true}, false},
                  {"b", 0.5, exponential_law(30), Lost::nothing, {true}, false}};
    job.classes[0].repair = fixed(0);
    const Summary summary = evaluate(job, 11, {0, 20});
    const double per_failure = summary.recovery_s.mean / summary.stops.moments.mean;
    EXPECT_NEAR(per_failure, 42.0, 4.0 * summary.recovery_s.standard_error() / summary.stops.moments.mean);
}

TEST(History, SlowMembersLengthenStepsUntilRepairedAndTheSlowestCounts) {
    // Two members slow the job at 20 s: factor 1.5 until 60 s and factor 2 until 40 s. No checkpoints. Work by wall
    // time: 20 + 20/2 + 20/1.5 = 43.333 at 60 s; the other 56.667 end at 116.667 s.
    JobOnCluster job = small_job(1.0);
    job.checkpoint_steps.reset();
    job.classes = {{"warm", 1, fixed(20), fixed(40), Effect::slows, 1.5, true},
                   {"hot", 1, fixed(20), fixed(20), Effect::slows, 2.0, true}};
    job.horizon = Seconds{10000};
    const History h = history(job, 1, 0);
    // They are new again at 60 and 40 s and fail at 80 and 60 s: hot slows 60-80, warm 80-120, hot again from 100 s.
    // Work: 20 | 20-40 at 1/2: 10 | 40-60 at 1/1.5: 13.33 | 60-80 at 1/2: 10 | 80-100 at 1/1.5: 13.33 |
    // 100-120 at 1/2: 10 -> 76.667 at 120 | 120-140 free: 20 -> 96.667 at 140, then hot (100 + 20 + 20 = 140) again:
    // 3.333 x 2 = 6.667 -> 146.667 s
    EXPECT_NEAR(h.wall.value(), 146.0 + 2.0 / 3.0, 1e-9);
    EXPECT_NEAR(h.slowed.value(), 46.0 + 2.0 / 3.0, 1e-9);
    EXPECT_EQ(h.stops, 0U);
    EXPECT_NEAR((h.time_lost[0] + h.time_lost[1]).value(), h.slowed.value(), 1e-9);
}

TEST(History, FailuresWithoutEffectAreCountedOnly) {
    JobOnCluster job = small_job(30);
    job.classes[0].effect = Effect::none;
    job.classes[0].repair = fixed(10);
    const History h = history(job, 1, 0);
    EXPECT_EQ(h.wall.value(), 118.0);
    EXPECT_EQ(h.failures[0], 3U);  // 30, 70, 110
}

TEST(History, PhasesSumToWallTimeInEveryTrial) {
    JobOnCluster job = small_job(1.0);
    job.num_steps = 5000;
    job.step_time = Seconds{0.7};
    job.classes = {
        {"weibull", 30, {LawKind::weibull, 0.8, Seconds{9000}}, exponential_law(400), Effect::stops, 1.0, true},
        {"soft", 1, exponential_law(300), exponential_law(3), Effect::stops, 1.0, false},
        {"slow", 5, {LawKind::lognormal, 1.0, Seconds{2000}}, exponential_law(200), Effect::slows, 1.3, true},
        {"none", 5, {LawKind::gamma, 2.0, Seconds{500}}, exponential_law(10), Effect::none, 1.0, true}};
    job.ladder = {{"retry", 0.3, exponential_law(2), Lost::nothing, {true, true, false, false}, false},
                  {"move", 0.5, exponential_law(5), Lost::one_step, {true, false, false, false}, true}};
    for (const Ageing ageing : {Ageing::always, Ageing::while_running}) {
        job.ageing = ageing;
        for (std::uint64_t trial = 0; trial < 200; ++trial) {
            const History h = history(job, 13, trial);
            EXPECT_NEAR(phases(h), h.wall.value(), 1e-9 * h.wall.value());
            EXPECT_TRUE(h.finished);
            EXPECT_DOUBLE_EQ(h.useful.value(), 3500.0);
            EXPECT_GE(h.fewest_spares, 0);
        }
    }
}

TEST(History, StopsAtTheHorizonAndDropsWorkThatTheOutageWillLose) {
    JobOnCluster job = small_job(75);
    job.horizon = Seconds{77};  // inside the restart: 60 s are safe, 3 s are lost
    const History h = history(job, 1, 0);
    EXPECT_FALSE(h.finished);
    EXPECT_EQ(h.wall.value(), 77.0);
    EXPECT_DOUBLE_EQ(h.useful.value(), 60.0);
    EXPECT_DOUBLE_EQ(h.lost.value(), 3.0);
    EXPECT_DOUBLE_EQ(phases(h), 77.0);
}

TEST(History, AJobThatCannotGetAnywhereEndsUnfinished) {
    // Restart 5 s, life 3 s: it never runs again. Given up at 100 failure-free times, 11,800 s.
    const History h = history(small_job(3), 1, 0);
    EXPECT_FALSE(h.finished);
    EXPECT_EQ(h.wall.value(), 11800.0);
}

TEST(History, FailuresAtEveryInstantEndToo) {
    JobOnCluster job = small_job(1e-12);
    job.spare_nodes = 1'000'000'000;
    const History h = history(job, 1, 0);
    EXPECT_FALSE(h.finished);
    EXPECT_LE(h.stops, 1'000'000U);
}

TEST(History, TheLogTellsTheSameStory) {
    std::vector<HistoryEvent> events;
    const History h = history(small_job(75), 1, 0, events);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].what, "part fails");
    EXPECT_EQ(events[0].at.value(), 75.0);
    EXPECT_EQ(events[1].what, "restart succeeds");
    EXPECT_EQ(events[1].steps_done, 60.0);
    EXPECT_EQ(events[1].spares, 1);
    EXPECT_EQ(events[2].what, "work done");
    EXPECT_EQ(events[2].at.value(), h.wall.value());
}

// ---- against exact twins, within 4 standard errors ----

JobOnCluster exponential_job(Ageing ageing, const Law& restart) {
    JobOnCluster job;
    job.num_nodes = 100;
    job.spare_nodes = 50;
    job.step_time = Seconds{4};
    job.num_steps = 3000;
    job.checkpoint_steps = 100;
    job.checkpoint_write = Seconds{30};
    job.restart = restart;
    job.ageing = ageing;
    job.classes = {{"gpu", 800, exponential_law(2e6), exponential_law(3000), Effect::stops, 1.0, true},
                   {"soft", 1, exponential_law(8000), fixed(0), Effect::stops, 1.0, false}};
    return job;
}

TEST(HistoryTwin, ExpectedWallTimeIsTheSegmentFormula) {
    for (const Ageing ageing : {Ageing::always, Ageing::while_running})
        for (const Law& restart : {fixed(300), exponential_law(300), Law{LawKind::gamma, 2.0, Seconds{150}}}) {
            const JobOnCluster job = exponential_job(ageing, restart);
            const auto exact = exact_answer(job);
            ASSERT_TRUE(exact.answer) << exact.reason;
            const Summary summary = evaluate(job, 21, {0, 3000});
            const base::Moments& wall = summary.wall_s.moments;
            EXPECT_NEAR(wall.mean, exact.answer->wall->value(), 4.0 * wall.standard_error())
                << static_cast<int>(restart.kind);
            EXPECT_EQ(summary.num_unfinished, 0U);
        }
}

TEST(HistoryTwin, TheTwoRulesForRestartsDifferByMoreThanTheError) {
    // So the test above cannot pass with the rules exchanged.
    const auto always = exact_answer(exponential_job(Ageing::always, fixed(300)));
    const auto resting = exact_answer(exponential_job(Ageing::while_running, fixed(300)));
    const Summary summary = evaluate(exponential_job(Ageing::always, fixed(300)), 21, {0, 3000});
    EXPECT_GT((*always.answer->wall - *resting.answer->wall).value(), 4.0 * summary.wall_s.moments.standard_error());
}

TEST(HistoryTwin, LongRunGoodputAvailabilityAndStopRate) {
    for (const Ageing ageing : {Ageing::always, Ageing::while_running}) {
        JobOnCluster job = exponential_job(ageing, fixed(300));
        job.num_steps.reset();
        job.horizon = Seconds{4e6};  // about 1,300 failures: end effects are below the error
        const auto exact = exact_answer(job);
        ASSERT_TRUE(exact.answer) << exact.reason;
        const Summary summary = evaluate(job, 22, {0, 100});
        const auto& goodput = summary.goodput.moments;
        EXPECT_NEAR(goodput.mean, exact.answer->goodput, 4.0 * goodput.standard_error());
        const auto& availability = summary.availability.moments;
        EXPECT_NEAR(availability.mean, exact.answer->availability, 4.0 * availability.standard_error());
        EXPECT_NEAR(summary.stops_per_day.mean, exact.answer->stop_rate.value() * 86400.0,
                    4.0 * summary.stops_per_day.standard_error());
    }
}

TEST(HistoryTwin, TwoStateMachine) {
    // One member, repair in place, restart 0: up 900 s, down 100 s. Interval availability over 2,000 s.
    JobOnCluster job;
    job.horizon = Seconds{2000};
    job.restart = fixed(0);
    job.classes = {{"part", 1, exponential_law(900), exponential_law(100), Effect::stops, 1.0, false}};
    const Summary summary = evaluate(job, 23, {0, 20000});
    const auto& availability = summary.availability.moments;
    EXPECT_NEAR(availability.mean, interval_availability(Seconds{900}, Seconds{100}, Seconds{2000}),
                4.0 * availability.standard_error());
    EXPECT_GT(std::abs(interval_availability(Seconds{900}, Seconds{100}, Seconds{2000}) - 0.9),
              4.0 * availability.standard_error());
}

TEST(HistoryTwin, SteadyAvailabilityHoldsForOtherLaws) {
    JobOnCluster job;
    job.horizon = Seconds{1e6};
    job.restart = fixed(0);
    job.classes = {{"part",
                    1,
                    {LawKind::weibull, 1.5, Seconds{900}},
                    {LawKind::lognormal, 0.5, Seconds{100}},
                    Effect::stops,
                    1.0,
                    false}};
    const Summary summary = evaluate(job, 24, {0, 400});
    const double exact = steady_availability(mean(job.classes[0].up), mean(job.classes[0].repair));
    // Start new instead of in the long run: off by at most one cycle in 900, below 1e-4.
    EXPECT_NEAR(summary.availability.moments.mean, exact, 4.0 * summary.availability.moments.standard_error() + 1e-4);
}

TEST(HistoryTwin, WaitingIsTheShortageOfTheSpareChain) {
    // 20 nodes, 2 spares, each fails every 10,000 s, repair 1,000 s; restart takes no time. Exponential and fixed
    // repairs.
    for (const Law& repair : {exponential_law(1000), fixed(1000)}) {
        JobOnCluster job;
        job.num_nodes = 20;
        job.spare_nodes = 2;
        job.horizon = Seconds{2e6};
        job.restart = fixed(0);
        job.checkpoint_steps = 10;
        job.classes = {{"node", 20, exponential_law(10'000), repair, Effect::stops, 1.0, true}};
        const Summary summary = evaluate(job, 25, {0, 200});
        const double shortage = spare_shortage(stop_rate(job), 20, Seconds{1000}, 2);
        EXPECT_GT(shortage, 0.2);
        // The run starts with a full pool: off by about one repair time in 2e6 s.
        EXPECT_NEAR(1.0 - summary.availability.moments.mean, shortage,
                    4.0 * summary.availability.moments.standard_error() + 5e-4);
    }
}

TEST(ExactAnswer, SaysWhyItIsNotThere) {
    JobOnCluster job = exponential_job(Ageing::always, fixed(300));
    job.spare_nodes = 0;
    EXPECT_NE(exact_answer(job).reason.find("spares run out"), std::string::npos);
    job = exponential_job(Ageing::always, {LawKind::lognormal, 0.5, Seconds{300}});
    EXPECT_NE(exact_answer(job).reason.find("Laplace"), std::string::npos);
    job = exponential_job(Ageing::always, fixed(300));
    job.classes[0].up.kind = LawKind::weibull;
    EXPECT_NE(exact_answer(job).reason.find("gpu"), std::string::npos);
    job = exponential_job(Ageing::always, fixed(300));
    job.ladder = {{"retry", 1.0, fixed(4), Lost::nothing, {true, true}, false}};
    EXPECT_NE(exact_answer(job).reason.find("ladder"), std::string::npos);
    EXPECT_FALSE(exact_answer(job).answer);
}

TEST(ExactAnswer, WithoutFailuresIsWorkAndCheckpoints) {
    JobOnCluster job = exponential_job(Ageing::always, fixed(300));
    job.classes.clear();
    const auto exact = exact_answer(job);
    ASSERT_TRUE(exact.answer) << exact.reason;
    EXPECT_DOUBLE_EQ(exact.answer->wall->value(), history(job, 1, 0).wall.value());
    EXPECT_EQ(exact.answer->availability, 1.0);
    EXPECT_DOUBLE_EQ(exact.answer->goodput, 400.0 / 430.0);
}

}  // namespace
}  // namespace windtunnel::avail
