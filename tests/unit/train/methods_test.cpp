/// What holds for every layout of a plan: context parallelism, shard groups, jitter, imbalance, overlap, offload.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "train_examples.hpp"
#include "windtunnel/train/block_graph.hpp"
#include "windtunnel/train/jitter.hpp"
#include "windtunnel/train/stage_operators.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

using model::ContextMethod;

Job long_context_job(ContextMethod method, int ulysses_degree = 1) {
    Job job = test::job(test::llama3_70b(), test::h100(), 64, 131072);
    for (model::NetworkTier* tier : {&job.cluster.accelerator.scale_up, &job.cluster.accelerator.scale_out})
        tier->latency = Seconds{0.0};
    job.methods.context = method;
    job.methods.ulysses_degree = ulysses_degree;
    return job;
}

UnitKey context_key(int tp, int cp) {
    UnitKey key;
    key.tensor_parallel = tp;
    key.context_parallel = cp;
    return key;
}

TEST(ContextParallel, UlyssesExchangesHeadsForSequence) {
    // 8 ranks inside a domain, 64 heads and 8 key/value heads of 128, 16,384 tokens a rank: in 16384 x (64 + 2 x 8) x
    // 128 x 2 B = 335.5 MB, out 16384 x 64 x 128 x 2 B = 268.4 MB; 7/8 of both leave a rank at 450 GB/s x 0.75.
    // Backward the same sum.
    const Job job = long_context_job(ContextMethod::ulysses);
    const BlockCost layer = unit_costs(job, context_key(1, 8)).dense_layer;
    const double bytes = 16384.0 * (64 + 16 + 64) * 128 * 2;
    const double time = bytes * 7.0 / 8.0 / (450e9 * 0.75);
    EXPECT_NEAR(layer.forward[Part::cp_comm].value() / time, 1.0, 1e-12);
    EXPECT_NEAR(layer.backward_input[Part::cp_comm].value() / time, 1.0, 1e-12);
}

TEST(ContextParallel, FewerKeyValueHeadsThanRanksAreCopied) {
    // tp 4: 16 heads and 2 key/value heads on a card; 8 ranks get a copy each: 8 in place of 2.
    const Job job = long_context_job(ContextMethod::ulysses);
    const BlockCost layer = unit_costs(job, context_key(4, 8)).dense_layer;
    const double rows = 16384.0 * 128 * 2;
    // Ranks 4 apart: two in a domain of 8, so 6/8 leave it at 50 GB/s x 0.8.
    const double time = rows * (16 + 2 * 8 + 16) * 6.0 / 8.0 / (50e9 * 0.8);
    EXPECT_NEAR(layer.forward[Part::cp_comm].value() / time, 1.0, 1e-12);
}

TEST(ContextParallel, ARingShowsWhatItsStepsTakeLongerThanTheCore) {
    const Job job = long_context_job(ContextMethod::ring);
    // Inside a domain the core on one rank's keys is longer than their transfer: nothing shows.
    EXPECT_EQ(unit_costs(job, context_key(1, 8)).dense_layer.forward[Part::cp_comm], Seconds{0.0});
    // Short sequences: 7 transfers less 7/8 of the core.
    Job tight = job;
    tight.sequence_length = 4096;
    const BlockCost layer = unit_costs(tight, context_key(1, 8)).dense_layer;
    const double transfers = 7.0 * (512.0 * 2 * 8 * 128 * 2) / (450e9 * 0.75);
    const double core = layer.forward[Part::attention].value();
    EXPECT_NEAR(layer.forward[Part::cp_comm].value(), std::max(0.0, transfers - core * 7.0 / 8.0), 1e-12);
    EXPECT_NEAR(layer.backward_input[Part::cp_comm].value(), std::max(0.0, 2.0 * transfers - 2.5 * core * 7.0 / 8.0),
                1e-12);
}

