#include "windtunnel/avail/failure_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "distributions.hpp"
#include "windtunnel/avail/law.hpp"
#include "windtunnel/base/moments.hpp"

namespace windtunnel::avail {
namespace {

using model::Law;
using model::LawKind;

JobOnCluster job_with(std::uint64_t count, Law up) {
    JobOnCluster job;
    job.classes = {{"part", count, up, Law{LawKind::deterministic, 1.0, Seconds{0}}, model::Effect::stops, 1.0, true}};
    job.horizon = Seconds{1};
    return job;
}

TEST(FailureClock, FirstFailureOfManyIsTheMinimumOfTheirLives) {
    // The smallest of 1,000 Weibull(0.75, 100) lives is Weibull(0.75, 100 x 1000^(-1/0.75)) = 100 x 1e-4.
    std::vector<double> first;
    for (std::uint64_t trial = 0; trial < 4'000; ++trial)
        first.push_back(FailureClock{job_with(1'000, Law{LawKind::weibull, 0.75, Seconds{100}}), 3, trial}.next());
    EXPECT_LT(test::kolmogorov_smirnov(first, [](double t) { return -std::expm1(-std::pow(t / 0.01, 0.75)); }),
              test::kolmogorov_smirnov_limit);
}

TEST(FailureClock, AllFreshLivesTogetherAreASampleOfTheLaw) {
    // Without renewals every member fails once; in any order the times are n draws of the law.
    for (const Law& law : {Law{LawKind::weibull, 0.75, Seconds{100}}, Law{LawKind::weibull, 3.0, Seconds{100}},
                           Law{LawKind::lognormal, 1.0, Seconds{100}}, Law{LawKind::gamma, 2.0, Seconds{100}}}) {
        const JobOnCluster job = job_with(3'000, law);
        FailureClock clock{job, 4, 0};
        std::vector<double> lives;
        while (std::isfinite(clock.next())) {
            lives.push_back(clock.next());
            ASSERT_TRUE(clock.take());
        }
        ASSERT_EQ(lives.size(), 3'000U);
        EXPECT_TRUE(std::is_sorted(lives.begin(), lives.end()));
        std::vector<double> sorted_cdf;
        const auto cdf = [&law](double t) {
            if (law.kind == LawKind::weibull) return -std::expm1(-std::pow(t / 100.0, law.shape));
            if (law.kind == LawKind::gamma) return test::gamma_cdf(law.shape, t / 100.0);
            return test::normal_cdf(std::log(t / 100.0) / law.shape);
        };
        EXPECT_LT(test::kolmogorov_smirnov(lives, cdf), test::kolmogorov_smirnov_limit) << static_cast<int>(law.kind);
    }
}

/// Renewals of n members until `horizon` by the plain method: one life after the other for each member.
double naive_failures(std::uint64_t count, const Law& law, double horizon, std::uint64_t trial) {
    base::Draws draws{base::RandomStream{99, 77, trial}};
    double failures = 0.0;
    for (std::uint64_t member = 0; member < count; ++member)
        for (double at = sample(law, draws).value(); at < horizon; at += sample(law, draws).value()) failures += 1.0;
    return failures;
}

TEST(FailureClock, RenewalsAgreeWithTheSlowTwinMemberByMember) {
    for (const Law& law : {Law{LawKind::weibull, 0.6, Seconds{100}}, Law{LawKind::weibull, 2.5, Seconds{100}},
                           Law{LawKind::gamma, 3.0, Seconds{30}}, Law{LawKind::lognormal, 0.7, Seconds{100}},
                           Law{LawKind::exponential, 1.0, Seconds{100}}}) {
        const JobOnCluster job = job_with(40, law);
        base::Moments fast, slow;
        for (std::uint64_t trial = 0; trial < 2'000; ++trial) {
            FailureClock clock{job, 5, trial};
            double failures = 0.0;
            while (clock.next() < 150.0) {
                const double now = clock.next();
                if (const auto failed = clock.take()) {
                    failures += 1.0;
                    clock.renew(*failed, now);
                }
            }
            fast.add(failures);
            slow.add(naive_failures(40, law, 150.0, trial));
        }
        const double error = std::hypot(fast.standard_error(), slow.standard_error());
        EXPECT_NEAR(fast.mean, slow.mean, 4.0 * error) << static_cast<int>(law.kind) << ' ' << law.shape;
    }
}

TEST(FailureClock, OtherClassesDoNotTouchTheAgesOfAMember) {
    // A class keeps its failure times to the bit when another class fails and is renewed in between.
    JobOnCluster alone = job_with(5, Law{LawKind::weibull, 2.0, Seconds{100}});
    JobOnCluster with_other = alone;
    with_other.classes.push_back(
        {"busy", 100, Law{LawKind::exponential, 1.0, Seconds{50}}, {}, model::Effect::stops, 1.0, true});
    FailureClock one{alone, 6, 0}, two{with_other, 6, 0};
    std::vector<double> expected, seen;
    while (std::isfinite(one.next())) {
        expected.push_back(one.next());
        ASSERT_TRUE(one.take());
    }
    while (seen.size() < 5) {
        const double now = two.next();
        const auto failed = two.take();
        if (failed == std::size_t{0}) seen.push_back(now);
        if (failed == std::size_t{1}) two.renew(1, now);
    }
    EXPECT_EQ(seen, expected);
}

TEST(FailureClock, MembersOutOfServiceDoNotFail) {
    // 3 exponential members that are never renewed fail three times; what comes later is thinned away.
    const JobOnCluster job = job_with(3, Law{LawKind::exponential, 1.0, Seconds{1}});
    FailureClock clock{job, 7, 0};
    int failures = 0;
    for (int i = 0; i < 1'000; ++i) failures += clock.take().has_value() ? 1 : 0;
    EXPECT_EQ(failures, 3);
}

TEST(FailureClock, DeterministicLivesEndTogether) {
    const JobOnCluster job = job_with(3, Law{LawKind::deterministic, 1.0, Seconds{10}});
    FailureClock clock{job, 8, 0};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(clock.next(), 10.0);
        ASSERT_TRUE(clock.take());
    }
    EXPECT_TRUE(std::isinf(clock.next()));
    clock.renew(0, 12.0);
    EXPECT_EQ(clock.next(), 22.0);
}

TEST(FailureClock, NoClassesNeverFail) {
    JobOnCluster job;
    job.horizon = Seconds{1};
    EXPECT_TRUE(std::isinf(FailureClock(job, 1, 1).next()));
}

}  // namespace
}  // namespace windtunnel::avail
