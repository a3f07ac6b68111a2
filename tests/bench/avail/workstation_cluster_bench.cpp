/// Long run of the workstation cluster (Haverkort, Hermanns, Katoen, SRDS 2000): state space and solution, beside a
/// plain loop of the same precision.
#include <benchmark/benchmark.h>

#include <cmath>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"

namespace windtunnel::avail {
namespace {

using State = std::span<const double>;

/// Two groups of n workstations, a switch each, a backbone, one repair unit that inspects at rate 10 (per hour).
model::Chain cluster(int n) {
    struct Kind {
        double fail, repair;
        int number;
    };
    const Kind kinds[] = {{0.002, 2, n}, {0.002, 2, n}, {0.00025, 0.25, 1}, {0.00025, 0.25, 1}, {0.0002, 0.125, 1}};
    constexpr std::size_t busy = 5;
    model::Chain chain;
    for (const Kind& kind : kinds) chain.variables.push_back({"up", 0, kind.number, kind.number});
    chain.variables.push_back({"busy", 0, 5, 0});
    for (std::size_t i = 0; i < 5; ++i) {
        const Kind kind = kinds[i];
        const double own = static_cast<double>(i + 1);
        model::ChainTransition fail, inspect, mend;
        fail.rate = [=](State s) { return s[i] * kind.fail; };
        fail.updates = {{i, [=](State s) { return s[i] - 1; }, {}}};
        inspect.rate = [=](State s) { return s[busy] == 0 && s[i] < kind.number ? 10.0 : 0.0; };
        inspect.updates = {{busy, [=](State) { return own; }, {}}};
        mend.rate = [=](State s) { return s[busy] == own ? kind.repair : 0.0; };
        mend.updates = {{busy, [](State) { return 0.0; }, {}}, {i, [=](State s) { return s[i] + 1; }, {}}};
        chain.transitions.insert(chain.transitions.end(), {fail, inspect, mend});
    }
    return chain;
}

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
