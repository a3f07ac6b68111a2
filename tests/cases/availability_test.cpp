/// User cases of availability, each with its published or closed-form answer.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "windtunnel/avail/checkpoint.hpp"
#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/summary.hpp"

namespace windtunnel::avail {
namespace {

using model::Effect;
using model::Law;
using model::LawKind;

/// UC-065. Source: Llama 3 report: 16,384 GPUs, 54 days, 419 unexpected interruptions, 47 planned, effective training
/// time above 90 %. One job, any failure interrupts, exponential, 50,677 h per GPU.
/// The report does not say how often it wrote checkpoints or how long a restart took. Assumed here: a write of 30 s, an
/// interval by Daly, a restart of 300 s, ample spares.
JobOnCluster llama_job() {
    JobOnCluster job;
    job.num_nodes = 2048;
    job.spare_nodes = 64;
    job.step_time = Seconds{10};
    job.horizon = 54.0 * base::day;
    job.checkpoint_write = Seconds{30};
    job.restart = Law{LawKind::deterministic, 1.0, Seconds{300}};
    job.classes = {{"gpu", 16384, Law{LawKind::exponential, 1.0, 50677.0 * base::hour},
                    Law{LawKind::exponential, 1.0, 24.0 * base::hour}, Effect::stops, 1.0, true}};
    const Seconds interval = daly_interval(job.checkpoint_write, 1.0 / stop_rate(job));
    job.checkpoint_steps = std::llround(interval / job.step_time);
    return job;
}

TEST(UC065, InterruptionsAreThePoissonBandAround419) {
    // 54 x 24 h x 16,384 / 50,677 h = 419.0; standard deviation sqrt(419) = 20.5; mean distance 1,296 h / 419 = 3.09 h
    constexpr std::uint64_t trials = 300;
    const Summary summary = evaluate(llama_job(), 20261201, {0, trials});
    const base::Moments& stops = summary.stops.moments;
    EXPECT_NEAR(stops.mean, 419.0, 3.0 * std::sqrt(419.0 / trials));
    // The standard deviation of a sample standard deviation of a normal is sigma/sqrt(2 n) = 0.84.
    EXPECT_NEAR(stops.standard_deviation(), 20.5, 4.0 * 20.5 / std::sqrt(2.0 * trials));
    EXPECT_NEAR(54.0 * 24.0 / stops.mean, 3.09, 0.02);
}

TEST(UC065, EffectiveTrainingTimeIsAboveNineTenths) {
    const Summary summary = evaluate(llama_job(), 20261201, {0, 100});
    EXPECT_GT(summary.goodput.moments.mean, 0.90);
    EXPECT_GT(summary.goodput.moments.mean - 4.0 * summary.goodput.moments.standard_error(), 0.90);
    const auto exact = exact_answer(llama_job());
    ASSERT_TRUE(exact.answer) << exact.reason;
    EXPECT_NEAR(summary.goodput.moments.mean, exact.answer->goodput, 4.0 * summary.goodput.moments.standard_error());
}

TEST(UC065, NineTenthsNeedsRestartsInMinutes) {
    // 10 % of 54 days over 419 stops is 18.6 min for each, lost work and checkpoint writing included. With a restart of
    // 15 min there are 3.6 min left for the other two, which take 2 sqrt(30 s x 3.09 h / 2) = 13.6 min at the optimum.
    JobOnCluster job = llama_job();
    job.restart = Law{LawKind::deterministic, 1.0, Seconds{900}};
    EXPECT_LT(evaluate(job, 20261201, {0, 100}).goodput.moments.mean, 0.90);
}

TEST(UC065, PlannedInterruptionsAddToTheUnexpected) {
    JobOnCluster job = llama_job();
    job.classes.push_back({"planned maintenance", 1, Law{LawKind::exponential, 1.0, 54.0 * base::day / 47.0},
                           Law{LawKind::deterministic, 1.0, Seconds{0}}, Effect::stops, 1.0, false});
    constexpr std::uint64_t trials = 300;
    const Summary summary = evaluate(job, 20261201, {0, trials});
    EXPECT_NEAR(summary.stops.moments.mean, 466.0, 3.0 * std::sqrt(466.0 / trials));
    EXPECT_NEAR(summary.failures[1].mean, 47.0, 3.0 * std::sqrt(47.0 / trials));
}

/// UC-067: checkpoints of 60 s, mean time between failures 3.093 h, the same random failures for every interval.
double simulated_overhead(double interval) {
    JobOnCluster job;
    job.spare_nodes = 0;
    job.step_time = Seconds{1};
    job.horizon = Seconds{2e7};  // about 1,800 failures a trial
    job.checkpoint_write = Seconds{60};
    job.checkpoint_steps = std::llround(interval);
    job.restart = Law{LawKind::deterministic, 1.0, Seconds{0}};
    job.classes = {{"job", 1, Law{LawKind::exponential, 1.0, 3.093 * base::hour},
                    Law{LawKind::deterministic, 1.0, Seconds{0}}, Effect::stops, 1.0, false}};
    return 1.0 - evaluate(job, 67, {0, 100}).goodput.moments.mean;
}

TEST(UC067, SimulatedOptimumAgreesWithYoung) {
    // sqrt(2 x 60 x 11,134.8) = 1,156 s. The minimum is flat (10 % off in the interval costs 0.05 % of the time), so it
    // is read from a parabola through overheads at equal distances in ln(interval).
    const double young = young_interval(Seconds{60}, 3.093 * base::hour).value();
    EXPECT_NEAR(young, 1156.0, 0.5);
    const double step = 0.4;
    const double left = simulated_overhead(young * std::exp(-step)), middle = simulated_overhead(young),
                 right = simulated_overhead(young * std::exp(step));
    const double optimum = young * std::exp(step * 0.5 * (left - right) / (left - 2.0 * middle + right));
    EXPECT_LT(middle, left);
    EXPECT_LT(middle, right);
    EXPECT_NEAR(optimum, young, 0.10 * young);
    EXPECT_NEAR(middle, 0.104, 0.01);
    EXPECT_NEAR(first_order_overhead(Seconds{young}, Seconds{60}, 3.093 * base::hour), 0.104, 0.0005);
}

}  // namespace
}  // namespace windtunnel::avail
