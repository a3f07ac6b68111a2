#include "windtunnel/report/plan_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

using testing::ElementsAre;

TEST(PlanNotes, EqualValuesOfAListAreWrittenOnce) {
    EXPECT_THAT(
        joined_assumptions({"failures.component[0].repair = { law = fixed, value = 6 h } (assumed: none public)",
                            "failures.component[1].repair = { law = fixed, value = 6 h } (assumed: none public)",
                            "failures.component[2].repair = { law = fixed, value = 7 h } (assumed: none public)",
                            "failures.component[4].repair = { law = fixed, value = 6 h } (assumed: none public)",
                            "recovery.restart = 600 s (assumed)"}),
        ElementsAre("failures.component[0-1,4].repair = { law = fixed, value = 6 h }, component[2].repair = { "
                    "law = fixed, value = 7 h } (assumed: none public)",
                    "recovery.restart = 600 s (assumed)"));
}

TEST(PlanNotes, ValuesOfOneFileWithOneReasonStandTogether) {
    EXPECT_THAT(joined_assumptions({"accelerator.power = 700 W (recalled: data sheet (2022))",
                                    "model.vocabulary = 7 (recalled: data sheet (2022))",
                                    "accelerator.memory = 80 GiB (recalled: data sheet (2022))",
                                    "accelerator.latency = 1 us (assumed: guess)"}),
                ElementsAre("accelerator.power = 700 W, memory = 80 GiB (recalled: data sheet (2022))",
                            "model.vocabulary = 7 (recalled: data sheet (2022))",
                            "accelerator.latency = 1 us (assumed: guess)"));
}

TEST(PlanNotes, LinesOfAnotherFormStay) {
    const std::vector<std::string> odd{"", "no value", "a = b", "x (assumed)", "a.b[ = 2 (assumed: y)"};
    EXPECT_EQ(joined_assumptions(odd).size(), odd.size());
    EXPECT_THAT(joined_assumptions({"calibration = default set (assumed: none named)"}),
                ElementsAre("calibration = default set (assumed: none named)"));
}

TEST(PlanNotes, SectionsThatAreNotUsedAreLeftOut) {
    model::Plan plan;
    plan.implicit_defaults = {"search.top = 50", "train.fused_operators = true", "searching.x = 1"};
    plan.assumptions = {"recovery.restart = 600 s (assumed)"};
    EXPECT_EQ(plan_notes(plan, {"search", "recovery"}), "defaults: train.fused_operators = true, searching.x = 1\n");
    EXPECT_EQ(plan_notes({}), "");
}

TEST(PlanNotes, Wraps) {
    EXPECT_EQ(wrapped("a bb ccc dddd", 6), "a bb\n  ccc\n  dddd\n");
    EXPECT_EQ(wrapped("aaaaaaaaaaaa b", 4), "aaaaaaaaaaaa\n  b\n");
    EXPECT_EQ(wrapped("", 4), "\n");
}

}  // namespace
}  // namespace windtunnel::report
