/// Events a second of sampled paths of the workstation cluster, beside a plain loop written for that model alone.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "windtunnel/avail/sample.hpp"
#include "workstation_cluster.hpp"

namespace windtunnel::avail {
namespace {

constexpr double horizon = 2000.0;  // h

double below_minimum(std::span<const double> s, int n) {
    const double least = std::floor(0.75 * n);
    return (s[0] >= least && s[2] > 0) || (s[1] >= least && s[3] > 0) ||
                   (s[0] + s[1] >= least && s[2] > 0 && s[3] > 0 && s[4] > 0)
               ? 0.0
               : 1.0;
}

/// The cluster with the measures of B02 that a path to a time answers.
model::Chain measured_cluster(int n) {
    model::Chain chain = cluster(n);
    model::ChainReward below, repairs;
    below.per_time = [n](std::span<const double> s) { return below_minimum(s, n); };
    repairs.per_time = [](std::span<const double> s) {
        const double rate[] = {0, 2, 2, 0.25, 0.25, 0.125};
        return rate[static_cast<int>(s[5])];
    };
    chain.rewards = {below, repairs};
    for (std::size_t reward = 0; reward < 2; ++reward) {
        model::ChainMeasure measure;
        measure.kind = model::MeasureKind::accumulated;
        measure.time = horizon;
        measure.reward = reward;
        chain.measures.push_back(measure);
    }
    model::ChainMeasure reached;
    reached.kind = model::MeasureKind::probability;
    reached.time = horizon;
    reached.target = below.per_time;
    chain.measures.push_back(reached);
    return chain;
}

void events(benchmark::State& run) {
    ChainSampler sampler{measured_cluster(static_cast<int>(run.range(0))), SampleMethod::plain};
    SampleSums sums = sampler.nothing();
    std::uint64_t trial = 0;
    sampler.run(1, {0, 20}, sums);  // the states are known then
    sums = sampler.nothing();
    for (auto _ : run) {
        sampler.run(1, {trial, trial + 1}, sums);
        ++trial;
    }
    run.SetItemsProcessed(static_cast<std::int64_t>(sums.events));
    run.counters["repairs"] = sums.measures[1].all().mean_x;
}

/// The same paths and measures, the model in the code: direct method with a 64-bit generator of the standard library.
void plain_loop(benchmark::State& run) {
    const auto n = static_cast<int>(run.range(0));
    const int least = static_cast<int>(std::floor(0.75 * n));
    std::mt19937_64 bits{1};
    const auto uniform = [&] { return (static_cast<double>(bits() >> 12U) + 0.5) * 0x1p-52; };
    const double fail[] = {0.002, 0.002, 0.00025, 0.00025, 0.0002}, repair[] = {2, 2, 0.25, 0.25, 0.125};
    const int full[] = {n, n, 1, 1, 1};
    std::int64_t count = 0;
    double repairs = 0.0, below_time = 0.0, reached = 0.0;
    for (auto _ : run) {
        int up[] = {n, n, 1, 1, 1}, busy = 0;
        double now = 0.0;
        bool hit = false;
        while (true) {
            double rate[10], sum = 0.0;
            for (int i = 0; i < 5; ++i) sum += rate[i] = up[i] * fail[i];
            for (int i = 0; i < 5; ++i)
                sum += rate[5 + i] = busy == 0 ? (up[i] < full[i] ? 10.0 : 0.0) : (busy == i + 1 ? repair[i] : 0.0);
            const double wait = -std::log(uniform()) / sum;
            const double until = std::min(now + wait, horizon);
            const bool good = (up[0] >= least && up[2]) || (up[1] >= least && up[3]) ||
                              (up[0] + up[1] >= least && up[2] && up[3] && up[4]);
            if (!good) below_time += until - now, hit = true;
            if (busy > 0) repairs += repair[busy - 1] * (until - now);
            now += wait;
            if (now >= horizon) break;
            double point = uniform() * sum;
            int chosen = 0;
            while (chosen < 9 && point >= rate[chosen]) point -= rate[chosen++];
            if (chosen < 5) {
                --up[chosen];
            } else if (busy == 0) {
                busy = chosen - 4;
            } else {
                ++up[busy - 1];
                busy = 0;
            }
            ++count;
        }
        reached += hit ? 1.0 : 0.0;
    }
    benchmark::DoNotOptimize(below_time + reached);
    run.SetItemsProcessed(count);
    run.counters["repairs"] = repairs / static_cast<double>(run.iterations());
}

BENCHMARK(events)->Arg(16)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(plain_loop)->Arg(16)->Arg(128)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace windtunnel::avail
