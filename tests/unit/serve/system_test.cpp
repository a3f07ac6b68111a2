#include "windtunnel/serve/system.hpp"

#include <gtest/gtest.h>

#include "serve_examples.hpp"
#include "windtunnel/serve/queueing.hpp"

namespace windtunnel::serve {
namespace {

using namespace examples;

RunMetrics run(const SystemSetup& setup, const model::ServeLoad& load, std::vector<Served>* all = nullptr,
               std::uint64_t seed = 7) {
    Load source{load, seed, 0};
    return run_system(setup, source, seed, 0, [&](const Served& served) {
        if (all != nullptr) all->push_back(served);
    });
}

const Histogram& latency(const RunMetrics& metrics, Latency which) {
    return metrics.latency[static_cast<std::size_t>(which)];
}

TEST(System, ZeroRequestsEndAtOnce) {
    const RunMetrics metrics = run(one_rank(small_rank(4, 100), usual_cost), poisson(1.0, 0, {}, {}));
    EXPECT_EQ(metrics.requests, 0);
    EXPECT_EQ(metrics.end_s, 0.0);
    EXPECT_FALSE(metrics.saturated);
}

/// Prompt of 100 tokens, answer of 5, alone: the prompt takes 15 ms + 100 x 60 us = 21 ms; then four decodes of
/// 15 ms + 20 us + 12 ns x context with contexts 100 to 103: 60.08 ms + 12 ns x 406 = 60.084872 ms.
TEST(System, OneRequestTakesItsStepsAndNothingElse) {
    model::ServeLoad load = replay({{0.0, 100, 5, 0, 0}});
    std::vector<Served> all;
    const RunMetrics metrics = run(one_rank(small_rank(4, 100), usual_cost), load, &all);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_NEAR(seconds_of(all[0].first_token_ns), 0.021, 1e-9);
    EXPECT_NEAR(seconds_of(all[0].last_token_ns), 0.021 + 0.060084872, 2e-9);
    EXPECT_NEAR(latency(metrics, Latency::tpot).mean(), 0.060084872 / 4, 1e-9);
    EXPECT_EQ(metrics.output_tokens, 5.0);
    EXPECT_EQ(latency(metrics, Latency::itl).count(), 4u);
    EXPECT_EQ(metrics.limit, Layer::load) << "nobody waits";
}

/// 36 requests at once, twelve seats, answers of one token, prompts that fill a step: first tokens after 1, 2 and 3
/// prefills, in the mean 2.
TEST(System, ThreeEqualWavesWaitTwoPrefillsInTheMean) {
    std::vector<model::TraceRow> rows(36, {0.0, 40, 1, 0, 0});
    SystemSetup setup = one_rank(small_rank(12, 1000), {0.0, 0.0, 0.0, 1e-3});
    setup.main.rules.batching = model::Batching::fixed;
    const RunMetrics metrics = run(setup, replay(rows));
    EXPECT_NEAR(latency(metrics, Latency::ttft).mean(), 2.0 * 12 * 40 * 1e-3, 1e-9);
}

/// M/D/1: prompts that take one step of 1 s each, one seat, load 0.5: mean wait 0.5 service times.
TEST(System, AgreesWithPollaczekAndKhinchine) {
    EXPECT_NEAR(md1_wait(0.5), 0.5, 1e-12);
    const RunMetrics metrics =
        run(one_rank(small_rank(1, 100), {1.0, 0.0, 0.0, 0.0}),
            poisson(0.5, 40000, {model::LengthKind::fixed, 10.0}, {model::LengthKind::fixed, 1.0}));
    EXPECT_NEAR(latency(metrics, Latency::ttft).mean() - 1.0, 0.5, 0.02);  // 4 standard errors
    EXPECT_FALSE(metrics.saturated);
}

/// M/M/4 at 0.8: an arrival waits with probability 0.5964, for 0.7455 service times in the mean. Service: an
/// exponential number of steps of 5 ms, 1 s in the mean; prompts cost nothing beyond a step.
TEST(System, AgreesWithErlang) {
    EXPECT_NEAR(erlang_c(4, 3.2), 0.5964, 5e-5);
    EXPECT_NEAR(mmc_wait(4, 3.2), 0.7455, 5e-5);
    EXPECT_NEAR(erlang_b(4, 3.2), 0.5964 * 0.2 / (1.0 - 0.8 * 0.5964), 1e-4);  // B = C (1 - rho) / (1 - rho C)
    model::LengthLaw one{model::LengthKind::fixed, 1.0}, answer{model::LengthKind::gamma, 200.0, 1.0};
    std::vector<Served> all;
    const RunMetrics metrics =
        run(one_rank(small_rank(4, 100000), {0.005, 0.0, 0.0, 0.0}), poisson(3.2, 60000, one, answer), &all);
    double waits = 0.0;
    for (const Served& served : all) waits += served.scheduled_ns - served.queued_ns > 0 ? 1.0 : 0.0;
    EXPECT_NEAR(waits / 60000.0, 0.5964, 0.02);
    EXPECT_NEAR(latency(metrics, Latency::wait).mean(), 0.7455, 0.07);
    EXPECT_NEAR(metrics.in_system, 3.2 * (latency(metrics, Latency::e2e).mean()), 0.1) << "Little";
}

TEST(System, SeesThatALoadIsTooMuch) {
    const model::LengthLaw input{model::LengthKind::fixed, 200.0}, output{model::LengthKind::fixed, 50.0};
    const SystemSetup setup = one_rank(small_rank(8, 1000), usual_cost);
    const RunMetrics calm = run(setup, poisson(2.0, 2000, input, output)),
                     busy = run(setup, poisson(12.0, 2000, input, output));
    EXPECT_FALSE(calm.saturated);
    EXPECT_TRUE(busy.saturated);
    EXPECT_EQ(busy.limit, Layer::scheduler) << "eight seats";
    EXPECT_GT(latency(busy, Latency::ttft).mean(), 10.0 * latency(calm, Latency::ttft).mean());
}

/// Stretches of equal steps are one product: the same times to the bit as one step after the other.
TEST(System, JumpsGiveTheTimesOfSingleSteps) {
    const model::LengthLaw input{model::LengthKind::lognormal, 300.0, 1.0}, output{model::LengthKind::gamma, 80.0, 1.0};
    for (const int depth : {1, 2}) {
        for (const auto batching : {model::Batching::vllm_v1, model::Batching::sglang, model::Batching::fixed}) {
            for (const bool cached : {false, true}) {
                SystemSetup setup = one_rank(small_rank(16, 400), usual_cost);
                setup.main.rules.depth = depth;
                setup.main.rules.batching = batching;
                setup.main.rules.cached = cached;
                setup.main.instances = 2;
                std::vector<Served> fast, slow;
                (void)run(setup, poisson(8.0, 500, input, output), &fast);
                setup.jump = false;
                (void)run(setup, poisson(8.0, 500, input, output), &slow);
                ASSERT_EQ(fast.size(), slow.size());
                for (std::size_t i = 0; i < fast.size(); ++i) {
                    ASSERT_EQ(fast[i].request.number, slow[i].request.number) << depth << ' ' << i;
                    ASSERT_EQ(fast[i].first_token_ns, slow[i].first_token_ns) << depth << ' ' << i;
                    ASSERT_EQ(fast[i].last_token_ns, slow[i].last_token_ns) << depth << ' ' << i;
                    ASSERT_EQ(fast[i].queued_ns, slow[i].queued_ns) << depth << ' ' << i;
                }
            }
        }
    }
}

SystemSetup split_system(int decode_seats) {
    SystemSetup setup = one_rank(small_rank(decode_seats, 1000), {0.02, 0.0, 0.0, 0.0});
    setup.main.rules.with_cache = true;
    setup.prefill = PartSetup{small_rank(8, 1000), 1, 1, step_times(LinearCost{0.0, 0.0, 0.0, 1e-3})};
    setup.prefill->rules.prefill_only = true;
    setup.transfer_per_token = Bytes{1e6};
    setup.transfer_bandwidth = BytesPerSecond{1e9};
    setup.transfer_latency = Seconds{5e-3};
    return setup;
}

/// Two prompts of 100 tokens in one batch: 0.2 s, both first tokens. Their caches go one after the other, 0.1 s each
/// and 5 ms of latency: 0.305 and 0.405 s. The first decodes in steps of 20 ms from 0.305: 0.325, 0.345. The second
/// joins at a boundary if the first still runs, else at once: 0.425, 0.445.
TEST(System, ASplitDeploymentSendsOneCacheAfterTheOther) {
    std::vector<Served> all;
    const RunMetrics metrics = run(split_system(8), replay({{0.0, 100, 3, 0, 0}, {0.0, 100, 3, 0, 0}}), &all);
    ASSERT_EQ(all.size(), 2u);
    for (const Served& served : all) EXPECT_EQ(served.first_token_ns, 200'000'000);
    EXPECT_EQ(all[0].last_token_ns, 345'000'000);
    EXPECT_EQ(all[1].last_token_ns, 445'000'000);
    EXPECT_NEAR(latency(metrics, Latency::transfer).mean(), 0.155, 1e-9);
    // Gaps: 0.325 - 0.2 and 0.425 - 0.2 for the first decodes, 0.02 for the others.
    EXPECT_NEAR(latency(metrics, Latency::itl).sum(), 0.125 + 0.225 + 0.04, 1e-9);
    EXPECT_EQ(metrics.limit, Layer::link);
}

/// The decode part has one seat: the second waits there with its cache.
TEST(System, ADecodePartMakesRequestsWait) {
    std::vector<Served> all;
    (void)run(split_system(1), replay({{0.0, 100, 11, 0, 0}, {0.0, 100, 3, 0, 0}}), &all);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].last_token_ns, 505'000'000);  // 0.305 + 10 x 0.02
    EXPECT_EQ(all[1].last_token_ns, 545'000'000);
}

