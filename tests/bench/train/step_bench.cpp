#include <benchmark/benchmark.h>

#include <algorithm>

#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

/// Pipelines of the 718B plan: 16 ranks of 2 chunks; and of the largest published one: 64 ranks.
Pipeline pipeline_of_size(benchmark::State& state) {
    const auto vpp = static_cast<int>(state.range(1));
    return {vpp > 1 ? model::PipelineSchedule::interleaved : model::PipelineSchedule::one_f_one_b,
            static_cast<int>(state.range(0)), vpp, state.range(2)};
}

struct Durations {
    std::vector<ChunkTimes> chunks;
    std::vector<Seconds> links;
    explicit Durations(const Pipeline& pipeline)
        : chunks(static_cast<std::size_t>(pipeline.num_ranks) * static_cast<std::size_t>(pipeline.num_chunks),
                 {Seconds{1e-3}, Seconds{2e-3}}),
          links(static_cast<std::size_t>(pipeline.num_ranks), Seconds{1e-4}) {
        chunks.back().forward += Seconds{5e-4};
    }
    [[nodiscard]] PipelineTimes times() const { return {chunks, links}; }
};

void pipeline_executor(benchmark::State& state) {
    const Pipeline pipeline = pipeline_of_size(state);
    const Durations durations{pipeline};
    PipelineRunner runner;
    for (auto _ : state) benchmark::DoNotOptimize(runner.run(pipeline, durations.times()).makespan);
    state.SetItemsProcessed(state.iterations() * pipeline.num_ranks * pipeline.tasks_per_rank());
}
BENCHMARK(pipeline_executor)->Args({16, 2, 240})->Args({8, 1, 64})->Args({64, 1, 3072});

void pipeline_task_graph(benchmark::State& state) {
    const Pipeline pipeline = pipeline_of_size(state);
    const Durations durations{pipeline};
    TaskGraph graph{static_cast<std::uint32_t>(pipeline.num_ranks)};
    Executor executor;
    for (auto _ : state) {
        pipeline_graph(pipeline, durations.times(), graph);
        benchmark::DoNotOptimize(executor.run(graph).makespan);
    }
    state.SetItemsProcessed(state.iterations() * graph.num_tasks());
}
BENCHMARK(pipeline_task_graph)->Args({16, 2, 240});

void pipeline_closed_form(benchmark::State& state) {
    const Pipeline pipeline = pipeline_of_size(state);
    const Durations durations{pipeline};
    for (auto _ : state) benchmark::DoNotOptimize(closed_form_pipeline_time(pipeline, durations.times()));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pipeline_closed_form)->Args({16, 2, 240})->Args({8, 1, 64})->Args({64, 1, 3072});

/// Closed form of a whole step from its unit costs, as the inner loop of a search calls it.
void closed_form_step(benchmark::State& state) {
    Job job;
    job.transformer.num_layers = 96;
    job.transformer.num_dense_layers = 96;
    job.transformer.hidden = 12288;
    job.transformer.ffn = 4 * 12288;
    job.transformer.attention = {model::AttentionKind::mha, 96, 96, 128};
    job.transformer.vocabulary = 51200;
    job.sequence_length = 2048;
    model::Accelerator& card = job.cluster.accelerator;
    card.matrix_peak.fill(FlopsPerSecond{312e12});
    card.memory = Bytes{80.0 * base::gib};
    card.memory_bandwidth = BytesPerSecond{2e12};
    card.scale_up = {BytesPerSecond{300e9}, Seconds{10e-6}, ""};
    card.scale_up_domain = 8;
    card.scale_out = {BytesPerSecond{25e9}, Seconds{20e-6}, ""};
    card.cards_per_node = 8;
    job.cluster.num_nodes = 128;
    model::Layout layout;
    layout.cards = 1024;
    layout.tensor_parallel = 8;
    layout.pipeline_parallel = 16;
    layout.virtual_pipeline = static_cast<int>(state.range(0));
    layout.schedule = state.range(0) > 1 ? model::PipelineSchedule::interleaved : model::PipelineSchedule::one_f_one_b;
    layout.global_batch_size = 1536;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    StepWorkspace workspace;
    for (auto _ : state) benchmark::DoNotOptimize(closed_form_step_time(job, layout, costs, workspace));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(closed_form_step)->Arg(1)->Arg(2);

}  // namespace
}  // namespace windtunnel::train
