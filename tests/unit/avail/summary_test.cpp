#include "windtunnel/avail/summary.hpp"

#include <gtest/gtest.h>

namespace windtunnel::avail {
namespace {

JobOnCluster job() {
    JobOnCluster job;
    job.spare_nodes = 1;
    job.horizon = Seconds{50'000};
    job.checkpoint_steps = 100;
    job.checkpoint_write = Seconds{10};
    job.classes = {{"node",
                    10,
                    {model::LawKind::weibull, 0.8, Seconds{40'000}},
                    {model::LawKind::exponential, 1.0, Seconds{2'000}},
                    model::Effect::stops,
                    1.0,
                    true},
                   {"soft",
                    1,
                    {model::LawKind::exponential, 1.0, Seconds{9'000}},
                    {model::LawKind::deterministic, 1.0, Seconds{0}},
                    model::Effect::stops,
                    1.0,
                    false}};
    return job;
}

std::string packed(const Summary& summary) {
    base::Packer packer;
    summary.pack(packer);
    return std::move(packer).take();
}

TEST(Summary, TheSameSlicesGiveTheSameBits) {
    const auto in_slices = [] {
        Summary total;
        for (std::uint64_t slice = 0; slice < 10; ++slice)
            total.merge(evaluate(job(), 5, {slice * 20, slice * 20 + 20}));
        return packed(total);
    };
    EXPECT_EQ(in_slices(), in_slices());
}

TEST(Summary, GroupingOfTrialsChangesNoTrial) {
    // Counts, ranges and sketches are equal to the bit however trials are grouped; means to rounding.
    const Summary once = evaluate(job(), 5, {0, 200});
    for (const std::uint64_t group : {1U, 7U, 50U}) {
        Summary merged;
        for (std::uint64_t at = 0; at < 200; at += group)
            merged.merge(evaluate(job(), 5, {at, std::min<std::uint64_t>(at + group, 200)}));
        EXPECT_EQ(merged.num_trials(), 200U);
        EXPECT_EQ(merged.goodput.sketch, once.goodput.sketch);
        EXPECT_EQ(merged.wall_s.sketch, once.wall_s.sketch);
        EXPECT_EQ(merged.recoveries, once.recoveries);
        EXPECT_EQ(merged.goodput.moments.minimum, once.goodput.moments.minimum);
        EXPECT_NEAR(merged.goodput.moments.mean, once.goodput.moments.mean, 1e-14);
        EXPECT_NEAR(merged.failures[0].mean, once.failures[0].mean, 1e-12);
    }
}

TEST(Summary, CausesSumToTheTimeLost) {
    const Summary summary = evaluate(job(), 5, {0, 100});
    const double by_cause = summary.time_lost_s[0].mean + summary.time_lost_s[1].mean;
    EXPECT_NEAR(by_cause,
                summary.lost_s.mean + summary.recovery_s.mean + summary.waiting_s.mean + summary.slowed_s.mean, 1e-6);
    EXPECT_NEAR(summary.failures[0].mean + summary.failures[1].mean, summary.stops.moments.mean, 1e-9);
}

TEST(Summary, AnotherSeedIsAnotherSample) {
    EXPECT_NE(packed(evaluate(job(), 5, {0, 10})), packed(evaluate(job(), 6, {0, 10})));
    EXPECT_EQ(packed(evaluate(job(), 5, {0, 10})), packed(evaluate(job(), 5, {0, 10})));
}

TEST(Summary, TravelsAsBytesAndRefusesDamage) {
    const Summary summary = evaluate(job(), 5, {0, 20});
    const std::string bytes = packed(summary);
    base::Unpacker unpacker{bytes};
    EXPECT_EQ(Summary::unpack(unpacker), summary);
    EXPECT_TRUE(unpacker.empty());
    for (std::size_t size = 0; size < bytes.size(); size += 13) {
        base::Unpacker cut{std::string_view{bytes}.substr(0, size)};
        EXPECT_THROW((void)Summary::unpack(cut), base::PackError) << size;
    }
}

TEST(Summary, EmptyIsTheNeutralElement) {
    const Summary some = evaluate(job(), 5, {0, 3});
    Summary left, right = some;
    left.merge(some);
    right.merge(Summary{});
    EXPECT_EQ(left, some);
    EXPECT_EQ(right, some);
}

TEST(HalfWidth, IsTwoStandardErrorsAlmost) {
    base::Moments moments;
    for (const double value : {1.0, 3.0}) moments.add(value);  // standard error 1
    EXPECT_NEAR(half_width_95(moments), 1.96, 1e-4);
}

}  // namespace
}  // namespace windtunnel::avail