/// Ranks of an instance step together: A computes 10 tokens, B 100 in the same step of 0.1 s.
TEST(System, TheSlowestRankSetsTheTime) {
    SystemSetup setup = one_rank(small_rank(8, 1000), {0.0, 1e-3, 0.0, 1e-3});
    setup.main.ranks = 2;
    std::vector<Served> all;
    (void)run(setup, replay({{0.0, 10, 1, 0, 0}, {0.0, 100, 1, 0, 0}}), &all);
    ASSERT_EQ(all.size(), 2u);
    for (const Served& served : all) EXPECT_EQ(served.first_token_ns, 100'000'000);
    EXPECT_NE(all[0].rank, all[1].rank) << "least loaded";
}

/// Sixteen ranks in lock step, drafts: single steps and stretches agree.
TEST(System, RanksInLockStepJumpTogether) {
    SystemSetup setup = split_system(6);
    setup.main.ranks = 16;
    setup.main.rules.gain = 17;
    setup.main.rules.per = 10;
    setup.main.rules.query_tokens = 2;
    setup.main.times = step_times(LinearCost{0.01, 1e-4, 3e-8, 1e-4});
    const model::ServeLoad load =
        poisson(9.0, 400, {model::LengthKind::lognormal, 90.0, 0.8}, {model::LengthKind::gamma, 60.0, 0.9});
    std::vector<Served> fast, slow;
    (void)run(setup, load, &fast);
    setup.jump = false;
    (void)run(setup, load, &slow);
    ASSERT_EQ(fast.size(), slow.size());
    for (std::size_t i = 0; i < fast.size(); ++i) ASSERT_EQ(fast[i].last_token_ns, slow[i].last_token_ns) << i;
}

