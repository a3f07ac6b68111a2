#include "windtunnel/avail/segment_sensitivity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel::avail {
namespace {

JobOnCluster job() {
    JobOnCluster job;
    FailureClass failures;
    failures.name = "node";
    failures.count = 10;
    failures.up = {model::LawKind::exponential, 1.0, Seconds{36'000.0}};  // ten of them: one failure an hour
    job.classes = {failures};
    job.step_time = Seconds{1.0};
    job.checkpoint_steps = 600;
    job.checkpoint_write = Seconds{30.0};
    job.restart = {model::LawKind::deterministic, 1.0, Seconds{300.0}};
    return job;
}

TEST(SegmentSensitivity, IsTheSegmentFormulaWithOneInputChanged) {
    // M = 3600, s = 630, R = 300: (e^{s/M} - 1)(M + R) = 0.191246 x 3900 = 745.86 s for 600 s of work: 80.44 %.
    const auto effects = segment_sensitivity(job());
    ASSERT_EQ(effects.size(), 4U);
    EXPECT_NEAR(effects[0].base_share, 600.0 / ((std::exp(630.0 / 3600.0) - 1.0) * 3900.0), 1e-12);
    // Twice as long between failures: (e^{630/7200} - 1)(7500).
    EXPECT_NEAR(effects[0].double_share, 600.0 / ((std::exp(630.0 / 7200.0) - 1.0) * 7500.0), 1e-12);
    // Half the restart: M + 150.
    EXPECT_NEAR(effects[1].half_share, 600.0 / ((std::exp(630.0 / 3600.0) - 1.0) * 3750.0), 1e-12);
    // Twice the interval: s = 1230.
    EXPECT_NEAR(effects[2].double_share, 1200.0 / ((std::exp(1230.0 / 3600.0) - 1.0) * 3900.0), 1e-12);
    EXPECT_EQ(effects[3].base, Seconds{30.0});
    EXPECT_GT(effects[3].half_share, effects[3].double_share);
}

TEST(SegmentSensitivity, OfAJobWithoutFailuresOrCheckpointsIsEmpty) {
    JobOnCluster calm = job();
    calm.classes.clear();
    EXPECT_TRUE(segment_sensitivity(calm).empty());
    JobOnCluster bold = job();
    bold.checkpoint_steps.reset();
    EXPECT_TRUE(segment_sensitivity(bold).empty());
}

}  // namespace
}  // namespace windtunnel::avail
