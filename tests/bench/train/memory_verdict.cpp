// What the inner loop of a search costs, per design.
#include <benchmark/benchmark.h>

#include <vector>

#include "train_examples.hpp"
#include "windtunnel/train/memory.hpp"

namespace windtunnel::train {
namespace {

/// The space of a 718B model on 10,000 cards: tp, pp, vpp, ep, micro-batch, dp.
std::vector<model::Layout> designs() {
    std::vector<model::Layout> designs;
    for (const int tp : {4, 8})
        for (const int pp : {8, 16, 32})
            for (const int vpp : {1, 2})
                for (const int dp : {32, 40, 48, 64}) {
                    model::Layout layout = test::layout(tp * pp * dp, tp, pp, 1, std::int64_t{dp} * pp * 8);
                    layout.virtual_pipeline = vpp;
                    layout.expert_parallel = 32;
                    layout.split.kind = model::SplitKind::slots;
                    if (vpp > 1) layout.schedule = model::PipelineSchedule::interleaved;
                    designs.push_back(layout);
                }
    return designs;
}

Job job() {
    return test::job(test::pangu_ultra_moe_718b(), test::ascend_910b(), 20000, 8192);
}

void broken_rule_of_a_design(benchmark::State& state) {
    const Job one = job();
    const auto space = designs();
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(broken_rule(one, space[i]));
        i = i + 1 < space.size() ? i + 1 : 0;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(broken_rule_of_a_design);

void fullest_stage_of_a_design(benchmark::State& state) {
    const Job one = job();
    const auto space = designs();
    std::vector<UnitCosts> costs;
    for (const model::Layout& layout : space) costs.push_back(unit_costs(one, unit_key(layout)));
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(fullest_stage(one, space[i], costs[i]));
        i = i + 1 < space.size() ? i + 1 : 0;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(fullest_stage_of_a_design);

void unit_costs_of_a_key(benchmark::State& state) {
    const Job one = job();
    const UnitKey key = unit_key(designs().front());
    for (auto _ : state) benchmark::DoNotOptimize(unit_costs(one, key));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(unit_costs_of_a_key);

}  // namespace
}  // namespace windtunnel::train