TEST(System, APrefixAwareRouterFindsMoreOfSessions) {
    SystemSetup setup = one_rank(small_rank(16, 4000), usual_cost);
    setup.main.rules.cached = true;
    setup.main.instances = 4;
    model::ServeLoad load = poisson(4.0, 1200, {model::LengthKind::fixed, 100.0}, {model::LengthKind::fixed, 30.0});
    load.turns = 5.0;
    load.think_time = {model::LawKind::deterministic, 1.0, Seconds{5.0}};
    setup.routing = model::Routing::prefix_aware;
    const RunMetrics aware = run(setup, load);
    setup.routing = model::Routing::round_robin;
    const RunMetrics blind = run(setup, load);
    EXPECT_GT(aware.hit_tokens, 1.5 * blind.hit_tokens);
    EXPECT_LT(latency(aware, Latency::ttft).mean(), latency(blind, Latency::ttft).mean());
    EXPECT_GT(blind.hit_tokens, 0.0);
}

/// From one instance to at most six, four requests each; the load needs about three.
TEST(System, AutoscalingFollowsTheLoad) {
    SystemSetup setup = one_rank(small_rank(8, 4000), usual_cost);
    const model::ServeLoad load =
        poisson(6.0, 3000, {model::LengthKind::fixed, 100.0}, {model::LengthKind::fixed, 100.0});
    const RunMetrics alone = run(setup, load);
    setup.autoscaling = {6, 4.0, Seconds{5.0}, Seconds{10.0}};
    const RunMetrics scaled = run(setup, load);
    EXPECT_TRUE(alone.saturated);
    EXPECT_FALSE(scaled.saturated);
    EXPECT_GT(scaled.instance_seconds, 1.5 * scaled.end_s);
    EXPECT_LT(scaled.instance_seconds, 6.0 * scaled.end_s);
}

TEST(System, AFullQueueRefuses) {
    SystemSetup setup = one_rank(small_rank(1, 1000), usual_cost);
    setup.main.rules.queue_limit = 2;
    const RunMetrics metrics =
        run(setup, poisson(50.0, 500, {model::LengthKind::fixed, 100.0}, {model::LengthKind::fixed, 50.0}));
    EXPECT_GT(metrics.refused, 300);
    EXPECT_EQ(metrics.requests, 500);
}

}  // namespace
}  // namespace windtunnel::serve
