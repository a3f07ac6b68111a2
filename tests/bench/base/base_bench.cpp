#include <benchmark/benchmark.h>

#include "windtunnel/base/moments.hpp"
#include "windtunnel/base/quantile_sketch.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::base {
namespace {

void uniform_draws(benchmark::State& state) {
    Draws draws{RandomStream{1, 2, 3}};
    for (auto _ : state) benchmark::DoNotOptimize(draws.uniform());
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(uniform_draws);

void first_draw_of_a_stream(benchmark::State& state) {
    std::uint64_t trial = 0;
    for (auto _ : state) benchmark::DoNotOptimize(Draws{RandomStream{1, 2, trial++}}.uniform());
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(first_draw_of_a_stream);

void exponential_variates(benchmark::State& state) {
    Draws draws{RandomStream{1, 2, 3}};
    for (auto _ : state) benchmark::DoNotOptimize(exponential(draws, 5.0));
}
BENCHMARK(exponential_variates);

void weibull_variates(benchmark::State& state) {
    Draws draws{RandomStream{1, 2, 3}};
    for (auto _ : state) benchmark::DoNotOptimize(weibull(draws, 0.75, 5.0));
}
BENCHMARK(weibull_variates);

void gamma_variates(benchmark::State& state) {
    Draws draws{RandomStream{1, 2, 3}};
    for (auto _ : state) benchmark::DoNotOptimize(gamma(draws, 2.5, 5.0));
}
BENCHMARK(gamma_variates);

void moments_add(benchmark::State& state) {
    Moments moments;
    double value = 0.0;
    for (auto _ : state) moments.add(value += 1.0);
    benchmark::DoNotOptimize(moments);
}
BENCHMARK(moments_add);

void sketch_add(benchmark::State& state) {
    Draws draws{RandomStream{1, 2, 3}};
    QuantileSketch sketch;
    for (auto _ : state) sketch.add(0.9 + 0.1 * draws.uniform());
    benchmark::DoNotOptimize(sketch);
}
BENCHMARK(sketch_add);

}  // namespace
}  // namespace windtunnel::base
