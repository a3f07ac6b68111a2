#include "windtunnel/report/serve_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/report/json_parts.hpp"
#include "windtunnel/report/plan_notes.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/train_answer.hpp"
#include "windtunnel/report/units.hpp"
#include "windtunnel/serve/moment.hpp"

namespace windtunnel::report {
namespace {

using serve::Latency;
using study::Estimate;
using study::ServeAnswer;
using study::ServeMeasure;

const std::vector<std::string_view> unused_sections{"search", "train", "failures", "recovery", "rehearsal"};
constexpr std::array statistics{"mean", "P50", "P90", "P95", "P99"};

std::string with_interval(const Estimate& value, const std::string& text, const std::string& half) {
    return std::isfinite(value.high) ? text + " +- " + half : text;
}

std::string time_text(const Estimate& value) {
    if (!std::isfinite(value.mean)) return "-";
    return with_interval(value, human(Seconds{value.mean}), human(Seconds{value.high - value.mean}));
}

std::string latency_table(const ServeAnswer& answer) {
    TextTable table{{"latency", "mean", "P50", "P90", "P95", "P99"}};
    for (int i = 0; i < serve::num_latencies; ++i) {
        const auto& of = answer.sums.latency[static_cast<std::size_t>(i)];
        if (of[0].count == 0) continue;
        std::vector<std::string> cells{serve::to_text(static_cast<Latency>(i))};
        for (const base::Moments& statistic : of) cells.push_back(time_text(study::replicated(statistic)));
        table.add_row(std::move(cells));
    }
    return table.text();
}

double mean_of(const ServeAnswer& answer, ServeMeasure measure) {
    return study::replicated(answer.measure(measure)).mean;
}

std::string number(const ServeAnswer& answer, ServeMeasure measure) {
    const Estimate value = study::replicated(answer.measure(measure));
    if (!std::isfinite(value.mean)) return "-";
    return with_interval(value, fmt::format("{:.4g}", value.mean), fmt::format("{:.2g}", value.high - value.mean));
}

std::string share(const ServeAnswer& answer, ServeMeasure measure) {
    const double value = mean_of(answer, measure);
    return std::isfinite(value) ? percent(value) : "-";
}

std::string pool_text(const model::EnginePool& pool) {
    std::string text = fmt::format("{} x (tp {}", pool.instances, pool.tensor_parallel);
    if (pool.pipeline_parallel > 1) text += fmt::format(" pp {}", pool.pipeline_parallel);
    if (pool.data_parallel > 1) text += fmt::format(" dp {}", pool.data_parallel);
    if (pool.expert_parallel > 1) text += fmt::format(" ep {}", pool.expert_parallel);
    return text + fmt::format(") = {} cards", grouped(pool.cards()));
}

std::string memory_line(const serve::PartMemory& memory, int block_size) {
    return fmt::format(
        "{} of weights, {} of activations, {} of runtime beside the cache, of {} that the engine takes of {}\n"
        "         {} KV blocks of {} tokens{} = {} tokens, {:.0f} B a token and card\n",
        human(memory.weights), human(memory.activations), human(memory.runtime), human(memory.usable),
        human(memory.card), grouped(memory.num_blocks), block_size, memory.given ? " (given)" : "",
        grouped(memory.tokens), memory.kv_bytes_per_token);
}

std::string system_lines(const model::Plan& plan, const ServeAnswer& answer) {
    const model::Deployment& deployment = plan.serving->deployment;
    std::string text;
    if (deployment.prefill) {
        text += fmt::format("prefill  {}\n         ", pool_text(*deployment.prefill));
        text += memory_line(*answer.system.prefill_memory, deployment.block_size);
        text += fmt::format("decode   {}\n         ", pool_text(deployment.pool));
    } else {
        text += fmt::format("engine   {}\n         ", pool_text(deployment.pool));
    }
    text += memory_line(answer.system.memory, deployment.block_size);
    const model::EngineEfficiency& engine = plan.serving->engine;
    text += fmt::format("costs    {} ({}{})\n", engine.name, evidence_text(engine.evidence),
                        engine.relative_error_90 > 0.0
                            ? fmt::format("; 90 % interval of TPOT +- {}", percent(engine.relative_error_90))
                            : std::string{"; the error of TPOT is not known"});
    return text + fmt::format("policy   {}\n", answer.system.policy);
}

/// The layer that limits most replications.
serve::Layer limit_of(const ServeAnswer& answer) {
    int best = 0;
    double most = -1.0;
    for (int layer = 0; layer < serve::num_layers_of_serving; ++layer) {
        const auto measure = static_cast<ServeMeasure>(static_cast<int>(ServeMeasure::limit_load) + layer);
        if (const double value = mean_of(answer, measure); value > most) most = value, best = layer;
    }
    return static_cast<serve::Layer>(best);
}

std::string slo_lines(const model::Plan& plan, const ServeAnswer& answer) {
    const model::Slo& slo = plan.serving->slo;
    if (!slo.ttft && !slo.tpot && !slo.e2e) return {};
    std::string text =
        fmt::format("goodput  {} requests/s keep every limit, {} of them all:", number(answer, ServeMeasure::goodput),
                    share(answer, ServeMeasure::good_share));
    const auto limit = [&](const char* name, const std::optional<Seconds>& most, Latency latency) {
        if (!most) return;
        constexpr std::size_t p99 = 4;
        const double value = study::replicated(answer.sums.latency[static_cast<std::size_t>(latency)][p99]).mean;
        if (!std::isfinite(value)) {
            text += fmt::format(" {} P99 - (limit {})", name, human(*most));
            return;
        }
        text += fmt::format(" {} P99 {} {} {}{}", name, human(Seconds{value}), value <= most->value() ? "<=" : ">",
                            human(*most), value <= most->value() ? "" : " (missed)");
    };
    limit("TTFT", slo.ttft, Latency::ttft);
    limit("TPOT", slo.tpot, Latency::tpot);
    limit("E2E", slo.e2e, Latency::e2e);
    return text + '\n';
}

std::string use_lines(const ServeAnswer& answer) {
    std::string text = fmt::format(
        "rate     {} requests/s, {} output tokens/s ({} a card), {} tokens/s in and out\n",
        number(answer, ServeMeasure::requests_per_s), number(answer, ServeMeasure::output_tokens_per_s),
        number(answer, ServeMeasure::output_tokens_per_s_per_card), number(answer, ServeMeasure::total_tokens_per_s));
    text += fmt::format("use      busy {}, KV blocks {} (peak {}), {} requests in the system, {} waiting\n",
                        share(answer, ServeMeasure::busy_share), share(answer, ServeMeasure::block_share),
                        share(answer, ServeMeasure::peak_block_share), number(answer, ServeMeasure::in_system),
                        number(answer, ServeMeasure::waiting));
    text +=
        fmt::format("         {} preemptions a request, {} of prompt tokens found in the prefix cache, {} refused\n",
                    number(answer, ServeMeasure::preemptions_per_request), share(answer, ServeMeasure::hit_share),
                    share(answer, ServeMeasure::refused_share));
    const double usd = mean_of(answer, ServeMeasure::usd_per_million_tokens),
                 joules = mean_of(answer, ServeMeasure::joules_per_token);
    if (std::isfinite(usd)) text += fmt::format("cost     {:.4g} USD per million output tokens\n", usd);
    if (std::isfinite(joules))
        text += fmt::format("energy   {:.4g} J an output token (board power of every card)\n", joules);
    return text;
}

std::string definitions() {
    return wrapped(
               "TTFT: arrival to first token; TPOT: (last token - first token) / (output tokens - 1); ITL: gap between "
               "tokens "
               "that follow each other; E2E: arrival to last token; wait: from the scheduler's first sight of a "
               "request to its "
               "first batch. +- : 95 % interval over replications.",
               100) +
           '\n';
}

Json estimate_json(const Estimate& value) {
    const auto finite = [](double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); };
    return {{"mean", finite(value.mean)},
            {"standard_error", finite(value.standard_error)},
            {"low_95", finite(value.low)},
            {"high_95", finite(value.high)}};
}

Json memory_json(const serve::PartMemory& memory) {
    return {{"card_bytes", memory.card.value()},
            {"usable_bytes", memory.usable.value()},
            {"weights_bytes", memory.weights.value()},
            {"activations_bytes", memory.activations.value()},
            {"runtime_bytes", memory.runtime.value()},
            {"kv_bytes_per_token", memory.kv_bytes_per_token},
            {"num_blocks", memory.num_blocks},
            {"kv_tokens", memory.tokens},
            {"given", memory.given}};
}

}  // namespace