TEST(ContextParallel, EveryMethodDoesTheSameWork) {
    const Flops work =
        unit_costs(long_context_job(ContextMethod::all_gather), context_key(2, 8)).dense_layer.model_flops;
    for (const auto method : {ContextMethod::ring, ContextMethod::ulysses, ContextMethod::hybrid}) {
        const Job job = long_context_job(method, 4);
        const BlockCost layer = unit_costs(job, context_key(2, 8)).dense_layer;
        EXPECT_NEAR(layer.model_flops / work, 1.0, 1e-12);
        const OperatorScan scan = static_scan(block_graph(job, context_key(2, 8), BlockKind::dense_layer));
        EXPECT_NEAR(scan.times[0].total() / layer.forward.total(), 1.0, 1e-12);
        StreamRules serial;
        serial.serial = true;
        EXPECT_NEAR(simulate(block_graph(job, context_key(2, 8), BlockKind::dense_layer), serial).makespan /
                        (layer.forward.total() + layer.backward_input.total() + layer.backward_weight.total()),
                    1.0, 1e-12);
    }
}

TEST(ContextParallel, UlyssesNeedsHeadsForItsRanks) {
    Job job = long_context_job(ContextMethod::ulysses);
    model::Layout layout = test::layout(64, 8, 1, 1, 8);
    layout.context_parallel = 8;
    EXPECT_EQ(broken_rule(job, layout), model::VerdictReason::fits);  // 64 heads = 8 x 8
    layout.tensor_parallel = 4;
    layout.context_parallel = 16;
    EXPECT_EQ(broken_rule(job, layout), model::VerdictReason::fits);  // 64 = 4 x 16
    layout.tensor_parallel = 8;
    layout.context_parallel = 8;
    job.transformer.attention.num_heads = 48;
    EXPECT_EQ(broken_rule(job, layout), model::VerdictReason::sequence_not_divisible);
    EXPECT_NE(rule_verdict(job, layout).detail.find("48 attention heads"), std::string::npos);
    job.methods.context = ContextMethod::hybrid;
    job.methods.ulysses_degree = 2;
    EXPECT_EQ(broken_rule(job, layout), model::VerdictReason::fits);
    job.methods.ulysses_degree = 3;
    EXPECT_NE(rule_verdict(job, layout).detail.find("ulysses_degree 3"), std::string::npos);
}

TEST(ShardGroup, TrafficStaysInsideAndSharesAreSummedAcross) {
    // 64 cards, ZeRO 3 over a node of 8: gather and scatter at 7/8 of the bytes inside the node; what a rank keeps
    // (1/8) is all-reduced over 8 nodes: 2 x 7/8 of it at the port's speed.
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 64, 2048);
    job.efficiency.scale_out_hidden = 0.0;
    for (model::NetworkTier* tier : {&job.cluster.accelerator.scale_up, &job.cluster.accelerator.scale_out})
        tier->latency = Seconds{0.0};
    job.methods.shard_group = 8;
    model::Layout layout = test::layout(64, 1, 1, 1, 64);
    layout.optimizer_sharding = 3;
    const double parameters = 1e9, inside = 300e9 * 0.75, outside = 25e9 * 0.8;
    const double gather = 2.0 * parameters * 7.0 / 8.0 / inside;
    const double scatter = 4.0 * parameters * 7.0 / 8.0 / inside + 2.0 * (4.0 * parameters / 8.0) * 7.0 / 8.0 / outside;
    const Seconds time = exchange_time(job, layout, {parameters, 0.0}, {});
    EXPECT_NEAR(time.value(), 2.0 * gather + scatter, 1e-9);
    // Over all cards both levels are crossed by everything that is gathered: slower.
    job.methods.shard_group = 0;
    EXPECT_GT(exchange_time(job, layout, {parameters, 0.0}, {}), time);
}

