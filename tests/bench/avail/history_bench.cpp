#include <benchmark/benchmark.h>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/summary.hpp"

namespace windtunnel::avail {
namespace {

/// 10,000 cards for 90 days, 18 component classes with the total rate of the Llama 3 report (419 stops in 54 days of
/// 16,384 GPUs): about 426 stops a trial. Hourly checkpoints, 16 spare nodes, four rungs and the restart.
JobOnCluster ten_thousand_cards(const model::Law& up) {
    JobOnCluster job;
    job.num_nodes = 1250;
    job.spare_nodes = 16;
    job.step_time = Seconds{10};
    job.horizon = 90.0 * base::day;
    job.checkpoint_steps = 360;
    job.checkpoint_write = Seconds{30};
    for (int i = 0; i < 18; ++i) {
        model::Law law = up;
        law.scale *= 18.0 * 50677.0 * 3600.0 / model::mean(up).value();
        job.classes.push_back({"class " + std::to_string(i),
                               10'000,
                               law,
                               {model::LawKind::exponential, 1.0, 24.0 * base::hour},
                               model::Effect::stops,
                               1.0,
                               true});
    }
    using Lost = model::RecoveryRung::Lost;
    const auto rung = [](const char* action, double success, double seconds, Lost lost, bool spare) {
        return Rung{
            action, success, {model::LawKind::exponential, 1.0, Seconds{seconds}}, lost, std::vector<bool>(18, true),
            spare};
    };
    job.ladder = {rung("operator retry", 0.3, 5.0, Lost::nothing, false),
                  rung("step retry", 0.3, 30.0, Lost::one_step, false),
                  rung("process in place", 0.4, 90.0, Lost::one_step, false),
                  rung("process moved", 0.7, 180.0, Lost::one_step, true)};
    return job;
}

void trials(benchmark::State& state, const model::Law& up) {
    const JobOnCluster job = ten_thousand_cards(up);
    std::uint64_t trial = 0;
    Summary summary;
    for (auto _ : state) summary.add(history(job, 1, trial++));
    state.SetItemsProcessed(state.iterations());
    state.counters["stops_per_trial"] = summary.stops.moments.mean;
}
BENCHMARK_CAPTURE(trials, exponential, model::Law{model::LawKind::exponential, 1.0, Seconds{1.0}});
BENCHMARK_CAPTURE(trials, weibull, model::Law{model::LawKind::weibull, 0.75, Seconds{1.0}});
BENCHMARK_CAPTURE(trials, lognormal, model::Law{model::LawKind::lognormal, 2.0, Seconds{1.0}});
BENCHMARK_CAPTURE(trials, gamma, model::Law{model::LawKind::gamma, 0.9, Seconds{1.0}});

void exact(benchmark::State& state) {
    const JobOnCluster job = ten_thousand_cards({model::LawKind::exponential, 1.0, Seconds{1.0}});
    for (auto _ : state) benchmark::DoNotOptimize(exact_answer(job));
}
BENCHMARK(exact);

}  // namespace
}  // namespace windtunnel::avail
