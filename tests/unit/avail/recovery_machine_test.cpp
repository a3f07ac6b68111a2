#include "windtunnel/avail/recovery_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "windtunnel/avail/checkpoint.hpp"

namespace windtunnel::avail {
namespace {

model::Law fixed(double seconds) {
    return {model::LawKind::deterministic, 1.0, Seconds{seconds}};
}

/// down -> ok with 0.8, else restart -> ok.
model::RecoveryMachine two_rungs() {
    model::RecoveryMachine machine;
    machine.states = {{"retry", fixed(5.0), {}, {}}, {"restart", fixed(100.0), {}, {}}, {"done", fixed(0.0), {}, {}}};
    machine.transitions = {{0, "ok", 2, 0.8, {}}, {0, "error", 1, 0.2, {}}, {1, "ok", 2, 1.0, {}}};
    machine.final = 2;
    return machine;
}

TEST(RecoveryMachine, ExpectedTimeOfTwoRungsByHand) {
    const MachineVisits visits = machine_visits(two_rungs(), 0);  // 5 + 0.2 x 100
    EXPECT_NEAR(visits.total.value(), 25.0, 1e-12);
    EXPECT_NEAR(visits.visits[1], 0.2, 1e-14);
    EXPECT_NEAR(ladder_time({0.8, 1.0}, {Seconds{5.0}, Seconds{100.0}}).value(), 25.0, 1e-12);
}

TEST(RecoveryMachine, ALimitTurnsLongActionsIntoErrors) {
    // Exponential of mean 10 within 10: 1 - 1/e; E min = 10 (1 - 1/e).
    model::RecoveryMachine machine = two_rungs();
    machine.states[0].time = {model::LawKind::exponential, 1.0, Seconds{10.0}};
    machine.states[0].limit = Seconds{10.0};
    const double within = 1.0 - std::exp(-1.0);
    const MachineVisits visits = machine_visits(machine, 0);
    EXPECT_NEAR(visits.visits[1], 1.0 - 0.8 * within, 1e-12);
    EXPECT_NEAR(visits.time[0].value(), 10.0 * within, 1e-10);
}

TEST(RecoveryMachine, LoopsAreVisitsAndAgreeWithPaths) {
    model::RecoveryMachine machine = two_rungs();
    machine.transitions = {{0, "ok", 2, 0.5, {}},
                           {0, "again", 0, 0.25, {}},
                           {0, "error", 1, 0.25, {}},
                           {1, "ok", 0, 0.5, {}},
                           {1, "error", 2, 0.5, {}}};
    // v0 = 1 + v0/4 + v1/2, v1 = v0/4: v0 = 8/5, v1 = 2/5.
    const MachineVisits visits = machine_visits(machine, 0);
    EXPECT_NEAR(visits.visits[0], 1.6, 1e-12);
    EXPECT_NEAR(visits.visits[1], 0.4, 1e-12);
    EXPECT_NEAR(visits.events[1], 0.4, 1e-12);
    double entries = 0.0;
    constexpr int paths = 20'000;
    for (std::uint64_t path = 0; path < paths; ++path) {
        base::Draws draws{base::RandomStream{1, 2, path}};
        entries += static_cast<double>(walk_machine(machine, 0, draws)[0]);
    }
    EXPECT_NEAR(entries / paths, 1.6, 4.0 * 1.0 / std::sqrt(paths));
}

TEST(RecoveryMachine, ARunThatNeverEndsSaysSo) {
    model::RecoveryMachine machine = two_rungs();
    machine.transitions = {{0, "ok", 2, 0.8, {}}, {0, "error", 1, 0.2, {}}, {1, "ok", 1, 1.0, {}}};
    EXPECT_FALSE(machine_visits(machine, 0).ends);
    EXPECT_FALSE(reachable(machine, 1)[2]);
}

TEST(Recovery, KnownTimesOfTheMechanisms) {
    // Process-level rescheduling: detect 5, stop 5, start 60, rebuild 20, 2.09e9 parameters x 16 B / 25 GB/s,
    // replay 20.
    const double state = 2.09e9 * 16.0 / 25e9;
    EXPECT_NEAR(5.0 + 5.0 + 60.0 + 20.0 + state + 20.0, 111.3, 0.05);
    // Online recovery: 15 s and half a step of 10 s on average.
    const model::Law rerun{model::LawKind::deterministic, 1.0, Seconds{5.0}};
    EXPECT_LE(15.0 + truncated(rerun, {}).mean.value(), 30.0);
    // Young at 30 s and 24 h: 2277 s, overhead 2.635 %.
    const Seconds interval = young_interval(Seconds{30.0}, Seconds{86400.0});
    EXPECT_NEAR(interval.value(), 2276.8, 0.1);
    EXPECT_NEAR(first_order_overhead(interval, Seconds{30.0}, Seconds{86400.0}), 0.02635, 5e-6);
}

}  // namespace
}  // namespace windtunnel::avail