TEST(ShardGroup, MemoryIsSharedOutInsideTheGroup) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 64, 2048);
    model::Layout layout = test::layout(64, 1, 1, 1, 64);
    layout.optimizer_sharding = 3;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const StageMemory over_all = stage_memory(job, layout, costs).front();
    job.methods.shard_group = 8;
    const StageMemory in_groups = stage_memory(job, layout, costs).front();
    EXPECT_NEAR(in_groups.optimizer / over_all.optimizer, 8.0, 1e-12);
    EXPECT_NEAR(in_groups.weights / over_all.weights, 8.0, 1e-12);
    EXPECT_NEAR(optimizer_time(job, layout, {1e9, 0.0}).value(), 1e9 / 8 * 30 / (2039e9 * 0.7), 1e-12);
    job.methods.shard_group = 64;  // all of them: as without
    EXPECT_EQ(stage_memory(job, layout, costs).front().total(), over_all.total());
    job.methods.shard_group = 12;
    EXPECT_EQ(broken_rule(job, layout), model::VerdictReason::world_size_not_divisible);
    EXPECT_NE(rule_verdict(job, layout).detail.find("nearest: 4, 8, 16"), std::string::npos);
}

TEST(Buckets, AllButOneHideUnderTheBackward) {
    // 4 GB of gradients in 40 buckets of 100 MB; a bucket takes 1/40 of the whole without latency.
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 64, 2048);
    for (model::NetworkTier* tier : {&job.cluster.accelerator.scale_up, &job.cluster.accelerator.scale_out})
        tier->latency = Seconds{0.0};
    model::Layout layout = test::layout(64, 1, 1, 1, 64);
    layout.optimizer_sharding = 0;
    job.efficiency.scale_out_hidden = 0.0;
    const Seconds whole = exchange_time(job, layout, {1e9, 0.0}, {});
    job.methods.overlap.bucket = Bytes{100e6};
    const HidingWindow endless{Seconds{1e3}, Seconds{1e3}}, half{Seconds{0.0}, whole * 0.5};
    EXPECT_NEAR(exchange_time(job, layout, {1e9, 0.0}, endless) / whole, 1.0 / 40.0, 1e-12);
    EXPECT_NEAR(exchange_time(job, layout, {1e9, 0.0}, half) / whole, 0.5, 1e-12);
    // With a latency, many small buckets cost more than they hide.
    job.cluster.accelerator.scale_out.latency = Seconds{1e-3};
    const Seconds few = exchange_time(job, layout, {1e9, 0.0}, half);
    job.methods.overlap.bucket = Bytes{1e6};
    EXPECT_GT(exchange_time(job, layout, {1e9, 0.0}, half), few);
}

TEST(Jitter, TheSlowestOfTwoIsKnown) {
    // Normal: E max of two = 1 + sigma/sqrt(pi).
    const model::Jitter jitter{0.05, model::JitterLaw::normal, 0.0, 1.0};
    EXPECT_EQ(slowest_of(jitter, 1.0), 1.0);
    EXPECT_NEAR(slowest_of(jitter, 2.0), 1.0 + 0.05 / std::sqrt(std::numbers::pi), 1e-9);
    // Three: 1 + 3 sigma/(2 sqrt(pi)).
    EXPECT_NEAR(slowest_of(jitter, 3.0), 1.0 + 1.5 * 0.05 / std::sqrt(std::numbers::pi), 1e-9);
}

TEST(Jitter, OfManyCardsItGrowsWithTheRootOfTheLogarithm) {
    // Expected maxima of standard normals, Harter, Biometrika 48, 1961: n = 10: 1.53875, n = 100: 2.50759.
    const model::Jitter jitter{0.01, model::JitterLaw::normal, 0.0, 1.0};
    EXPECT_NEAR((slowest_of(jitter, 10.0) - 1.0) / 0.01, 1.53875, 1e-5);
    EXPECT_NEAR((slowest_of(jitter, 100.0) - 1.0) / 0.01, 2.50759, 1e-5);
    EXPECT_LT(slowest_of(jitter, 1e5), 1.0 + 0.01 * std::sqrt(2.0 * std::log(1e5)));
}

TEST(Jitter, OfALognormalLawTheMeanIsOne) {
    // Maximum of two lognormals of mean 1: 2 Phi(s/sqrt 2), s^2 = log(1 + sigma^2).
    const model::Jitter jitter{0.3, model::JitterLaw::lognormal, 0.0, 1.0};
    const double s = std::sqrt(std::log1p(0.09));
    EXPECT_NEAR(slowest_of(jitter, 2.0), 1.0 + std::erf(s / 2.0), 1e-9);
}

