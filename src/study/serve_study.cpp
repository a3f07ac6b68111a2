#include "windtunnel/study/serve_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows.hpp"
#include "stop_rule_text.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

using serve::Latency;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t usual_trials = 8;

/// Nothing is drawn at random: every replication is the same.
bool nothing_drawn(const model::Serving& serving) {
    const model::ServeLoad& load = serving.load;
    const auto fixed = [](const model::LengthLaw& law) { return law.kind == model::LengthKind::fixed; };
    const bool times = load.arrivals == model::ArrivalKind::trace || load.arrivals == model::ArrivalKind::closed_loop;
    const bool lengths = !load.lengths_given || (fixed(load.input) && fixed(load.output));
    return times && lengths && load.prefix_groups == 0 && load.turns <= 1.0 && load.priority_share <= 0.0 &&
           serving.deployment.routing != model::Routing::power_of_two;
}

/// Quantile 0.975 of Student's t. Source: any table; beyond it the expansion of Abramowitz and Stegun 26.7.5.
double student_975(std::uint64_t degrees) {
    constexpr std::array table{12.706, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
    if (degrees == 0) return unknown;
    if (degrees <= table.size()) return table[degrees - 1];
    constexpr double z = 1.959963984540054;
    const auto n = static_cast<double>(degrees);
    return z + (z * z * z + z) / (4.0 * n) + (5.0 * std::pow(z, 5) + 16.0 * z * z * z + 3.0 * z) / (96.0 * n * n);
}

void add_measures(ServeSums& sums, const model::Plan& plan, const serve::PlanSystem& system,
                  const serve::RunMetrics& run) {
    const auto put = [&](ServeMeasure measure, double value) {
        if (std::isfinite(value)) sums.measures[static_cast<std::size_t>(measure)].add(value);
    };
    const double time = run.duration_s(), requests = static_cast<double>(run.requests);
    const auto rate = [&](double amount) { return time > 0.0 ? amount / time : unknown; };
    const double on =
        run.end_s > 0.0 ? run.instance_seconds / run.end_s : static_cast<double>(system.setup.main.instances);
    const double cards = on / system.setup.main.instances * static_cast<double>(system.cards) +
                         static_cast<double>(system.prefill_cards);
    const double served = requests - static_cast<double>(run.refused);
    put(ServeMeasure::requests_per_s, rate(served));
    put(ServeMeasure::output_tokens_per_s, rate(run.output_tokens));
    put(ServeMeasure::total_tokens_per_s, rate(run.output_tokens + run.input_tokens));
    put(ServeMeasure::output_tokens_per_s_per_card, rate(run.output_tokens) / cards);
    put(ServeMeasure::goodput, rate(static_cast<double>(run.good)));
    put(ServeMeasure::good_share, requests > 0.0 ? static_cast<double>(run.good) / requests : unknown);
    put(ServeMeasure::refused_share, requests > 0.0 ? static_cast<double>(run.refused) / requests : unknown);
    put(ServeMeasure::in_system, run.in_system);
    put(ServeMeasure::waiting, run.waiting);
    put(ServeMeasure::busy_share, run.busy_share);
    put(ServeMeasure::block_share, run.block_share);
    put(ServeMeasure::peak_block_share, run.peak_block_share);
    const double all = static_cast<double>(run.all_requests);
    put(ServeMeasure::preemptions_per_request, all > 0.0 ? static_cast<double>(run.preemptions) / all : unknown);
    const double computed = run.prefill_tokens, found = run.hit_tokens;
    put(ServeMeasure::recomputed_share, computed > 0.0 ? run.recomputed_tokens / computed : unknown);
    put(ServeMeasure::hit_share, computed + found > 0.0 ? found / (computed + found) : unknown);
    put(ServeMeasure::cards, cards);
    const Seconds wall{time};
    const Watts power = plan.cluster.accelerator.power * cards;
    const double tokens = run.output_tokens;
    const Joules energy = power * wall * plan.cost.pue;
    if (tokens > 0.0 && power.value() > 0.0) put(ServeMeasure::joules_per_token, energy.value() / tokens);
    const Usd cost = plan.cost.card * cards * wall + plan.cost.energy * energy;
    if (tokens > 0.0 && cost.value() > 0.0) put(ServeMeasure::usd_per_million_tokens, cost.value() / tokens * 1e6);
    put(ServeMeasure::duration_s, time);
    put(ServeMeasure::saturated, run.saturated ? 1.0 : 0.0);
    for (int layer = 0; layer < serve::num_layers_of_serving; ++layer)
        put(static_cast<ServeMeasure>(static_cast<int>(ServeMeasure::limit_load) + layer),
            static_cast<int>(run.limit) == layer ? 1.0 : 0.0);
}

void add_run(ServeSums& sums, const model::Plan& plan, const serve::PlanSystem& system, const serve::RunMetrics& run) {
    ++sums.trials;
    sums.requests += static_cast<std::uint64_t>(run.requests);
    sums.steps += static_cast<std::uint64_t>(run.steps);
    for (std::size_t i = 0; i < run.latency.size(); ++i) {
        const serve::Histogram& histogram = run.latency[i];
        if (histogram.count() == 0) continue;
        sums.latency[i][0].add(histogram.mean());
        for (std::size_t k = 0; k < serve_fractions.size(); ++k)
            sums.latency[i][k + 1].add(histogram.quantile(serve_fractions[k]));
        sums.pooled[i].merge(histogram);
    }
    add_measures(sums, plan, system, run);
}

}  // namespace

