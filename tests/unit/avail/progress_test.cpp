#include "windtunnel/avail/progress.hpp"

#include <gtest/gtest.h>

namespace windtunnel::avail {
namespace {

/// 10 steps of 2 s, a checkpoint of 3 s after every 4 steps: work 0-8, write, 8-16, write, 16-20. Wall 26 s.
JobOnCluster small_job() {
    JobOnCluster job;
    job.step_time = Seconds{2};
    job.num_steps = 10;
    job.checkpoint_steps = 4;
    job.checkpoint_write = Seconds{3};
    return job;
}

TEST(Progress, UndisturbedIsWorkAndCheckpoints) {
    Progress progress{small_job()};
    EXPECT_EQ(progress.time_to_finish(1.0), 26.0);
    EXPECT_EQ(progress.time_to_finish(1.5), 36.0);  // 30 + 6
    progress.run(26.0, 1.0);
    EXPECT_TRUE(progress.finished());
    EXPECT_EQ(progress.work_done(), 20.0);
    EXPECT_EQ(progress.checkpoints(), 2U);
    EXPECT_EQ(progress.checkpoint_time(), 6.0);
}

TEST(Progress, NoCheckpointFollowsTheEndOfTheWork) {
    JobOnCluster job = small_job();
    job.num_steps = 8;
    EXPECT_EQ(Progress{job}.time_to_finish(1.0), 19.0);  // 8, write 3, 8
}

TEST(Progress, EverySplitOfTheTimeGivesTheSameState) {
    for (double piece = 0.25; piece < 26.0; piece += 0.25) {
        Progress progress{small_job()};
        progress.run(piece, 1.0);
        EXPECT_EQ(progress.time_to_finish(1.0), 26.0 - piece);
        progress.run(26.0 - piece, 1.0);
        EXPECT_TRUE(progress.finished());
        EXPECT_EQ(progress.checkpoint_time(), 6.0);
        EXPECT_EQ(progress.work_done(), 20.0);
    }
}

TEST(Progress, ManyCyclesAtOnceEqualTheirPieces) {
    JobOnCluster job = small_job();
    job.num_steps = 1000;
    Progress whole{job}, pieces{job};
    whole.run(1234.5, 1.25);
    for (int i = 0; i < 2469; ++i) pieces.run(0.5, 1.25);
    EXPECT_EQ(whole.checkpoints(), pieces.checkpoints());
    EXPECT_NEAR(whole.work_done(), pieces.work_done(), 1e-9);
    EXPECT_NEAR(whole.slowed(), pieces.slowed(), 1e-9);
    EXPECT_NEAR(whole.work_done() + whole.slowed() + whole.checkpoint_time(), 1234.5, 1e-9);
}

TEST(Progress, LosesTheStepUnderWayOrTheWorkSinceTheCheckpoint) {
    Progress progress{small_job()};
    progress.run(11.0 + 5.0, 1.0);  // one checkpoint, then 2.5 steps
    Progress other = progress;
    EXPECT_EQ(progress.lose_step(), 1.0);
    EXPECT_EQ(progress.work_done(), 12.0);
    EXPECT_EQ(other.lose_since_checkpoint(), 5.0);
    EXPECT_EQ(other.work_done(), 8.0);
}

TEST(Progress, AnInterruptedCheckpointIsWrittenAnew) {
    Progress progress{small_job()};
    progress.run(8.0 + 2.0, 1.0);  // 2 of 3 s written
    progress.abandon_write();
    EXPECT_EQ(progress.time_to_finish(1.0), 18.0);  // 3 + 8 + 3 + 4
    EXPECT_EQ(progress.lose_step(), 0.0);
    EXPECT_EQ(progress.lose_since_checkpoint(), 8.0);  // not complete: it does not count
    EXPECT_EQ(progress.checkpoint_time(), 2.0);
}

TEST(Progress, WithoutCheckpointsAndEndItJustWorks) {
    JobOnCluster job;
    job.step_time = Seconds{2};
    Progress progress{job};
    progress.run(7.0, 1.0);
    EXPECT_EQ(progress.work_done(), 7.0);
    EXPECT_FALSE(progress.finished());
    EXPECT_EQ(progress.lose_since_checkpoint(), 7.0);
}

TEST(Progress, NothingToDoIsDone) {
    JobOnCluster job = small_job();
    job.num_steps = 0;
    Progress progress{job};
    EXPECT_TRUE(progress.finished());
    EXPECT_EQ(progress.time_to_finish(1.0), 0.0);
    EXPECT_EQ(progress.work_done(), 0.0);
}

TEST(Progress, FreeCheckpointsTakeNoTime) {
    JobOnCluster job = small_job();
    job.checkpoint_write = Seconds{0};
    Progress progress{job};
    progress.run(9.0, 1.0);
    EXPECT_EQ(progress.checkpoints(), 1U);
    EXPECT_EQ(progress.lose_since_checkpoint(), 1.0);
}

}  // namespace
}  // namespace windtunnel::avail
