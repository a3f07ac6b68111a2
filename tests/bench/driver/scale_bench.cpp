/// What the driver costs, and what that means for many ranks: measured parts, then dry runs in virtual time.
#include <benchmark/benchmark.h>

#include "windtunnel/driver/dry_run.hpp"
#include "windtunnel/driver/hand_out.hpp"

namespace windtunnel::driver {
namespace {

/// One served and one finished bundle of a run of `ranks`, without messages.
void hand_out_step(benchmark::State& state) {
    HandOut hand_out{static_cast<int>(state.range(0))};
    constexpr std::uint64_t plenty = 1'000'000'000;
    while (const auto gift = hand_out.next(plenty)) hand_out.given(gift->rank, 1);
    int rank = 0;
    for (auto _ : state) {
        hand_out.done(rank, 1, Seconds{0.1});
        const auto gift = hand_out.next(plenty);
        benchmark::DoNotOptimize(gift);
        hand_out.given(gift ? gift->rank : rank, 1);
        rank = (rank + 1) % static_cast<int>(state.range(0));
    }
}
BENCHMARK(hand_out_step)->Arg(64)->Arg(1024)->Arg(10000);

/// Efficiency and rank 0's share of `ranks`, blocks of `range(1)` us, 50 blocks a worker, with costs that stand in
/// docs/performance.md.
void dry_run_of_ranks(benchmark::State& state) {
    const int ranks = static_cast<int>(state.range(0));
    const Seconds block_time{static_cast<double>(state.range(1)) * 1e-6};
    const DryRunCosts costs{Seconds{5e-6}, Seconds{3e-6}, Seconds{5e-6}};
    constexpr std::uint64_t blocks_per_worker = 400;
    DryRun run;
    for (auto _ : state)
        run = dry_run({ranks, blocks_per_worker * static_cast<std::uint64_t>(ranks - 1), block_time, 0.2}, costs);
    state.counters["efficiency"] = run.efficiency;
    state.counters["rank0_busy"] = run.root_busy;
    state.counters["messages_per_s"] = static_cast<double>(run.messages) / run.wall.value();
}
BENCHMARK(dry_run_of_ranks)
    ->ArgsProduct({{64, 1024, 10000}, {1000, 20000, 100000, 10000000}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace windtunnel::driver