MeasureText text_of(ServeMeasure measure) {
    switch (measure) {
        case ServeMeasure::requests_per_s:
            return {"requests_per_s", "1/s", "requests served per second"};
        case ServeMeasure::output_tokens_per_s:
            return {"output_tokens_per_s", "1/s", "output tokens per second"};
        case ServeMeasure::total_tokens_per_s:
            return {"total_tokens_per_s", "1/s", "input and output tokens per second"};
        case ServeMeasure::output_tokens_per_s_per_card:
            return {"output_tokens_per_s_per_card", "1/s", "output tokens per second and card"};
        case ServeMeasure::goodput:
            return {"goodput", "1/s", "requests per second that keep every limit of serve.slo"};
        case ServeMeasure::good_share:
            return {"good_share", "1", "share of the requests that keep every limit of serve.slo"};
        case ServeMeasure::refused_share:
            return {"refused_share", "1", "share of the requests that were refused"};
        case ServeMeasure::in_system:
            return {"in_system", "1", "requests in the system, mean over time"};
        case ServeMeasure::waiting:
            return {"waiting", "1", "requests that wait for a seat, blocks or tokens, mean over time"};
        case ServeMeasure::busy_share:
            return {"busy_share", "1", "share of the time in which an instance computes, of the busier part"};
        case ServeMeasure::block_share:
            return {"block_share", "1", "KV blocks in use, mean over time and ranks"};
        case ServeMeasure::peak_block_share:
            return {"peak_block_share", "1", "KV blocks in use, most of any rank"};
        case ServeMeasure::preemptions_per_request:
            return {"preemptions_per_request", "1", "preemptions per request"};
        case ServeMeasure::recomputed_share:
            return {"recomputed_share", "1", "tokens lost by preemptions over tokens of prompts computed"};
        case ServeMeasure::hit_share:
            return {"hit_share", "1", "tokens of prompts found in the prefix cache"};
        case ServeMeasure::cards:
            return {"cards", "1", "cards that are on, mean over time"};
        case ServeMeasure::usd_per_million_tokens:
            return {"usd_per_million_tokens", "USD", "cost of a million output tokens"};
        case ServeMeasure::joules_per_token:
            return {"joules_per_token", "J", "energy of an output token, board power of every card"};
        case ServeMeasure::duration_s:
            return {"duration_s", "s", "first counted arrival to the last answer"};
        case ServeMeasure::saturated:
            return {"saturated", "1", "share of replications in which first tokens come later and later"};
        case ServeMeasure::limit_load:
            return {"limit_load", "1", "share of replications that the load limits"};
        case ServeMeasure::limit_scheduler:
            return {"limit_scheduler", "1", "share of replications that seats or token budget limit"};
        case ServeMeasure::limit_engine:
            return {"limit_engine", "1", "share of replications that the time of a step limits"};
        case ServeMeasure::limit_memory:
            return {"limit_memory", "1", "share of replications that KV blocks limit"};
        case ServeMeasure::limit_link:
            break;
    }
    return {"limit_link", "1", "share of replications that the transfer of the cache limits"};
}

