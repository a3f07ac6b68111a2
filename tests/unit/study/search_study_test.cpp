#include "windtunnel/study/search_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run_study.hpp"
#include "search_examples.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::study {
namespace {

using test::listed;

/// The executor on every design of the space that fits.
std::vector<search::Candidate> brute_force(const search::Sweep& sweep) {
    std::vector<search::Candidate> all;
    train::StepWorkspace workspace;
    for (std::uint64_t index = 0; index < sweep.space().size(); ++index) {
        const model::Layout layout = sweep.space().layout(index);
        if (train::broken_rule(sweep.job(), layout) != model::VerdictReason::fits) continue;
        const train::UnitCosts costs = train::unit_costs(sweep.job(), train::unit_key(layout));
        if (!train::memory_verdict(sweep.job(), layout, costs).feasible()) continue;
        const Seconds step = train::step_time(sweep.job(), layout, costs, workspace);
        all.push_back({sweep.valuation().score(sweep.objective(), layout, step, Bytes{0.0}), index});
    }
    std::sort(all.begin(), all.end());
    return all;
}

model::LayoutSpace& open(model::Plan& plan) {
    model::LayoutSpace& space = plan.training->layout;
    space.tensor_parallel = listed<int>({1, 2, 4, 8, 16});
    space.pipeline_parallel = listed<int>({1, 2, 4, 8});
    space.virtual_pipeline = listed<int>({1, 2, 4});
    space.micro_batch_size = listed<int>({1, 2, 4});
    space.recompute =
        listed<model::Recompute>({model::Recompute::none, model::Recompute::selective, model::Recompute::full});
    space.schedule = listed<model::PipelineSchedule>(
        {model::PipelineSchedule::gpipe, model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved,
         model::PipelineSchedule::zb_1p, model::PipelineSchedule::v_half, model::PipelineSchedule::dualpipe});
    space.optimizer_sharding = listed<int>({0, 1, 3});
    plan.search.top = 10;
    return space;
}

model::Plan dense_plan() {
    model::Plan plan = test::plan_of(test::dense_model(32, 4096, 32, 8, 128, 14336, 32000), test::h100(), 64, 4096, 64);
    open(plan).global_batch_size = listed<std::int64_t>({64, 96, 128});
    return plan;
}

model::Plan moe_plan() {
    model::Plan plan = test::plan_of(test::deepseek_v2(16), test::ascend_910b(), 128, 4096, 128);
    open(plan).expert_parallel = listed<int>({1, 8, 16, 32});
    return plan;
}

model::Plan slots_plan() {
    model::Plan plan =
        test::plan_of(test::dense_model(30, 8192, 64, 8, 128, 28672, 128256), test::a100(), 256, 4096, 256);
    model::LayoutSpace& space = open(plan);
    space.split.kind = model::SplitKind::slots;
    space.context_parallel = listed<int>({1, 2});
    space.cards = listed<int>({128, 256});
    return plan;
}

TEST(SearchStudy, WinnersEqualTheExecutorOnEverything) {
    for (const model::Plan& plan : {dense_plan(), moe_plan(), slots_plan()}) {
        const SearchStudy study{plan};
        ASSERT_GE(study.sweep().space().size(), 3'000U);
        const SearchAnswer answer = study.answer(test::run(study));
        const std::vector<search::Candidate> all = brute_force(study.sweep());
        ASSERT_GE(all.size(), 50U);
        EXPECT_EQ(answer.fitting(), all.size());
        ASSERT_EQ(answer.best.size(), 10U);
        for (std::size_t rank = 0; rank < 10; ++rank) EXPECT_EQ(answer.best[rank].index, all[rank].index) << rank;
        EXPECT_EQ(answer.check.sample_in_top, 0U);
        EXPECT_GE(answer.check.candidates, 10U);
        EXPECT_LT(answer.check.candidates, all.size());  // the executor did not run on everything
    }
}

TEST(SearchStudy, OtherObjectivesFindTheirOwnWinner) {
    model::Plan plan = dense_plan();
    plan.training->layout.cards = listed<int>({16, 32, 64});
    plan.training->tokens = 1e12;
    plan.cost.card = UsdPerSecond{2.0 / 3600.0};
    plan.cluster.accelerator.power = Watts{700.0};
    for (const model::Objective objective : {model::Objective::step_time, model::Objective::cost,
                                             model::Objective::energy, model::Objective::time_to_tokens}) {
        plan.search.objective = objective;
        const SearchStudy study{plan};
        const SearchAnswer answer = study.answer(test::run(study));
        EXPECT_EQ(answer.best.at(0).index, brute_force(study.sweep()).at(0).index) << static_cast<int>(objective);
    }
}

TEST(SearchStudy, AnyCutsOfBlocksGiveTheSameTables) {
    const SearchStudy study{moe_plan(), {StoreDesigns::all}};
    const auto whole = test::run_tables(study, 1);
    for (const std::uint64_t slices : {2U, 5U}) EXPECT_EQ(test::run_tables(study, slices), whole);
}

TEST(SearchStudy, AllDesignsAreTheBulkTable) {
    const SearchStudy study{dense_plan(), {StoreDesigns::all}};
    std::uint64_t rows = 0;
    const auto state = test::run(study, 1, [&](const Round& round, const SearchStudy::Partial& partial) {
        rows += study.bulk_rows(round, partial).at(0).num_rows();
    });
    EXPECT_EQ(rows, study.answer(state).fitting());
    EXPECT_EQ(state.sweep.row_index.size(), 0U);  // the state stays small
}

TEST(SearchStudy, NoPointOfTheFrontBeatsAnother) {
    model::Plan plan = dense_plan();
    plan.search.pareto = {"tokens_per_second", "memory"};
    const SearchStudy study{plan};
    const SearchAnswer answer = study.answer(test::run(study));
    ASSERT_GE(answer.pareto.size(), 2U);
    for (const RankedDesign& a : answer.pareto)
        for (const RankedDesign& b : answer.pareto)
            EXPECT_FALSE(a.tokens_per_second > b.tokens_per_second && a.memory < b.memory);
    const auto winner = std::ranges::find_if(
        answer.pareto, [&](const RankedDesign& design) { return design.index == answer.best[0].index; });
    EXPECT_NE(winner, answer.pareto.end());
}

TEST(SearchStudy, NothingFeasibleIsAnAnswer) {
    model::Plan plan = test::plan_of(test::llama3_405b(), test::h100(), 8, 8192, 8);
    plan.training->layout.tensor_parallel = listed<int>({1, 2, 4, 8});
    const SearchStudy study{plan};
    const auto state = test::run(study);
    const SearchAnswer answer = study.answer(state);
    EXPECT_FALSE(answer.feasible());
    EXPECT_EQ(answer.designs[static_cast<std::size_t>(model::VerdictReason::out_of_memory)], 4U);
    EXPECT_FALSE(study.winner(state));
    EXPECT_EQ(study.tables(state).at(0).num_rows(), 0U);
}

TEST(SearchStudy, TensorParallelismOverNodesRanksBelowInsideANode) {
    // Eight cards a node: tp 16 sends its all-gathers over RoCE (25 GB/s instead of 196).
    model::Plan plan = test::plan_of(test::pangu_ultra_135b(), test::ascend_910b(), 1024, 4096, 512);
    plan.training->layout.tensor_parallel = listed<int>({8, 16});
    plan.training->layout.pipeline_parallel = listed<int>({8, 16});
    plan.training->layout.split.kind = model::SplitKind::slots;
    plan.training->layout.recompute = listed<model::Recompute>({model::Recompute::full});
    const SearchStudy study{plan};
    const SearchAnswer answer = study.answer(test::run(study));
    ASSERT_TRUE(answer.feasible());
    double best_8 = 0.0, best_16 = 0.0;
    for (const RankedDesign& design : answer.best) {
        double& best = design.layout.tensor_parallel == 8 ? best_8 : best_16;
        best = std::max(best, design.tokens_per_second);
    }
    ASSERT_GT(best_16, 0.0);
    EXPECT_GT(best_8, 1.1 * best_16);
}

TEST(SearchStudy, ExpertParallelEightIsNearTheTopForMixtralOnSixteenCards) {
    // Advised by its users: EP 8 x TP 2, dp 8 (UC-043, Megatron-LM issue 756); tensor parallelism cuts the experts too.
    model::Transformer mixtral = test::dense_model(32, 4096, 32, 8, 128, 14336, 32000);
    mixtral.num_dense_layers = 0;
    mixtral.ffn = 0;
    mixtral.experts = model::Experts{8, 2, 14336, 0};
    model::Plan plan = test::plan_of(mixtral, test::h100(), 16, 4096, 256);
    model::LayoutSpace& space = plan.training->layout;
    space.tensor_parallel = listed<int>({1, 2, 4, 8});
    space.pipeline_parallel = listed<int>({1, 2, 4});
    space.expert_parallel = listed<int>({1, 2, 4, 8});
    space.expert_tensor_parallel = listed<int>({1, 2});
    space.recompute = listed<model::Recompute>({model::Recompute::none, model::Recompute::selective});
    const SearchStudy study{plan};
    const SearchAnswer answer = study.answer(test::run(study));
    const auto advised = std::ranges::find_if(answer.best, [](const RankedDesign& design) {
        return design.layout.expert_parallel == 8 && design.layout.tensor_parallel == 2 &&
               design.layout.pipeline_parallel == 1;
    });
    ASSERT_NE(advised, answer.best.end()) << "the advised mapping does not fit";
    EXPECT_GE(advised->tokens_per_second, 0.8 * answer.best[0].tokens_per_second);
}

TEST(SearchStudy, BlocksGrowWhereWholeRangesAreCutOff) {
    // Batches 1 to 100,000 on dp 1 to 8: few divide, the others cost nothing.
    model::Plan dense = dense_plan();
    model::Plan cut = dense_plan();
    std::vector<std::int64_t> batches(100'000);
    for (std::size_t i = 0; i < batches.size(); ++i) batches[i] = static_cast<std::int64_t>(i) * 2 + 1;  // odd
    cut.training->layout.global_batch_size.values = batches;
    const SearchStudy few{dense}, many{cut};
    const auto a = few.next_round(few.start()), b = many.next_round(many.start());
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->items_per_block, 512U);
    EXPECT_GT(b->items_per_block, 2'000U);
    EXPECT_GE(b->num_blocks(), 512U);
    EXPECT_EQ(b->items_per_block % b->items_per_slice, 0U);
}

TEST(SearchStudy, DamagedRecordsAreErrors) {
    const SearchStudy study{dense_plan()};
    const auto round = study.next_round(study.start());
    ASSERT_TRUE(round);
    const std::string bytes = study.pack(study.evaluate(*round, {0, 500}, {}));
    EXPECT_EQ(study.pack(study.unpack(bytes)), bytes);
    for (std::size_t size = 0; size < bytes.size(); size += 13)
        EXPECT_THROW((void)study.unpack(std::string_view{bytes}.substr(0, size)), base::PackError);
}

}  // namespace
}  // namespace windtunnel::study
