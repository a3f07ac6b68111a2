/// Long run of the workstation cluster (Haverkort, Hermanns, Katoen, SRDS 2000): state space and solution, beside a
/// plain loop of the same precision.
#include <benchmark/benchmark.h>

#include <cmath>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"
#include "workstation_cluster.hpp"

namespace windtunnel::avail {
namespace {

void states(benchmark::State& run) {
    const model::Chain chain = cluster(static_cast<int>(run.range(0)));
    std::size_t number = 0;
    for (auto _ : run) number = explore(chain).states.size();
    run.counters["states"] = static_cast<double>(number);
}

void sweeps(benchmark::State& run) {
    const StateSpace space = explore(cluster(static_cast<int>(run.range(0))));
    Stationary result;
    for (auto _ : run) benchmark::DoNotOptimize((result = stationary_by_sweeps(space.chain)).share.data());
    run.counters["sweeps"] = result.sweeps;
    run.counters["error"] = result.error;
}

/// Gauss-Seidel in the order of discovery from equal shares, to a change below 1e-10.
void plain_loop(benchmark::State& run) {
    const StateSpace space = explore(cluster(static_cast<int>(run.range(0))));
    const std::size_t n = space.chain.num_states();
    int count = 0;
    for (auto _ : run) {
        Incoming flow = incoming(space.chain);
        for (std::size_t state = 0; state < n; ++state)
            for (std::uint64_t at = flow.first[state]; at < flow.first[state + 1]; ++at)
                flow.rate[at] /= space.chain.exit_rate(state);
        std::vector<double> share(n, 1.0 / static_cast<double>(n));
        double change = 1.0;
        for (count = 0; change > 1e-10; ++count) {
            change = 0.0;
            double sum = 0.0;
            for (std::size_t state = 0; state < n; ++state) {
                double inflow = 0.0;
                for (std::uint64_t at = flow.first[state]; at < flow.first[state + 1]; ++at)
                    inflow += share[flow.source[at]] * flow.rate[at];
                change += std::abs(inflow - share[state]);
                share[state] = inflow;
                sum += inflow;
            }
            for (double& one : share) one /= sum;
        }
        benchmark::DoNotOptimize(share.data());
    }
    run.counters["sweeps"] = count;
}

BENCHMARK(states)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(sweeps)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(plain_loop)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace windtunnel::avail
