#include "windtunnel/avail/job.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel::avail {
namespace {

using model::Law;
using model::LawKind;

JobSize size_of_job() {
    JobSize size;
    size.num_nodes = 1024;
    size.num_cards = 8192;
    size.spare_nodes = 10;
    size.step_time = Seconds{10};
    size.checkpoint_state = Bytes{14.0 * 135e9};
    size.num_steps = 1000;
    return size;
}

model::ComponentClass component(const char* name, model::CountPer per, double multiple) {
    model::ComponentClass one;
    one.name = name;
    one.count_per = per;
    one.count_multiple = multiple;
    one.up = Law{LawKind::exponential, 1.0, 1e6 * base::hour};
    return one;
}

TEST(JobsOnCluster, CountsMembersByCardNodeSwitchAndJob) {
    model::Failures failures;
    failures.components = {component("card", model::CountPer::card, 1.0), component("psu", model::CountPer::node, 6.0),
                           component("leaf", model::CountPer::switch_, 1.0 / 16.0),
                           component("controller", model::CountPer::job, 2.0),
                           component("rack", model::CountPer::node, 1e-9)};
    const auto jobs = jobs_on_cluster(failures, {}, size_of_job());
    ASSERT_EQ(jobs.size(), 1U);
    const std::uint64_t expected[] = {8192, 6144, 64, 2, 1};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(jobs[0].classes[i].count, expected[i]) << i;
    // (8192 + 6144 + 64 + 2 + 1) / 1e6 h
    EXPECT_NEAR(stop_rate(jobs[0]).value() * 3600.0, 14403e-6, 1e-15);
}

TEST(JobsOnCluster, AVariantScalesWithTheNodesOfTheJob) {
    model::Failures failures;
    failures.variants = {{"bound", Law{LawKind::exponential, 1.0, base::day}, false, 1024, {}, true, ""},
                         {"scaled", Law{LawKind::exponential, 1.0, 6.2 * base::hour}, true, 1024, {}, true, ""}};
    JobSize size = size_of_job();
    size.num_nodes = 512;
    const auto jobs = jobs_on_cluster(failures, {}, size);
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].classes[0].name, "bound");
    EXPECT_EQ(jobs[0].classes[0].up.scale.value(), 86400.0);
    EXPECT_DOUBLE_EQ(jobs[1].classes[0].up.scale / base::hour, 12.4);  // half the nodes, twice the time
}

TEST(JobsOnCluster, WriteTimeIsStateOverTheBandwidthOfAllNodes) {
    // 14 x 135e9 B / (1,024 x 2.7e9 B/s) = 0.68359 s
    EXPECT_NEAR(jobs_on_cluster({}, {}, size_of_job())[0].checkpoint_write.value(), 0.683594, 1e-6);
    model::Recovery recovery;
    recovery.checkpoint_write = Seconds{42};
    EXPECT_EQ(jobs_on_cluster({}, recovery, size_of_job())[0].checkpoint_write.value(), 42.0);
}

TEST(JobsOnCluster, WithoutFailuresTheOptimumIsNoCheckpoint) {
    EXPECT_FALSE(jobs_on_cluster({}, {}, size_of_job())[0].checkpoint_steps);
    model::Recovery recovery;
    recovery.checkpoint_interval = Seconds{1006};
    EXPECT_EQ(*jobs_on_cluster({}, recovery, size_of_job())[0].checkpoint_steps, 101);  // nearest whole step
    recovery.checkpoint_interval = Seconds{1};
    EXPECT_EQ(*jobs_on_cluster({}, recovery, size_of_job())[0].checkpoint_steps, 1);
}

TEST(JobsOnCluster, TheOptimumIsDalysInWholeSteps) {
    model::Failures failures;
    failures.variants = {{"day", Law{LawKind::exponential, 1.0, base::day}, false, 1, {}, true, ""}};
    model::Recovery recovery;
    recovery.checkpoint_write = Seconds{30};
    // sqrt(2 x 30 x 86,400) = 2276.84; ratio 30/172,800 = 1.736e-4; x (1 + 0.0131762/3 + 1.93e-5) - 30 = 2256.9 s
    EXPECT_EQ(*jobs_on_cluster(failures, recovery, size_of_job())[0].checkpoint_steps, 226);
}

TEST(JobsOnCluster, SparesComeFromThePlanOrFromWhatIsLeftOver) {
    EXPECT_EQ(jobs_on_cluster({}, {}, size_of_job())[0].spare_nodes, 10);
    model::Recovery recovery;
    recovery.spare_nodes = 0;
    EXPECT_EQ(jobs_on_cluster({}, recovery, size_of_job())[0].spare_nodes, 0);
}

TEST(RollbackRate, CountsWhatPassesTheCheapRungs) {
    model::Failures failures;
    failures.components = {component("hbm", model::CountPer::card, 1.0), component("psu", model::CountPer::node, 1.0)};
    model::Recovery recovery;
    recovery.ladder = {{"retry", 0.8, {}, model::RecoveryRung::Lost::nothing, {"hbm"}, false},
                       {"move", 0.5, {}, model::RecoveryRung::Lost::one_step, {}, true}};
    const auto job = jobs_on_cluster(failures, recovery, size_of_job())[0];
    // hbm: 8192 x (1 - 0.8)(1 - 0.5) = 819.2; psu: 1024 x 0.5 = 512; per 1e6 h
    EXPECT_NEAR(rollback_rate(job).value() * 3600e6, 1331.2, 1e-9);
    EXPECT_TRUE(job.ladder[0].covers[0]);
    EXPECT_FALSE(job.ladder[0].covers[1]);
    EXPECT_TRUE(job.ladder[1].covers[1]);
}

TEST(CheckpointState, IsFourteenBytesAParameter) {
    model::Transformer dense;
    dense.num_layers = dense.num_dense_layers = 2;
    dense.hidden = 8;
    dense.ffn = 16;
    dense.vocabulary = 100;
    dense.attention.num_heads = dense.attention.num_kv_heads = 2;
    dense.attention.head_dim = 4;
    const auto count = model::parameter_count(dense);
    EXPECT_EQ(checkpoint_state(dense).value(), 14.0 * static_cast<double>(count.total() + count.norms_and_biases));
    EXPECT_GT(checkpoint_state(dense).value(), 14.0 * 1600.0);  // at least the two embeddings of 100 x 8
}

}  // namespace
}  // namespace windtunnel::avail