TEST(Jitter, OneSlowCardHoldsUpAll) {
    // 1 % of the cards run at 0.8: with 100 of them none is slow in 0.99^100 = 36.6 % of the jobs.
    const model::Jitter jitter{0.0, model::JitterLaw::normal, 0.01, 0.8};
    EXPECT_NEAR(slowest_of(jitter, 100.0), 1.0 + (1.0 - std::pow(0.99, 100)) * 0.25, 1e-12);
    EXPECT_NEAR(slowest_of(jitter, 1.0), 0.99 + 0.01 / 0.8, 1e-12);
    // A little jitter changes it little: the integral meets the closed form.
    const model::Jitter little{1e-4, model::JitterLaw::normal, 0.01, 0.8};
    EXPECT_NEAR(slowest_of(little, 100.0), slowest_of(jitter, 100.0), 5e-4);
}

TEST(Jitter, IsAPartOfTheStep) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 64, 2048);
    const model::Layout layout = test::layout(64, 2, 2, 1, 64);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const StepResult plain = step_result(job, layout, costs);
    job.methods.jitter.sigma = 0.02;
    const StepResult uneven = step_result(job, layout, costs);
    const double factor = slowest_of(job.methods.jitter, 64.0);
    EXPECT_NEAR(uneven.step_time.value(),
                (plain.step_time - plain.parts[Part::fixed]).value() * factor + plain.parts[Part::fixed].value(), 1e-9);
    EXPECT_NEAR(uneven.parts.total() / uneven.step_time, 1.0, 1e-12);
    EXPECT_GT(uneven.parts[Part::jitter].value(), 0.0);
    EXPECT_NEAR(closed_form_step_time(job, layout, costs) / uneven.step_time, 1.0, 1e-5);
}

TEST(ExpertImbalance, AShareOf30PercentAndAQuarterMoreGive7Point5Percent) {
    // The share that the busiest card determines: grouped products, their activation, the exchange. share x 0.25 more.
    Job job = test::job(test::pangu_ultra_moe_718b(), test::ascend_910b(), 512, 8192);
    for (model::NetworkTier* tier : {&job.cluster.accelerator.scale_up, &job.cluster.accelerator.scale_out})
        tier->latency = Seconds{0.0};
    UnitKey key;
    key.expert_parallel = 32;
    const Seconds balanced = unit_costs(job, key).moe_layer.forward.total();
    Seconds by_experts;
    for (const Operator& one : block_graph(job, key, BlockKind::moe_layer).operators)
        if (one.pass == Pass::forward && (one.kind == OperatorKind::grouped_product || one.group == GroupName::expert))
            by_experts += one.time - one.hidden;
    // The experts' own activation function: one of two (the other is that of the shared experts).
    for (const Operator& one : block_graph(job, key, BlockKind::moe_layer).operators)
        if (one.pass == Pass::forward && std::string{one.name} == "activation") {
            by_experts += one.time;
            break;
        }
    job.methods.expert_imbalance = 1.25;
    const Seconds busiest = unit_costs(job, key).moe_layer.forward.total();
    EXPECT_NEAR(busiest / balanced, 1.0 + 0.25 * (by_experts / balanced), 1e-12);
    // In a step of which the experts take 30 %: 0.7 + 0.3 x 1.25 = 1.075.
    const Seconds rest = by_experts * (0.7 / 0.3);
    EXPECT_NEAR((rest + by_experts + (busiest - balanced)) / (rest + by_experts), 1.075, 1e-12);
}

