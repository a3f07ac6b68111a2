/// How many requests a second the event loop serves: Azure conversation lengths, Poisson arrivals at 80 % of the rate
/// at which the deployment saturates, 10^6 requests. Beside each figure the same with every iteration by itself.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <string>

#include "windtunnel/serve/engine_cost.hpp"
#include "windtunnel/serve/system.hpp"

namespace windtunnel::serve {
namespace {

model::Trace azure() {
    model::Trace trace;
    std::ifstream file{std::string{WINDTUNNEL_SOURCE_DIR} + "/inputs/loads/azure-conv-2023.csv"};
    std::string line;
    std::getline(file, line);
    for (char comma = ','; std::getline(file, line);) {
        model::TraceRow row;
        std::istringstream{line} >> row.arrival_s >> comma >> row.input_tokens >> comma >> row.output_tokens;
        trace.rows.push_back(row);
    }
    return trace;
}

model::Accelerator h100() {
    model::Accelerator card;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{989e12};
    card.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{1979e12};
    card.memory = Bytes{85.5e9};
    card.memory_bandwidth = BytesPerSecond{3.35e12};
    card.scale_up = {BytesPerSecond{450e9}, Seconds{10e-6}, "NVLink4"};
    card.scale_up_domain = card.cards_per_node = 8;
    card.scale_out = {BytesPerSecond{50e9}, Seconds{20e-6}, "network"};
    return card;
}

EngineSetup llama3_70b() {
    EngineSetup setup;
    setup.transformer.num_layers = setup.transformer.num_dense_layers = 80;
    setup.transformer.hidden = 8192;
    setup.transformer.ffn = 28672;
    setup.transformer.vocabulary = setup.transformer.padded_vocabulary = 128256;
    setup.transformer.attention.kind = model::AttentionKind::gqa;
    setup.transformer.attention.num_heads = 64;
    setup.transformer.attention.num_kv_heads = 8;
    setup.transformer.attention.head_dim = 128;
    setup.accelerator = h100();
    setup.layout.tensor_parallel = 8;
    return setup;
}

EngineSetup deepseek_v3(int ranks, int drafts) {
    EngineSetup setup;
    model::Transformer& model = setup.transformer;
    model.num_layers = 61;
    model.num_dense_layers = 3;
    model.hidden = 7168;
    model.ffn = 18432;
    model.vocabulary = model.padded_vocabulary = 129280;
    model.attention.kind = model::AttentionKind::mla;
    model.attention.num_heads = model.attention.num_kv_heads = 128;
    model.attention.q_lora_rank = 1536;
    model.attention.kv_lora_rank = 512;
    model.attention.qk_nope_head_dim = model.attention.v_head_dim = 128;
    model.attention.qk_rope_head_dim = 64;
    model.experts = model::Experts{256, 8, 2048, 2048};
    setup.accelerator = h100();
    setup.layout.attention_data_parallel = setup.layout.expert_parallel = ranks;
    (void)model::engine_numbers_of("fp8", setup.numbers);
    setup.speculation = {drafts, 1.0 + 0.7 * drafts};
    return setup;
}

SystemSetup dense(int workers, bool cached) {
    SystemSetup setup;
    setup.main.instances = workers;
    setup.main.rules.num_blocks = 87000;
    setup.main.rules.cached = cached;
    setup.main.times = step_times(EngineCost{llama3_70b()});
    return setup;
}

/// Two prefill instances of eight ranks for one decode instance of 32 ranks, times `groups`.
SystemSetup split(int groups) {
    SystemSetup setup;
    PartSetup prefill;
    prefill.rules.max_tokens = 16384;
    prefill.rules.num_blocks = 20000;
    prefill.rules.prefill_only = true;
    prefill.instances = 4 * groups;
    prefill.ranks = 8;
    prefill.times = step_times(EngineCost{deepseek_v3(8, 0)});
    setup.prefill = prefill;
    setup.main.rules.num_blocks = 20000;
    setup.main.rules.with_cache = true;
    setup.main.rules.gain = 17;
    setup.main.rules.per = 10;
    setup.main.rules.query_tokens = 2;
    setup.main.instances = groups;
    setup.main.ranks = 32;
    setup.main.times = step_times(EngineCost{deepseek_v3(32, 1)});
    setup.transfer_per_token = Bytes{61.0 * 576.0 * 2.0};
    setup.transfer_bandwidth = BytesPerSecond{35e9};
    setup.transfer_latency = Seconds{20e-6};
    return setup;
}

model::ServeLoad load_of(const model::Trace& trace, double rate, std::int64_t requests) {
    model::ServeLoad load;
    load.lengths_given = false;
    load.trace = trace;
    load.request_rate = rate;
    load.num_requests = requests;
    return load;
}

/// Requests per second when far more come than can be served.
double saturation(const SystemSetup& setup, const model::Trace& trace, std::int64_t requests) {
    const model::ServeLoad load = load_of(trace, 1e6, requests);
    Load source{load, 1, 0};
    const RunMetrics metrics = run_system(setup, source, 1, 0);
    return static_cast<double>(metrics.requests) / metrics.duration_s();
}

void serve(benchmark::State& state, SystemSetup setup, std::int64_t requests, bool jump) {
    const model::Trace trace = azure();
    const double rate = 0.8 * saturation(setup, trace, std::max<std::int64_t>(20000, 2000 * setup.main.instances));
    const model::ServeLoad load = load_of(trace, rate, requests);
    setup.jump = jump;
    RunMetrics metrics;
    for (auto _ : state) {
        Load source{load, 1, 0};
        metrics = run_system(setup, source, 1, 0);
    }
    state.SetItemsProcessed(state.iterations() * requests);
    state.counters["offered_per_s"] = rate;
    state.counters["steps_per_request"] = static_cast<double>(metrics.steps) / static_cast<double>(requests);
    state.counters["stretches_per_request"] = static_cast<double>(metrics.stretches) / static_cast<double>(requests);
    state.counters["saturated"] = metrics.saturated ? 1.0 : 0.0;
}

constexpr std::int64_t million = 1'000'000;

BENCHMARK_CAPTURE(serve, dense_8_workers, dense(8, false), million, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, dense_8_workers_every_iteration, dense(8, false), million, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, dense_256_workers, dense(256, false), million, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, dense_256_workers_every_iteration, dense(256, false), million, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, dense_8_workers_prefix_cache, dense(8, true), million, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, dense_8_workers_prefix_cache_every_iteration, dense(8, true), million, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, deepseek_v3_split, split(1), million, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, deepseek_v3_split_every_iteration, split(1), million, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace windtunnel::serve
