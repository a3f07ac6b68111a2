#include "windtunnel/calibrate/step_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train_examples.hpp"

namespace windtunnel::calibrate {
namespace {

/// Small GPTs on 8 A100; step times are those that `truth` gives.
StepSet set_of(const model::Efficiency& truth) {
    StepSet set;
    set.name = "s";
    set.free = {"gemm", "memory", "fixed_per_step", "low_precision_cast"};
    for (const int hidden : {1024, 2048, 3072, 4096, 6144, 8192})
        for (const int tp : {1, 2}) {
            MeasuredStep row;
            row.id = std::to_string(hidden) + "/" + std::to_string(tp);
            row.source = tp == 1 ? "one" : "two";
            row.hash = static_cast<std::uint64_t>(hidden + tp);
            row.job = test::job(test::gpt(4, hidden, 16), test::a100(), 8, 1024);
            row.layout = test::layout(8, tp, 1, 1, 16);
            row.used = true;
            row.measured_s = predicted_s(row, truth);
            set.rows.push_back(row);
        }
    return set;
}

TEST(StepFit, NoiseFreeStepsGiveBackTheValuesBehindThem) {
    model::Efficiency truth = prior_efficiency();
    truth.gemm = 0.6;
    truth.memory = 0.55;
    truth.fixed_per_step = Seconds{0.008};
    const StepSet set = set_of(truth);
    const model::Efficiency base = base_efficiency(set, nullptr);
    const auto rows = used_rows(set);
    std::vector<Candidate> free = candidates(set, base, rows);
    std::erase_if(free, [](const Candidate& candidate) { return !candidate.is_free(); });
    Problem problem = problem_of(set, base, free, rows);
    problem.strength = 1e-6;  // the priors would pull by a percent
    const Solution found = solve(problem, start_point(problem, 1, 0));
    ASSERT_EQ(free.size(), 3U);  // 16 bit: nothing is cast
    EXPECT_NEAR(found.values[0], 0.6, 0.003);
    EXPECT_NEAR(found.values[1], 0.55, 0.003);
    EXPECT_NEAR(found.values[2], 8.0, 0.1);
}

TEST(StepFit, AValueThatTouchesNoRowIsNotFree) {
    const StepSet set = set_of(prior_efficiency());
    const auto all = candidates(set, base_efficiency(set, nullptr), used_rows(set));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].num_rows, 12);
    EXPECT_EQ(all[3].num_rows, 0);
    EXPECT_FALSE(all[3].is_free());
}

TEST(StepFit, WhatTheRowsDoNotNeedGoesBackToItsPrior) {
    model::Efficiency truth = prior_efficiency();
    truth.gemm = 0.6;
    const StepSet set = set_of(truth);
    const model::Efficiency base = base_efficiency(set, nullptr);
    const auto rows = used_rows(set);
    std::vector<Candidate> free = candidates(set, base, rows);
    free.resize(3);
    // One row of twelve is half as slow again: an outlier gives the sum of |e| a size, 0.41, and no value takes it up
    // that would not cost the other rows more. A kept value must win a tenth of its mean, 0.1 x 0.41 / 12 = 0.0034.
    StepSet noisy = set;
    noisy.rows[5].measured_s *= 1.5;
    const Choice choice = needed_values(noisy, base, free, {0.75, 0.70, 20.0}, rows);
    ASSERT_FALSE(choice.free.empty());
    EXPECT_EQ(choice.free[0].name, "gemm");
    EXPECT_NEAR(choice.values[0], 0.6, 0.02);
    EXPECT_LT(choice.free.size(), 3U);
}

TEST(StepFit, AParentGivesThePriorsAndASourceCanBeLeftOut) {
    model::Efficiency parent = prior_efficiency();
    parent.gemm = 0.5;
    parent.releases = {{"26.04", 1.2}};
    StepSet set = set_of(prior_efficiency());
    set.gemm_prior_ratio = 1.2;
    const model::Efficiency base = base_efficiency(set, &parent);
    EXPECT_DOUBLE_EQ(base.gemm, 0.6);
    EXPECT_TRUE(base.releases.empty());
    EXPECT_EQ(used_rows(set, "one").size(), 6U);
    set.rows[0].used = false;
    EXPECT_EQ(used_rows(set).size(), 11U);
}

TEST(StepFit, AReleaseOfFiveRowsHasAFactorOfItsLayers) {
    model::Efficiency truth = prior_efficiency();
    StepSet set = set_of(truth);
    set.releases = true;
    set.free = {};
    for (std::size_t i = 0; i < set.rows.size(); ++i) set.rows[i].release = i < 5 ? "25.05" : i < 9 ? "25.09" : "";
    const auto all = candidates(set, base_efficiency(set, nullptr), used_rows(set));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, "release 25.05");
    EXPECT_EQ(all[0].num_rows, 5);
    const model::Efficiency slower = with_values(prior_efficiency(), all, {1.5});
    EXPECT_GT(predicted_s(set.rows[0], slower), 1.1 * set.rows[0].measured_s);  // head and launches stay as they are
    EXPECT_DOUBLE_EQ(predicted_s(set.rows[6], slower), set.rows[6].measured_s);
}

TEST(Parameters, EachComesBackFromTheEfficiencyThatItWasPutInto) {
    for (const Parameter& parameter : parameters()) {
        EXPECT_LT(parameter.lower, parameter.prior) << parameter.name;
        EXPECT_LE(parameter.prior, parameter.upper) << parameter.name;
        model::Efficiency efficiency;
        const double value = 0.5 * (parameter.lower + parameter.prior);
        parameter.set(efficiency, value);
        EXPECT_NEAR(parameter.get(efficiency), value, 1e-12 * value) << parameter.name;
        EXPECT_EQ(find_parameter(parameter.name), &parameter);
    }
    EXPECT_EQ(find_parameter("no such value"), nullptr);
}

}  // namespace
}  // namespace windtunnel::calibrate
