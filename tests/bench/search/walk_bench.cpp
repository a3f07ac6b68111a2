/// Rate of a walk over a design space: `items_per_second` counts designs whose memory was computed one by one.
#include <benchmark/benchmark.h>

#include "search_examples.hpp"
#include "windtunnel/search/sweep.hpp"

namespace {

using namespace windtunnel;

/// Walks blocks of the space in turn, beginning anew at its end.
void walk_blocks(benchmark::State& state, const model::Plan& plan, std::uint64_t block) {
    const search::Sweep sweep{plan};
    const std::uint64_t size = sweep.space().size();
    std::uint64_t at = 0, reached = 0, fitting = 0, walked = 0;
    for (auto _ : state) {
        const std::uint64_t end = std::min(at + block, size);
        const search::SweepResult result = sweep.walk(at, end);
        reached += result.reached_memory;
        fitting += result.fitting();
        walked += end - at;
        at = end == size ? 0 : end;
        benchmark::DoNotOptimize(result.designs.data());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(reached));
    state.counters["space"] = static_cast<double>(size);
    state.counters["reached_memory"] = static_cast<double>(reached);
    state.counters["fits"] = static_cast<double>(fitting);
    state.counters["designs/s"] = benchmark::Counter{static_cast<double>(walked), benchmark::Counter::kIsRate};
}

/// The whole space of tests/reproduce/large_space_test.cpp, from its first design to its last: one iteration.
void walk_pangu_10k(benchmark::State& state) {
    walk_blocks(state, test::pangu_10k(), ~std::uint64_t{0} >> 1U);
}
BENCHMARK(walk_pangu_10k)->Unit(benchmark::kMillisecond)->Iterations(1);

/// Only designs that fit: memory and closed form of each.
void walk_llama_405b(benchmark::State& state) {
    model::Plan plan = test::plan_of(test::llama3_405b(), test::h100(), 16'384, 8192, 2048);
    model::LayoutSpace& space = plan.training->layout;
    space.tensor_parallel = test::listed<int>({8});
    space.pipeline_parallel = test::listed<int>({8, 16});
    space.virtual_pipeline = test::listed<int>({1, 2, 4, 8});
    space.context_parallel = test::listed<int>({1, 2, 4, 8});
    space.micro_batch_size = test::listed<int>({1, 2});
    space.recompute =
        test::listed<model::Recompute>({model::Recompute::none, model::Recompute::selective, model::Recompute::full});
    space.schedule = test::listed<model::PipelineSchedule>(
        {model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved});
    space.global_batch_size = test::batches(2048, 4096, 128);
    space.split.kind = model::SplitKind::slots;
    walk_blocks(state, plan, 65'536);
}
BENCHMARK(walk_llama_405b)->Unit(benchmark::kMillisecond);

}  // namespace
