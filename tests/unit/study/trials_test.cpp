#include "windtunnel/study/trials.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "run_study.hpp"
#include "search_examples.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/study/avail_study.hpp"
#include "windtunnel/study/rehearse_study.hpp"
#include "windtunnel/study/schema.hpp"
#include "windtunnel/study/train_study.hpp"

namespace windtunnel::study {
namespace {

using test::listed;

/// A small model on 64 cards for about a day, with a failure of the job every four hours.
model::Plan plan_with_failures() {
    model::Plan plan = test::plan_of(test::dense_model(32, 4096, 32, 8, 128, 14336, 32000), test::h100(), 64, 4096, 64);
    plan.training->layout.tensor_parallel = listed<int>({8});
    plan.training->tokens = 1e10;
    plan.rehearsal.trials = 40;
    model::FailureVariant variant;
    variant.name = "often";
    variant.up = {model::LawKind::exponential, 1.0, Seconds{4.0 * 3600.0}};
    variant.scales_with_nodes = false;
    variant.repair = {model::LawKind::deterministic, 1.0, Seconds{600.0}};
    variant.takes_node = false;
    plan.failures.variants.push_back(variant);
    variant.name = "seldom";
    variant.up.scale = Seconds{24.0 * 3600.0};
    plan.failures.variants.push_back(variant);
    return plan;
}

TEST(AvailStudy, TrialsAloneAreExact) {
    const AvailStudy study{plan_with_failures(), {{70, {}, {}}}};
    const AvailAnswer answer = study.answer(test::run(study));
    ASSERT_EQ(answer.variants.size(), 2U);
    for (const VariantAnswer& variant : answer.variants) {
        EXPECT_EQ(variant.trials, 70U);
        double share = 0.0;
        for (const Estimate& phase : variant.phase_s) share += phase.mean / variant.wall_s.mean;
        EXPECT_NEAR(share, 1.0, 1e-9);
    }
    EXPECT_LT(answer.variants[0].useful_share.mean, answer.variants[1].useful_share.mean);
    EXPECT_EQ(study.part_refusal(), "");
}

TEST(AvailStudy, IntervalsHoldPossibleValuesOnly) {
    // A failure in about 1 of 20 trials: the normal interval of the share would pass 1, that of the stops 0.
    model::Plan plan = plan_with_failures();
    plan.failures.variants.resize(1);
    plan.failures.variants[0].up.scale = Seconds{600.0 * 3600.0};
    const AvailStudy study{plan, {{20, {}, {}}}};
    const VariantAnswer variant = study.answer(test::run(study)).variants.at(0);
    EXPECT_GT(variant.useful_share.mean + 1.96 * variant.useful_share.standard_error, 1.0);
    EXPECT_EQ(variant.useful_share.high, 1.0);
    EXPECT_LT(variant.stops.mean - 1.96 * variant.stops.standard_error, 0.0);
    EXPECT_EQ(variant.stops.low, 0.0);
    EXPECT_GT(variant.stops.high, variant.stops.mean);
}

TEST(AvailStudy, HalfWidthSeesWholeRoundsOnly) {
    const StopRule rule{{}, 0.005, {}};
    const AvailStudy study{plan_with_failures(), {rule}};
    std::vector<Round> rounds;
    const auto state = test::run(study, 1, [&](const Round& round, const TrialSums&) {
        if (rounds.empty() || rounds.back().number != round.number) rounds.push_back(round);
    });
    std::uint64_t items = 0;
    for (const Round& round : rounds) {
        EXPECT_EQ(round.first_item, items);
        items += round.num_items;
    }
    const AvailAnswer answer = study.answer(state);
    EXPECT_EQ(answer.variants[0].trials + answer.variants[1].trials, items);
    for (const VariantAnswer& variant : answer.variants) {
        EXPECT_TRUE(variant.half_width_reached);
        EXPECT_LE(variant.useful_share.high - variant.useful_share.mean, 0.005 * variant.useful_share.mean * 1.001);
    }
    EXPECT_NE(study.part_refusal(), "");
}

TEST(AvailStudy, AnyCutsGiveTheSameCounts) {
    // Moments round differently in other cuts (the driver's are fixed); whole numbers do not.
    const AvailStudy study{plan_with_failures()};
    const AvailAnswer one = study.answer(test::run(study, 1)), four = study.answer(test::run(study, 4));
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(one.variants[i].trials, four.variants[i].trials);
        EXPECT_NEAR(one.variants[i].wall_s.mean, four.variants[i].wall_s.mean, 1e-9 * one.variants[i].wall_s.mean);
        EXPECT_EQ(one.variants[i].wall_quantiles_s[4].value, four.variants[i].wall_quantiles_s[4].value);
    }
    EXPECT_EQ(test::run_tables(study), test::run_tables(study));
}

TEST(AvailStudy, AnInfeasibleLayoutHasNoTrials) {
    model::Plan plan = plan_with_failures();
    plan.training->layout.tensor_parallel = listed<int>({5});
    const AvailStudy study{plan};
    const auto state = test::run(study);
    EXPECT_FALSE(study.answer(state).feasible());
    EXPECT_EQ(study.tables(state).at(0).num_rows(), 0U);
}

TEST(AvailStudy, NeedsOneLayoutAndAnEnd) {
    model::Plan plan = plan_with_failures();
    plan.training->layout.tensor_parallel = listed<int>({1, 8});
    try {
        AvailStudy{plan};
        FAIL() << "no error";
    } catch (const base::InputError& error) {
        EXPECT_NE(std::string{error.what()}.find("tensor_parallel (2 values)"), std::string::npos) << error.what();
    }
    plan = plan_with_failures();
    plan.training->tokens = 0.0;
    EXPECT_THROW(AvailStudy{plan}, base::InputError);
    EXPECT_THROW((AvailStudy{plan_with_failures(), {{0, {}, {}}}}), base::InputError);
    EXPECT_THROW((AvailStudy{plan_with_failures(), {{{}, -0.5, {}}}}), base::InputError);
}

TEST(RehearseStudy, WithoutFailuresItIsTrain) {
    model::Plan plan = plan_with_failures();
    plan.failures = {};
    const RehearseStudy rehearse{plan};
    const RehearseAnswer answer = rehearse.answer(test::run(rehearse));
    const TrainStudy train{plan};
    const TrainAnswer step = train.answer(test::run(train));
    ASSERT_TRUE(step.points.at(0).step);
    EXPECT_EQ(answer.search.best.at(0).step_time.value(), step.points[0].step->step_time.value());
    ASSERT_EQ(answer.variants.size(), 1U);
    // 1e10 tokens / (64 x 4096 a step) = 38146.97: 38,147 steps.
    const double whole = 38'147.0 * step.points[0].step->step_time.value();
    EXPECT_NEAR(answer.variants[0].wall_s.mean, whole, 1e-9 * whole);
    EXPECT_NEAR(answer.variants[0].useful_share.mean, 1.0, 1e-12);
}

TEST(RehearseStudy, RehearsesTheWinnerOfItsSearch) {
    model::Plan plan = plan_with_failures();
    plan.training->layout.tensor_parallel = listed<int>({1, 2, 4, 8});
    const RehearseStudy study{plan};
    const RehearseAnswer answer = study.answer(test::run(study));
    ASSERT_TRUE(answer.feasible());
    ASSERT_EQ(answer.variants.size(), 2U);
    EXPECT_EQ(answer.variants[0].trials, 40U);
    EXPECT_EQ(answer.variants[0].job.step_time.value(), answer.search.best[0].step_time.value());
    EXPECT_EQ(test::run_tables(study), test::run_tables(study));
    plan.training->layout.tensor_parallel = listed<int>({5});
    const RehearseStudy hopeless{plan};
    EXPECT_FALSE(hopeless.answer(test::run(hopeless)).feasible());
}

TEST(RehearseStudy, TheErrorOfTheStepTimeWidensTheTimeToTheLastToken) {
    model::Plan plan = plan_with_failures();
    plan.rehearsal.trials = 400;
    plan.efficiency.step_time_error_90 = 0.0;
    const RehearseStudy unknown{plan};
    const RehearseAnswer without = unknown.answer(test::run(unknown));
    plan.efficiency.step_time_error_90 = 0.2;
    const RehearseStudy known{plan};
    const RehearseAnswer with = known.answer(test::run(known));
    ASSERT_EQ(with.times.size(), 2U);
    EXPECT_EQ(with.step_time_error_90(), 0.2);
    for (std::size_t i = 0; i < 2; ++i) {
        const TimeToTokens &sure = without.times[i], &both = with.times[i];
        EXPECT_TRUE(std::isnan(sure.with_error_s[1].value));
        for (std::size_t q = 0; q < 4; ++q) EXPECT_EQ(both.time_s[q].value, sure.time_s[q].value);
        // 10 to 90 % of a lognormal with sigma = ln 1.2/1.645 = 0.1108: factors 0.868 to 1.153, so 28 % wide.
        const double alone = both.time_s[2].value - both.time_s[0].value;
        const double wide = both.with_error_s[2].value - both.with_error_s[0].value;
        EXPECT_GT(wide, alone);
        EXPECT_NEAR(wide / both.time_s[1].value, 0.285, 0.06);
    }
}

TEST(RehearseStudy, ATrialGivenUpAtTheHorizonIsALowerBound) {
    model::Plan plan = plan_with_failures();
    plan.failures = {};
    const RehearseStudy whole{plan};
    const RehearseAnswer finished = whole.answer(test::run(whole));
    EXPECT_TRUE(finished.times.at(0).time_s[3].finished);
    EXPECT_TRUE(finished.variants.at(0).wall_quantiles_s[0].finished);
    EXPECT_EQ(finished.times[0].tokens[1].value, 1e10);
    plan.rehearsal.horizon = finished.variants[0].failure_free_s * 0.5;
    const RehearseStudy half{plan};
    const RehearseAnswer cut = half.answer(test::run(half));
    EXPECT_FALSE(cut.times.at(0).time_s[0].finished);
    EXPECT_FALSE(cut.variants.at(0).wall_quantiles_s[0].finished);
    EXPECT_NEAR(cut.times[0].tokens[1].value, 5e9, 0.001e10);
    EXPECT_EQ(cut.variants[0].unfinished, 40U);
}

TEST(Trials, ASliceIsAQuarterOfAMillisecondOfExpectedWork) {
    avail::JobOnCluster job;
    job.num_steps = 86'400;
    // Nothing fails: 3 us a trial.
    EXPECT_EQ(trials_per_slice({job}), 84U);
    avail::FailureClass component;
    component.up = {model::LawKind::exponential, 1.0, Seconds{864.0}};
    job.classes.push_back(component);
    // 100 failures in a day: 103 us.
    EXPECT_EQ(trials_per_slice({job}), 4U);
    job.num_steps.reset();
    job.horizon = Seconds{86'400.0 / 10.0};
    // 10 failures: 13 us.
    EXPECT_EQ(trials_per_slice({job}), 20U);
    const auto round = next_trials({100'000, {}, {}}, {}, {job}, 0, 0);
    ASSERT_TRUE(round);
    EXPECT_EQ(round->items_per_block, 16 * round->items_per_slice);
}

TEST(TrainStudy, SweepsCardsWithTheBatchPerCard) {
    model::Plan plan = plan_with_failures();
    const TrainStudy study{plan, {CardSweep{8, 64, 2.0}}};
    const TrainAnswer answer = study.answer(test::run(study));
    ASSERT_EQ(answer.points.size(), 4U);
    EXPECT_EQ(answer.points[0].layout.global_batch_size, 8);
    EXPECT_EQ(answer.points[0].linearity, 1.0);
    EXPECT_GT(answer.points[3].linearity, 0.3);
    EXPECT_LE(answer.points[3].linearity, 1.0 + 1e-12);
    EXPECT_THROW((TrainStudy{plan, {CardSweep{8, 640, 2.0}}}), base::InputError);
}

TEST(Schemas, HaveUnitsAndNamesOnEveryColumn) {
    for (const store::TableSchema& schema : all_schemas()) {
        EXPECT_FALSE(schema.long_name.empty()) << schema.path;
        for (const store::ColumnSchema& column : schema.columns) {
            EXPECT_FALSE(column.units.empty() || column.long_name.empty()) << schema.path << "/" << column.name;
            EXPECT_EQ(column.type == store::ColumnType::enumeration, !column.enum_names.empty()) << column.name;
        }
    }
}

}  // namespace
}  // namespace windtunnel::study
