#include "windtunnel/rehearse/campaign.hpp"

#include <gtest/gtest.h>

namespace windtunnel::rehearse {
namespace {

using model::Law;
using model::LawKind;

avail::JobOnCluster failing_job() {
    avail::JobOnCluster job;
    job.num_nodes = 10;
    job.spare_nodes = 3;
    job.step_time = Seconds{12.5};
    job.checkpoint_steps = 50;
    job.checkpoint_write = Seconds{20};
    job.classes = {{"node", 10, Law{LawKind::exponential, 1.0, Seconds{200'000}},
                    Law{LawKind::exponential, 1.0, Seconds{5'000}}, model::Effect::stops, 1.0, true}};
    return job;
}

TEST(NumSteps, RoundsUpToWholeSteps) {
    EXPECT_EQ(num_steps(1e6, 1e5), 10);
    EXPECT_EQ(num_steps(1e6 + 1, 1e5), 11);
    EXPECT_EQ(num_steps(1, 1e5), 1);
}

TEST(Campaign, WithoutFailuresIsStepsTimesStepTimeExactly) {
    model::Failures none;
    avail::JobSize size;
    size.step_time = Seconds{0.1};
    const Campaign steady = campaign(avail::jobs_on_cluster(none, {}, size)[0], 1e9, 4e6);
    const Outcome one = outcome(steady, 1, 0);
    EXPECT_EQ(one.history.wall.value(), 250.0 * 0.1);  // 1e9 / 4e6 = 250 steps, no checkpoints
    EXPECT_EQ(one.tokens, 1e9);
    EXPECT_TRUE(one.history.finished);
}

TEST(Campaign, WithoutFailuresANamedIntervalIsKept) {
    model::Recovery recovery;
    recovery.checkpoint_interval = Seconds{5};
    recovery.checkpoint_write = Seconds{2};
    avail::JobSize size;
    size.step_time = Seconds{0.1};
    // 250 steps, one checkpoint after every 50 but none at the end: 4 x 2 s
    const Campaign steady = campaign(avail::jobs_on_cluster({}, recovery, size)[0], 1e9, 4e6);
    EXPECT_DOUBLE_EQ(outcome(steady, 1, 0).history.wall.value(), 33.0);
}

TEST(Campaign, FailuresOnlyAddTime) {
    const Campaign one = campaign(failing_job(), 1e9, 1e6);
    const Summary summary = evaluate(one, 3, {0, 200});
    EXPECT_GE(summary.histories.wall_s.moments.minimum, 12'500.0 + 19.0 * 20.0 - 1e-6);
    const auto quantiles = summary.time_to_tokens_s();
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
        EXPECT_LE(quantiles[i].interval.low, quantiles[i].value);
        EXPECT_LE(quantiles[i].value, quantiles[i].interval.high);
        EXPECT_TRUE(quantiles[i].finished);
        if (i > 0) {
            EXPECT_LE(quantiles[i - 1].value, quantiles[i].value);
        }
    }
    EXPECT_LT(quantiles[0].value, quantiles[2].value);
}

TEST(Campaign, AtTheHorizonTokensAreThoseOfTheStepsDone) {
    avail::JobOnCluster job = failing_job();
    job.classes.clear();
    job.checkpoint_steps.reset();
    job.horizon = Seconds{125};  // 10 of 1,000 steps
    const Summary summary = evaluate(campaign(job, 1e9, 1e6), 3, {0, 10});
    EXPECT_DOUBLE_EQ(summary.tokens.moments.mean, 1e7);
    EXPECT_EQ(summary.histories.num_unfinished, 10U);
    EXPECT_FALSE(summary.time_to_tokens_s()[0].finished);
}

TEST(Campaign, AnErrorOfTheStepTimeWidensTheQuantiles) {
    avail::JobOnCluster job = failing_job();
    job.classes.clear();
    job.checkpoint_steps.reset();
    const Summary summary = evaluate(campaign(job, 1e9, 1e6, 0.10), 3, {0, 4'000});
    // 90 % of the factors lie between 1/1.1 and 1.1; the P50 is the step time itself. P90 of a lognormal with
    // sigma = ln 1.1/1.645 = 0.05794 is exp(1.2816 x 0.05794) = 1.0771.
    const auto quantiles = summary.time_to_tokens_s();
    EXPECT_LE(quantiles[1].interval.low, 12'500.0);
    EXPECT_GE(quantiles[1].interval.high, 12'500.0);
    EXPECT_NEAR(quantiles[2].value / 12'500.0, 1.0771, 0.006);
}

TEST(RehearseSummary, TravelsAsBytesAndMergesInOrder) {
    const Campaign one = campaign(failing_job(), 1e9, 1e6);
    Summary merged = evaluate(one, 3, {0, 10});
    merged.merge(evaluate(one, 3, {10, 20}));
    EXPECT_EQ(merged.num_trials(), 20U);
    EXPECT_EQ(merged.tokens.sketch, evaluate(one, 3, {0, 20}).tokens.sketch);
    base::Packer packer;
    merged.pack(packer);
    const std::string bytes = std::move(packer).take();
    base::Unpacker unpacker{bytes};
    EXPECT_EQ(Summary::unpack(unpacker), merged);
    base::Unpacker cut{std::string_view{bytes}.substr(0, bytes.size() / 2)};
    EXPECT_THROW((void)Summary::unpack(cut), base::PackError);
}

}  // namespace
}  // namespace windtunnel::rehearse
