#include "windtunnel/search/sweep.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "search_examples.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/philox.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::search {
namespace {

using test::listed;

std::uint64_t sum(const SweepResult& result) {
    return std::accumulate(result.designs.begin(), result.designs.end(), std::uint64_t{0});
}

template <class Value>
std::vector<Value> some_of(base::Draws& draws, const std::vector<Value>& all) {
    std::vector<Value> some;
    for (const Value value : all)
        if (draws.bits() % 2 == 0) some.push_back(value);
    if (some.empty()) some.push_back(all[draws.bits() % all.size()]);
    return some;
}

/// A space with legal and illegal values on every axis.
model::Plan random_plan(std::uint64_t number) {
    base::Draws draws{{11, 1, number}};
    const bool moe = draws.bits() % 2 == 0;
    model::Plan plan =
        moe ? test::plan_of(test::deepseek_v2(6), test::ascend_910b(), 128, 4096, 64)
            : test::plan_of(test::dense_model(12, 4096, 32, 8, 128, 14336, 32000), test::h100(), 128, 4096, 64);
    model::LayoutSpace& space = plan.training->layout;
    space.cards = listed(some_of<int>(draws, {32, 48, 64, 96, 128, 136}));
    space.tensor_parallel = listed(some_of<int>(draws, {1, 2, 3, 4, 8, 16}));
    space.pipeline_parallel = listed(some_of<int>(draws, {1, 2, 3, 4, 5, 6}));
    space.virtual_pipeline = listed(some_of<int>(draws, {1, 2, 3}));
    space.context_parallel = listed(some_of<int>(draws, {1, 2, 3}));
    space.expert_parallel = listed(some_of<int>(draws, {1, 2, 8, 9}));
    space.expert_tensor_parallel = listed(some_of<int>(draws, {1, 2, 5}));
    space.micro_batch_size = listed(some_of<int>(draws, {1, 2, 3}));
    space.global_batch_size = listed(some_of<std::int64_t>(draws, {60, 61, 62, 63, 64, 96, 128}));
    space.recompute = listed(some_of<model::Recompute>(draws, {model::Recompute::none, model::Recompute::full}));
    using enum model::PipelineSchedule;
    space.schedule = listed(some_of<model::PipelineSchedule>(
        draws, {one_f_one_b, interleaved, zb_1p, zb_v, v_half, v_min, dualpipe, dualpipe_v}));
    space.optimizer_sharding = listed(some_of<int>(draws, {0, 1, 2}));
    plan.search.pareto = {"tokens_per_second", "memory"};
    plan.search.top = 5;
    return plan;
}

TEST(Sweep, VerdictsSumToTheSizeAndAgreeWithEachDesignAlone) {
    for (std::uint64_t number = 0; number < 25; ++number) {
        const Sweep sweep{random_plan(number)};
        const std::uint64_t size = sweep.space().size(), end = std::min<std::uint64_t>(size, 20'000);
        EXPECT_EQ(sum(sweep.walk(0, size)), size) << "space " << number;
        // One by one nothing can be cut off.
        SweepResult alone = sweep.nothing();
        for (std::uint64_t index = 0; index < end; ++index) {
            const SweepResult one = sweep.walk(index, index + 1);
            ASSERT_EQ(sum(one), 1U);
            const bool rules_kept =
                train::broken_rule(sweep.job(), sweep.space().layout(index)) == model::VerdictReason::fits;
            ASSERT_EQ(one.reached_memory, rules_kept ? 1U : 0U) << model::to_text(sweep.space().layout(index));
            alone.merge(one);
        }
        const SweepResult together = sweep.walk(0, end);
        EXPECT_EQ(alone.designs, together.designs);
        EXPECT_EQ(alone.reached_memory, together.reached_memory);
        EXPECT_EQ(alone.best.candidates(), together.best.candidates());
        EXPECT_EQ(alone.front.points(), together.front.points());
    }
}

TEST(Sweep, AnyCutsGiveTheSameBytes) {
    for (std::uint64_t number = 0; number < 10; ++number) {
        const Sweep sweep{random_plan(number)};
        const std::uint64_t size = sweep.space().size();
        const auto bytes_of = [](const SweepResult& result) {
            base::Packer packer;
            result.pack(packer);
            return std::move(packer).take();
        };
        const std::string whole = bytes_of(sweep.walk(0, size, KeepRows::yes));
        for (const std::uint64_t step : {size / 3 + 1, size / 17 + 1}) {
            SweepResult merged = sweep.nothing();
            for (std::uint64_t begin = 0; begin < size; begin += step)
                merged.merge(sweep.walk(begin, std::min(begin + step, size), KeepRows::yes));
            EXPECT_EQ(bytes_of(merged), whole);
        }
    }
}

TEST(Sweep, RowsAreTheDesignsThatFit) {
    const Sweep sweep{random_plan(1)};
    const SweepResult result = sweep.walk(0, sweep.space().size(), KeepRows::yes);
    ASSERT_EQ(result.row_index.size(), result.fitting());
    train::StepWorkspace workspace;
    for (std::size_t i = 0; i < result.row_index.size(); i += 37) {
        EXPECT_EQ(result.row_step_time_s[i], sweep.closed_form(result.row_index[i], workspace).value());
        EXPECT_EQ(result.row_memory_bytes[i], sweep.fullest_stage(result.row_index[i]).total.value());
        EXPECT_LE(result.row_memory_bytes[i], train::usable_memory(sweep.job()).value());
    }
}

TEST(Sweep, APartOfALargeSpaceCountsEveryDesign) {  // the whole of it: tests/reproduce
    const Sweep sweep{test::pangu_10k()};
    const std::uint64_t part = sweep.space().size() / 100;
    ASSERT_GE(part, 10'000'000U);
    EXPECT_EQ(sum(sweep.walk(part, 2 * part)), part);
}

TEST(Sweep, AHundredThousandCards) {
    model::Plan plan = test::plan_of(test::pangu_ultra_moe_718b(), test::ascend_910b(), 100'000, 8192, 16'000);
    model::LayoutSpace& space = plan.training->layout;
    space.cards = test::any;
    space.tensor_parallel = listed<int>({8});
    space.pipeline_parallel = listed<int>({16, 32, 64});
    space.expert_parallel = listed<int>({8, 16});
    space.split.kind = model::SplitKind::slots;
    space.recompute = listed<model::Recompute>({model::Recompute::full});
    space.global_batch_size = test::batches(15'000, 17'000, 1);
    const Sweep sweep{plan};
    const SweepResult result = sweep.walk(0, sweep.space().size());
    EXPECT_EQ(sum(result), sweep.space().size());
    EXPECT_GT(result.fitting(), 0U);
}

TEST(Sweep, ACardWithoutThePrecisionFitsNothing) {
    model::Plan plan = test::plan_of(test::gpt(4, 512, 8), test::h100(), 8, 512, 8);
    plan.training->precision = model::Precision::nvfp4;
    plan.training->layout.tensor_parallel = test::any;
    const Sweep sweep{plan};
    const SweepResult result = sweep.walk(0, sweep.space().size());
    EXPECT_EQ(result.designs[static_cast<std::size_t>(model::VerdictReason::precision_not_supported)],
              sweep.space().size());
}

TEST(Sweep, LimitsAreVerdicts) {
    model::Plan plan = test::plan_of(test::gpt(4, 512, 8), test::h100(), 16, 512, 16);
    plan.training->layout.cards = listed<int>({8, 16});
    plan.cluster.accelerator.power = Watts{700.0};
    plan.search.max_power = Watts{6000.0};  // 8 cards x 700 W = 5.6 kW
    const Sweep sweep{plan};
    const SweepResult result = sweep.walk(0, 2);
    EXPECT_EQ(result.fitting(), 1U);
    EXPECT_EQ(result.designs[static_cast<std::size_t>(model::VerdictReason::above_limit)], 1U);
    plan.search.max_parameters = 1e6;
    EXPECT_EQ(Sweep{plan}.walk(0, 2).fitting(), 0U);
}

TEST(Sweep, ObjectivesNeedTheirInputs) {
    model::Plan plan = test::plan_of(test::gpt(4, 512, 8), test::h100(), 8, 512, 8);
    plan.search.objective = model::Objective::cost;
    EXPECT_THROW(Sweep{plan}, base::InputError);
    plan.cost.card = UsdPerSecond{2.0 / 3600.0};
    EXPECT_THROW(Sweep{plan}, base::InputError);  // still no tokens
    plan.training->tokens = 1e9;
    EXPECT_NO_THROW(Sweep{plan});
    plan.search.objective = model::Objective::energy;
    EXPECT_THROW(Sweep{plan}, base::InputError);
    plan.cluster.accelerator.power = Watts{700.0};
    EXPECT_NO_THROW(Sweep{plan});
    plan.search.pareto = {"beauty"};
    EXPECT_THROW(Sweep{plan}, base::InputError);
}

TEST(Measures, CostAndEnergyOfARunByHand) {
    model::Plan plan = test::plan_of(test::gpt(4, 512, 8), test::h100(), 32, 1000, 10);
    plan.training->tokens = 25'000.0;  // 2.5 steps of 10 x 1000 tokens: three steps
    plan.cost.card = UsdPerSecond{0.5};
    plan.cost.spare_node = UsdPerSecond{1.0};
    plan.cost.energy = UsdPerJoule{0.01};
    plan.cost.pue = 1.5;
    plan.cluster.accelerator.power = Watts{100.0};
    const Valuation valuation = valuation_of(plan);
    model::Layout layout = test::layout(16, 1, 1, 1, 10);
    // 3 steps of 2 s = 6 s. Energy 16 x 100 W x 1.5 x 6 s = 14.4 kJ. Cost (16 x 0.5 + 2 spare nodes x 1) x 6 + 144.
    EXPECT_EQ(valuation.time_to_tokens(layout, Seconds{2.0}).value(), 6.0);
    EXPECT_NEAR(valuation.energy(layout, Seconds{2.0}).value(), 14'400.0, 1e-9);
    EXPECT_NEAR(valuation.cost(layout, Seconds{2.0}).value(), 204.0, 1e-9);
    plan.recovery.spare_nodes = 5;  // whatever the layout leaves over: (8 + 5) x 6 + 144
    EXPECT_NEAR(valuation_of(plan).cost(layout, Seconds{2.0}).value(), 222.0, 1e-9);
    EXPECT_EQ(valuation.tokens_per_second(layout, Seconds{2.0}), 5'000.0);
}

}  // namespace
}  // namespace windtunnel::search