Estimate replicated(const base::Moments& moments) {
    if (moments.count == 0) return {unknown, unknown, unknown, unknown};
    if (moments.count == 1) return {moments.mean, unknown, unknown, unknown};
    const double error = moments.standard_error(), half = error * student_975(moments.count - 1);
    return {moments.mean, error, std::max(0.0, moments.mean - half), moments.mean + half};
}

void ServeSums::merge(const ServeSums& other) {
    trials += other.trials;
    requests += other.requests;
    steps += other.steps;
    for (std::size_t i = 0; i < latency.size(); ++i) {
        for (std::size_t k = 0; k < latency[i].size(); ++k) latency[i][k].merge(other.latency[i][k]);
        pooled[i].merge(other.pooled[i]);
    }
    for (std::size_t i = 0; i < measures.size(); ++i) measures[i].merge(other.measures[i]);
}

void ServeSums::pack(base::Packer& packer) const {
    packer.put(trials);
    packer.put(requests);
    packer.put(steps);
    for (const auto& statistics : latency)
        for (const base::Moments& moments : statistics) moments.pack(packer);
    for (const base::Moments& moments : measures) moments.pack(packer);
    for (const serve::Histogram& histogram : pooled) histogram.pack(packer);
}

ServeSums ServeSums::unpack(base::Unpacker& unpacker) {
    ServeSums sums;
    sums.trials = unpacker.get<std::uint64_t>();
    sums.requests = unpacker.get<std::uint64_t>();
    sums.steps = unpacker.get<std::uint64_t>();
    for (auto& statistics : sums.latency)
        for (base::Moments& moments : statistics) moments = base::Moments::unpack(unpacker);
    for (base::Moments& moments : sums.measures) moments = base::Moments::unpack(unpacker);
    for (serve::Histogram& histogram : sums.pooled) histogram = serve::Histogram::unpack(unpacker);
    return sums;
}

ServeStudy::ServeStudy(const model::Plan& plan, const ServeOptions& options) : plan_{&plan}, stop_{options.stop} {
    if (!plan.serving)
        throw base::InputError{{{plan.files.empty() ? "" : plan.files.front().path, 0, 0, "serve", "is missing",
                                 "sections [serve.deployment] and [serve.load]"}}};
    same_every_time_ = nothing_drawn(*plan.serving);
    if (!stop_.trials && !stop_.looks_at_results()) stop_.trials = same_every_time_ ? 1 : usual_trials;
    identity_ = plan.resolved_text + "\nstudy = serve\n" + rule_text(stop_);
    system_ = serve::plan_system(plan, plan.serving->engine);
}

bool ServeStudy::narrow_enough(const ServeSums& sums) const {
    if (!stop_.looks_at_results()) return true;
    if (sums.trials < 2) return same_every_time_ && sums.trials == 1;
    for (const Latency latency : {Latency::ttft, Latency::tpot, Latency::e2e}) {
        const Estimate mean = replicated(sums.latency[static_cast<std::size_t>(latency)][0]);
        const double half = mean.high - mean.mean;
        if (stop_.relative_half_width && half > *stop_.relative_half_width * mean.mean) return false;
        if (stop_.absolute_half_width && half > *stop_.absolute_half_width) return false;
    }
    return true;
}