TEST(HostLaunch, NoStepIsFasterThanTheHostIssuesIt) {
    // Small model: kernels of a dense layer are two norms, six or seven others; the host takes 40 us for each.
    Job job = test::job(test::gpt(24, 512, 8), test::a100(), 8, 256);
    job.methods.host.launch = Seconds{40e-6};
    UnitKey key;
    const BlockCost layer = unit_costs(job, key).dense_layer;
    double forward = 0.0, backward = 0.0;
    for (const Operator& one : block_graph(job, key, BlockKind::dense_layer).operators)
        (one.pass == Pass::forward ? forward : backward) += one.kernels;
    EXPECT_EQ(forward, 12.0);  // 4 products, 2 norms, 2 rotary, core, 2 residuals, activation
    EXPECT_NEAR(layer.forward.total().value(), forward * 40e-6, 1e-12);
    EXPECT_NEAR((layer.backward_input.total() + layer.backward_weight.total()).value(), backward * 40e-6, 1e-12);
    // One recorded graph of 20 us: the card is the bound again.
    job.methods.host.graphs = true;
    job.methods.host.graph_launch = Seconds{20e-6};
    Job no_host = job;
    no_host.methods.host = {};
    EXPECT_EQ(unit_costs(job, key).dense_layer.forward.total(), unit_costs(no_host, key).dense_layer.forward.total());
}

TEST(PointToPoint, WithoutOverlapASenderWaitsForItsTransfers) {
    // Two ranks: rank 0 sends m forwards, rank 1 m backwards. With free transfers the 1F1B step hides all but two.
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 16, 2048);
    job.cluster.accelerator.scale_out.bandwidth = BytesPerSecond{2e9};
    const model::Layout layout = test::layout(16, 1, 2, 1, 128);
    const StepResult beside = step_result(job, layout, unit_costs(job, unit_key(layout)));
    job.methods.overlap.point_to_point = false;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    EXPECT_EQ(costs.boundary_time, Seconds{0.0});
    const StepResult waiting = step_result(job, layout, costs);
    EXPECT_GT(waiting.step_time, beside.step_time);
    EXPECT_NEAR(waiting.parts.total() / waiting.step_time, 1.0, 1e-12);
    EXPECT_GE(waiting.parts[Part::pp_comm].value(), 15.0 * costs.blocked.value());
}

TEST(Recomputation, ByGroupsOfLayersKeepsOneInputForEach) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 8, 2048);
    UnitKey key;
    key.recompute = model::Recompute::full;
    const BlockCost each = unit_costs(job, key).dense_layer;
    job.methods.recomputation.layers = 4;
    const BlockCost grouped = unit_costs(job, key).dense_layer;
    EXPECT_NEAR(grouped.activations / each.activations, 0.25, 1e-12);
    EXPECT_EQ(grouped.backward_input.total(), each.backward_input.total());
    key.recompute = model::Recompute::none;
    const Bytes kept = unit_costs(job, key).dense_layer.activations;
    EXPECT_NEAR((grouped.recompute_peak - each.recompute_peak).value(), 3.0 * kept.value(), 1.0);
}

TEST(Recomputation, OfTheFirstLayersOfAChunkLiesBetweenNoneAndAll) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 8, 2048);
    model::Layout layout = test::layout(8, 1, 2, 1, 32);
    const auto of = [&](model::Recompute recompute) {
        layout.recompute = recompute;
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        return std::pair{step_result(job, layout, costs), stage_memory(job, layout, costs).front()};
    };
    const auto none = of(model::Recompute::none), full = of(model::Recompute::full);
    job.methods.recomputation = {0, model::RecomputeMethod::block, 3};  // of 12
    const auto block = of(model::Recompute::full);
    EXPECT_NEAR(block.first.parts[Part::recompute] / full.first.parts[Part::recompute], 0.25, 1e-9);
    const Bytes dropped = none.second.activations - full.second.activations;
    EXPECT_NEAR((none.second.activations - block.second.activations) / dropped, 0.25, 1e-9);
    EXPECT_NEAR(block.first.parts.total() / block.first.step_time, 1.0, 1e-12);
}

