#include "windtunnel/avail/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "windtunnel/avail/law.hpp"

namespace windtunnel::avail {
namespace {

TEST(YoungInterval, ByHand) {
    // sqrt(2 x 60 s x 3.093 h x 3600) = sqrt(1,336,176) = 1155.9 s; overhead sqrt(2 x 60 / 11,134.8) = 0.1038
    const Seconds mtbf = 3.093 * base::hour;
    const Seconds interval = young_interval(Seconds{60}, mtbf);
    EXPECT_NEAR(interval.value(), 1156.0, 0.5);
    EXPECT_NEAR(first_order_overhead(interval, Seconds{60}, mtbf), 0.104, 5e-4);
    // sqrt(2 x 30 x 86,400) = 2276.8 s; sqrt(60/86,400) = 2.635 %
    EXPECT_NEAR(young_interval(Seconds{30}, base::day).value(), 2277.0, 0.5);
    EXPECT_NEAR(first_order_overhead(young_interval(Seconds{30}, base::day), Seconds{30}, base::day), 0.02635, 5e-6);
}

TEST(DalyInterval, ByHand) {
    // write 100, mtbf 5000: ratio 0.01, sqrt(1e6) (1 + 0.1/3 + 0.01/9) - 100 = 934.4444
    EXPECT_NEAR(daly_interval(Seconds{100}, Seconds{5000}).value(), 934.444444, 1e-6);
    EXPECT_EQ(daly_interval(Seconds{100}, Seconds{50}).value(), 50.0);  // write >= 2 mtbf
    EXPECT_TRUE(std::isinf(daly_interval(Seconds{100}, Seconds{std::numeric_limits<double>::infinity()}).value()));
}

TEST(DalyInterval, MinimisesTheExactSegmentTime) {
    // Brute force over intervals: cost per second of work, restart 0.
    const Seconds write{60}, mtbf{11134.8};
    double best_interval = 0.0, best = std::numeric_limits<double>::infinity();
    for (double interval = 500.0; interval < 3000.0; interval += 1.0) {
        const double cost = expected_segment_time(Seconds{interval}, write, mtbf, Seconds{0}).value() / interval;
        if (cost < best) best = cost, best_interval = interval;
    }
    EXPECT_NEAR(daly_interval(write, mtbf).value(), best_interval, 2.0);
    EXPECT_GT(std::abs(young_interval(write, mtbf).value() - best_interval), 10.0);  // the test can tell them apart
}

TEST(ExpectedSegmentTime, WithoutFailuresIsWorkAndWrite) {
    EXPECT_EQ(
        expected_segment_time(Seconds{100}, Seconds{7}, Seconds{std::numeric_limits<double>::infinity()}, Seconds{5})
            .value(),
        107.0);
}

TEST(ExpectedSegmentTime, WithFailuresInRestartsIsDalysFormula) {
    // M e^{R/M} (e^{s/M} - 1) with M = 1000, R = 300, s = 500
    const Seconds mtbf{1000};
    const model::Law restart{model::LawKind::deterministic, 1.0, Seconds{300}};
    const double survival = *laplace_transform(restart, 1.0 / mtbf);
    const Seconds mean = restart_duration(Seconds{300}, survival, mtbf, RestartFailures::possible);
    EXPECT_NEAR(expected_segment_time(Seconds{450}, Seconds{50}, mtbf, mean).value(),
                1000.0 * std::exp(0.3) * std::expm1(0.5), 1e-9);
}

TEST(ExpectedSegmentTime, WithoutFailuresInRestartsIsShorter) {
    const Seconds mtbf{1000};
    EXPECT_EQ(restart_duration(Seconds{300}, std::exp(-0.3), mtbf, RestartFailures::excluded).value(), 300.0);
    EXPECT_NEAR(expected_segment_time(Seconds{450}, Seconds{50}, mtbf, Seconds{300}).value(), 1300.0 * std::expm1(0.5),
                1e-9);
}

}  // namespace
}  // namespace windtunnel::avail