std::optional<Round> ServeStudy::next_round(const State& state) const {
    if (!system_.feasible()) return std::nullopt;
    const auto done = static_cast<std::int64_t>(state.sums.trials);
    std::int64_t more = stop_.trials.value_or(same_every_time_ ? 1 : usual_trials) - done;
    if (stop_.looks_at_results() && more <= 0) {
        if (narrow_enough(state.sums) || done >= StopRule::most_trials) return std::nullopt;
        more = std::min(std::max(usual_trials, done / 2), StopRule::most_trials - done);
    }
    if (more <= 0) return std::nullopt;
    constexpr std::int64_t requests_per_slice = 2000;
    Round round;
    round.number = state.rounds_done;
    round.first_item = static_cast<std::uint64_t>(done);
    round.num_items = static_cast<std::uint64_t>(more);
    round.items_per_slice = static_cast<std::uint64_t>(
        std::max<std::int64_t>(1, requests_per_slice / std::max<std::int64_t>(1, plan_->serving->load.num_requests)));
    round.items_per_block = round.items_per_slice * 2;
    round.label = fmt::format("replications {} to {}", done, done + more - 1);
    return round;
}

serve::RunMetrics ServeStudy::run(std::uint64_t trial, const std::function<void(const serve::Served&)>& each) const {
    serve::Load load{plan_->serving->load, plan_->seed, trial};
    return serve::run_system(system_.setup, load, plan_->seed, trial, each);
}

ServeStudy::Partial ServeStudy::evaluate(const Round&, ItemRange items, std::string_view) const {
    ServeSums sums;
    for (std::uint64_t trial = items.begin; trial < items.end; ++trial) add_run(sums, *plan_, system_, run(trial));
    return sums;
}

std::string ServeStudy::pack(const Partial& partial) const {
    base::Packer packer;
    partial.pack(packer);
    return std::move(packer).take();
}

ServeStudy::Partial ServeStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    return ServeSums::unpack(unpacker);
}

void ServeStudy::absorb(State& state, const Round& round, std::uint64_t, const Partial& partial) const {
    state.sums.merge(partial);
    if (++state.blocks < round.num_blocks()) return;
    state.blocks = 0;
    ++state.rounds_done;
}

ServeAnswer ServeStudy::answer(const State& state) const {
    return {system_, state.sums, narrow_enough(state.sums), same_every_time_};
}

std::vector<store::Table> ServeStudy::tables(const State& state) const {
    Rows summary{serve_summary_schema()}, latency{serve_latency_schema()}, measures{serve_measures_schema()};
    summary.integer(static_cast<std::int64_t>(state.sums.trials))
        .integer(static_cast<std::int64_t>(state.sums.requests))
        .integer(static_cast<std::int64_t>(state.sums.steps))
        .integer(system_.cards)
        .integer(system_.prefill_cards)
        .integer(system_.memory.num_blocks)
        .real(system_.memory.kv_bytes_per_token)
        .real(system_.memory.weights.value())
        .real(system_.memory.usable.value())
        .text(system_.policy)
        .text(system_.problem);
    const auto put = [](Rows& rows, const Estimate& value) {
        rows.real(value.mean).real(value.standard_error).real(value.low).real(value.high);
    };
    for (int i = 0; i < serve::num_latencies; ++i)
        for (int k = 0; k < num_latency_statistics; ++k) {
            latency.integer(i).integer(k);
            put(latency, replicated(state.sums.latency[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]));
        }
    for (int i = 0; i < num_serve_measures; ++i) {
        const MeasureText text = text_of(static_cast<ServeMeasure>(i));
        measures.integer(i).text(text.units);
        put(measures, replicated(state.sums.measures[static_cast<std::size_t>(i)]));
    }
    std::vector<store::Table> tables;
    for (Rows* rows : {&summary, &latency, &measures}) tables.push_back(std::move(*rows).take());
    return tables;
}

std::string ServeStudy::part_refusal() const {
    return rule_part_refusal(stop_);
}

}  // namespace windtunnel::study
