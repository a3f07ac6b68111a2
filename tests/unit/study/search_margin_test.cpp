/// The winners of a search against the executor on every design of spaces drawn at random, and the honesty of the
/// margin: an answer that may be wrong says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "run_study.hpp"
#include "search_examples.hpp"
#include "windtunnel/base/philox.hpp"
#include "windtunnel/study/search_study.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::study {
namespace {

using test::listed;

/// The executor on every design that fits, best first; and its times over those of the closed form.
struct BruteForce {
    std::vector<search::Candidate> all;
    double least_ratio = 1e9, greatest_ratio = 0.0;
};

BruteForce brute_force(const search::Sweep& sweep) {
    BruteForce result;
    train::StepWorkspace workspace;
    for (std::uint64_t index = 0; index < sweep.space().size(); ++index) {
        const model::Layout layout = sweep.space().layout(index);
        if (train::broken_rule(sweep.job(), layout) != model::VerdictReason::fits) continue;
        const train::UnitCosts costs = train::unit_costs(sweep.job(), train::unit_key(layout));
        if (!train::memory_verdict(sweep.job(), layout, costs).feasible()) continue;
        const Seconds step = train::step_time(sweep.job(), layout, costs, workspace);
        const double ratio = step / sweep.closed_form(index, workspace);
        result.least_ratio = std::min(result.least_ratio, ratio);
        result.greatest_ratio = std::max(result.greatest_ratio, ratio);
        result.all.push_back({sweep.valuation().score(sweep.objective(), layout, step, Bytes{0.0}), index});
    }
    std::sort(result.all.begin(), result.all.end());
    return result;
}

/// About 10^4 designs: every second space is MoE, every third splits its layers unevenly, and half of them try context
/// parallelism. `number` chooses the objective too.
model::Plan random_plan(std::uint64_t number) {
    base::Draws draws{{29, 3, number}};
    const bool moe = number % 2 == 0, uneven = number % 3 == 0, context = number % 4 < 2;
    model::Plan plan = moe ? test::plan_of(test::deepseek_v2(uneven ? 14 : 16), test::ascend_910b(), 128, 4096, 128)
                           : test::plan_of(test::dense_model(uneven ? 30 : 32, 4096, 32, 8, 128, 14336, 32000),
                                           test::h100(), 128, 4096, 128);
    plan.cluster.accelerator.power = Watts{500.0};
    plan.cost.card = UsdPerSecond{2.0 / 3600.0};
    plan.training->tokens = 1e12;
    constexpr std::array objectives{model::Objective::tokens_per_second, model::Objective::step_time,
                                    model::Objective::cost, model::Objective::energy, model::Objective::time_to_tokens};
    plan.search.objective = objectives[number % objectives.size()];
    plan.search.top = 5;
    model::LayoutSpace& space = plan.training->layout;
    if (uneven) space.split.kind = model::SplitKind::slots;
    const int fewer = 8 * static_cast<int>(8 + draws.bits() % 4);
    space.cards = listed<int>({fewer, 128});
    space.tensor_parallel = listed<int>({1, 2, 4, 8, 16});
    space.pipeline_parallel = listed<int>({1, 2, 4, 8});
    space.virtual_pipeline = listed<int>({1, 2, 4});
    space.context_parallel = listed<int>(context ? std::vector<int>{1, 2} : std::vector<int>{1});
    if (moe) space.expert_parallel = listed<int>({4, 8, 16});
    space.micro_batch_size = listed<int>({1, 2});
    const auto odd = static_cast<std::int64_t>(96 + 8 * (draws.bits() % 8));
    space.global_batch_size = listed<std::int64_t>({odd, 192});
    space.recompute =
        listed<model::Recompute>({model::Recompute::none, model::Recompute::selective, model::Recompute::full});
    space.schedule = listed<model::PipelineSchedule>(
        {model::PipelineSchedule::gpipe, model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved});
    space.optimizer_sharding = listed<int>({0, 1});
    return plan;
}

TEST(SearchMargin, WinnersOfRandomSpacesEqualTheExecutorOnEverything) {
    for (std::uint64_t number = 0; number < 10; ++number) {
        const SearchStudy study{random_plan(number)};
        EXPECT_GE(study.sweep().space().size(), 5'000U);
        const BruteForce truth = brute_force(study.sweep());
        const SearchAnswer answer = study.answer(test::run(study));
        ASSERT_EQ(answer.fitting(), truth.all.size()) << number;
        ASSERT_GE(truth.all.size(), 20U) << number;
        ASSERT_EQ(answer.best.size(), 5U);
        for (std::size_t rank = 0; rank < 5; ++rank)
            EXPECT_EQ(answer.best[rank].index, truth.all[rank].index) << "space " << number << " rank " << rank;
        EXPECT_TRUE(answer.check.covers_spread()) << number;
        // Nothing that was run may be outside what was measured on everything.
        EXPECT_GE(answer.check.least_ratio, truth.least_ratio);
        EXPECT_LE(answer.check.greatest_ratio, truth.greatest_ratio);
    }
}

TEST(SearchMargin, EqualDesignsRankByTheirNumber) {
    // Without a pipeline the schedule is only a word: GPipe, 1F1B and interleaved take the same time.
    model::Plan plan = random_plan(1);
    plan.training->layout.pipeline_parallel = listed<int>({1});
    plan.training->layout.virtual_pipeline = listed<int>({1});
    plan.search.top = 30;
    const SearchStudy study{plan};
    const SearchAnswer answer = study.answer(test::run(study));
    std::size_t ties = 0;
    for (std::size_t rank = 1; rank < answer.best.size(); ++rank)
        if (answer.best[rank].step_time == answer.best[rank - 1].step_time &&
            answer.best[rank].layout.global_batch_size == answer.best[rank - 1].layout.global_batch_size &&
            answer.best[rank].layout.cards == answer.best[rank - 1].layout.cards) {
            ++ties;
            EXPECT_LT(answer.best[rank - 1].index, answer.best[rank].index);
        }
    EXPECT_GE(ties, 5U);
    EXPECT_EQ(test::run_tables(study, 1), test::run_tables(study, 3));
}

TEST(SearchMargin, AMarginBelowTheErrorOfTheClosedFormIsNamed) {
    // Stages of unequal length, where the closed form is off by more than a thousandth: it may put designs in a wrong
    // order that a margin of one hundred-thousandth does not mend.
    std::size_t wrong = 0, named = 0;
    for (std::uint64_t number = 0; number < 12; number += 3) {
        model::Plan plan = random_plan(number);
        plan.search.margin = 1e-5;
        plan.search.pareto.clear();
        const SearchStudy study{plan};
        const BruteForce truth = brute_force(study.sweep());
        const SearchAnswer answer = study.answer(test::run(study));
        ASSERT_GT(truth.greatest_ratio, truth.least_ratio * (1.0 + plan.search.margin)) << "nothing to find";
        if (!answer.check.covers_spread() || answer.check.sample_in_top > 0) ++named;
        for (std::size_t rank = 0; rank < answer.best.size(); ++rank)
            if (answer.best[rank].index != truth.all[rank].index) {
                ++wrong;
                EXPECT_FALSE(answer.check.covers_spread() && answer.check.sample_in_top == 0)
                    << "space " << number << ": a wrong answer without a finding";
                break;
            }
    }
    EXPECT_EQ(named, 4U);
    EXPECT_GE(wrong, 1U) << "no space in which the closed form misorders";
}

TEST(SearchMargin, SpreadByHand) {
    MarginCheck check;
    check.margin = 0.1;
    check.least_ratio = 0.95;
    check.greatest_ratio = 1.04;  // 1.04 / 0.95 = 1.0947
    EXPECT_TRUE(check.covers_spread());
    EXPECT_NEAR(check.spread(), 0.094737, 1e-6);
    check.greatest_ratio = 1.05;  // 1.1053
    EXPECT_FALSE(check.covers_spread());
}

}  // namespace
}  // namespace windtunnel::study