TEST(Recomputation, AListOfModulesTakesThePlaceOfTheDefault) {
    Job job = test::job(test::llama3_70b(), test::h100(), 64, 8192);
    UnitKey key;
    key.tensor_parallel = 8;
    key.recompute = model::Recompute::selective;
    const BlockCost by_default = unit_costs(job, key).dense_layer;
    namespace module = model::recompute_module;
    job.methods.recomputation.modules = module::norms | module::activation;
    EXPECT_EQ(unit_costs(job, key).dense_layer.activations, by_default.activations);
    // The core again: its output (heads x size, 16 bit) and a 32-bit number a row are dropped; nothing else is.
    job.methods.recomputation.modules = module::attention_core;
    const BlockCost core = unit_costs(job, key).dense_layer;
    UnitKey none = key;
    none.recompute = model::Recompute::none;
    const double dropped = (unit_costs(job, none).dense_layer.activations - core.activations).value();
    EXPECT_NEAR(dropped, 8192.0 * 8 * (128 * 2 + 4), 1.0);
    EXPECT_NEAR(core.backward_input[Part::recompute].value(), (core.forward[Part::attention] + Seconds{5e-6}).value(),
                1e-12);
    job.methods.recomputation.modules = module::feed_forward;
    EXPECT_LT(unit_costs(job, key).dense_layer.activations, by_default.activations);
    EXPECT_GT(unit_costs(job, key).dense_layer.backward_input[Part::recompute],
              by_default.backward_input[Part::recompute]);
}

TEST(Offload, ShowsWhatTheComputeCannotHide) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 8, 2048);
    UnitKey key;
    const BlockCost plain = unit_costs(job, key).dense_layer;
    // A link that takes exactly twice the forward pass for half of the activations.
    job.methods.offload = {0.5, 0.0, plain.activations * 0.5 / (plain.forward.total() * 2.0)};
    const BlockCost moved = unit_costs(job, key).dense_layer;
    EXPECT_NEAR(moved.activations / plain.activations, 0.5, 1e-12);
    EXPECT_NEAR(moved.forward[Part::offload] / plain.forward.total(), 1.0, 1e-9);
    const Seconds backward = plain.backward_input.total() + plain.backward_weight.total();
    EXPECT_NEAR(moved.backward_input[Part::offload].value(),
                std::max(0.0, (plain.forward.total() * 2.0 - backward).value()), 1e-12);
    // Optimizer states: 12 bytes of each parameter come and go at once, both ways.
    job.methods.offload = {0.0, 1.0, BytesPerSecond{25e9}};
    const model::Layout layout = test::layout(8, 1, 1, 1, 8);
    EXPECT_NEAR(optimizer_time(job, layout, {8e9, 0.0}).value(), 1e9 * 12 / 25e9, 1e-9);
    EXPECT_EQ(stage_memory(job, layout, unit_costs(job, key)).front().optimizer, Bytes{0.0});
}

TEST(StageOperators, TheirSumsAreThePartsOfTheStep) {
    for (const bool moe : {false, true}) {
        Job job = moe ? test::job(test::deepseek_v2(9), test::h100(), 64, 4096)
                      : test::job(test::gpt(24, 4096, 32), test::a100(), 64, 2048);
        job.efficiency.scale_up_hidden = 0.2;
        model::Layout layout = test::layout(64, 2, moe ? 1 : 2, 1, 64);
        layout.expert_parallel = moe ? 8 : 1;
        layout.recompute = model::Recompute::selective;
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        const StepResult step = step_result(job, layout, costs);
        PartTimes sum;
        for (const StageOperator& of : stage_operators(job, layout, costs)) {
            if (of.stage != step.last_stage || of.one.pass == Pass::step) continue;
            const bool again = of.one.pass == Pass::recompute;
            sum[again ? Part::recompute : of.one.part] += (of.one.time - of.one.hidden) * (of.blocks * of.runs);
            sum[again ? Part::recompute : Part::launch] += of.one.launch * (of.blocks * of.runs);
        }
        for (const Part part : {Part::gemm, Part::attention, Part::memory_bound, Part::launch, Part::recompute,
                                Part::tp_comm, Part::ep_comm})
            EXPECT_NEAR(sum[part].value(), step.parts[part].value(), 1e-9 * step.step_time.value()) << to_text(part);
    }
}

}  // namespace
}  // namespace windtunnel::train