std::string serve_text(const model::Plan& plan, const ServeAnswer& answer) {
    std::string text = plan.title + '\n' + system_lines(plan, answer);
    if (!answer.feasible())
        return text + fmt::format("does not work: {}\n", answer.system.problem) + plan_notes(plan, unused_sections);
    text += fmt::format("load     {} requests in {} replication{}{}\n",
                        grouped(static_cast<std::int64_t>(answer.sums.requests)), answer.sums.trials,
                        answer.sums.trials == 1 ? "" : "s",
                        answer.same_every_time ? " (nothing is drawn: all would be equal)" : "");
    if (mean_of(answer, ServeMeasure::saturated) >= 0.5)
        text += "SATURATED: first tokens come later and later; the figures depend on how long the load lasts\n";
    if (!answer.half_width_reached) text += "WARNING: the half-width was not reached\n";
    text += latency_table(answer) + slo_lines(plan, answer) + use_lines(answer);
    text += fmt::format("limited by the {}\n", serve::to_text(limit_of(answer)));
    return text + definitions() + plan_notes(plan, unused_sections);
}

std::string serve_json(const model::Plan& plan, const ServeAnswer& answer) {
    Json document{
        {"title", plan.title},
        {"feasible", answer.feasible()},
        {"problem", answer.system.problem},
        {"policy", answer.system.policy},
        {"engine", plan.serving->engine.name},
        {"engine_evidence", evidence_text(plan.serving->engine.evidence)},
        {"tpot_relative_error_90",
         plan.serving->engine.relative_error_90 > 0.0 ? Json(plan.serving->engine.relative_error_90) : Json(nullptr)},
        {"cards", answer.system.cards + answer.system.prefill_cards},
        {"memory", memory_json(answer.system.memory)}};
    if (answer.system.prefill_memory) document["prefill_memory"] = memory_json(*answer.system.prefill_memory);
    document["trials"] = answer.sums.trials;
    document["requests"] = answer.sums.requests;
    document["half_width_reached"] = answer.half_width_reached;
    if (answer.feasible()) {
        document["limited_by"] = serve::to_text(limit_of(answer));
        document["saturated"] = mean_of(answer, ServeMeasure::saturated) >= 0.5;
        Json latencies = Json::object();
        for (int i = 0; i < serve::num_latencies; ++i) {
            Json of = Json::object();
            for (std::size_t k = 0; k < statistics.size(); ++k)
                of[statistics[k]] =
                    estimate_json(study::replicated(answer.sums.latency[static_cast<std::size_t>(i)][k]));
            latencies[serve::to_text(static_cast<Latency>(i))] = of;
        }
        document["latency_s"] = latencies;
        Json measures = Json::object();
        for (int i = 0; i < study::num_serve_measures; ++i) {
            const auto measure = static_cast<ServeMeasure>(i);
            measures[study::text_of(measure).name] = estimate_json(study::replicated(answer.measure(measure)));
        }
        document["measures"] = measures;
    }
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string requests_heading() {
    return "number,arrival_s,queued_s,scheduled_s,first_token_s,last_token_s,input_tokens,output_tokens,hit_tokens,"
           "preemptions,rank,refused,counted\n";
}

std::string request_line(const serve::Served& served) {
    const auto time = [&](std::int64_t ns) {
        return served.refused ? std::string{} : fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
    };
    const serve::Request& request = served.request;
    return fmt::format("{},{}.{:09},{},{},{},{},{},{},{},{},{},{},{}\n", request.number,
                       request.arrival_ns / 1'000'000'000, request.arrival_ns % 1'000'000'000, time(served.queued_ns),
                       time(served.scheduled_ns), time(served.first_token_ns), time(served.last_token_ns),
                       request.input, request.output, served.hit_tokens, served.preemptions, served.rank,
                       served.refused ? 1 : 0, request.counted ? 1 : 0);
}

}  // namespace windtunnel::report
