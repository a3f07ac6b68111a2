#include "windtunnel/validate/serve_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace windtunnel::validate {
namespace {

using model::ServeRow;
using model::ServeTable;

/// Gain of two overlapped halves, where a point prints it by batch ("b32"): the sign is judged, the size is shown.
std::vector<RowResult> overlap_lines(const ServeRow& row, const ServeJob& job) {
    std::vector<RowResult> lines;
    for (const auto& [name, cell] : row.cells) {
        const auto place = name.rfind(".b");
        if (name.find("_gain_pct") == std::string::npos || place == std::string::npos) continue;
        const double batch = std::atof(name.c_str() + place + 2);
        if (!(batch > 0.0)) continue;
        serve::EngineSetup setup = job.setup;
        setup.efficiency = job.efficiency;
        serve::FractionalLoad load;
        load.decode_sequences = load.outputs = batch / job.per_chip;
        load.decode_context = load.decode_sequences * job.loop.prompt;
        const auto step = [&](bool overlap) {
            setup.two_batch_overlap = overlap;
            return serve::EngineCost{setup}.step_parts(load).sum();
        };
        const double gain = step(false) / step(true) - 1.0, measured = *row.number(name) / 100.0;
        RowResult line;
        line.id = row.id + ":" + name.substr(place + 1);
        line.file = row.file;
        line.family = "points/overlap";
        line.quantity = "overlap_gain";
        line.predicted = gain;
        line.measured = measured;
        line.assumed = job.assumed;
        lines.push_back(line);
        line.quantity = "overlap_sign";
        line.predicted = gain < 0.0 ? -1.0 : 1.0;
        line.measured = measured < 0.0 ? -1.0 : 1.0;
        lines.push_back(line);
    }
    return lines;
}

/// Offline saturation: a request costs its share of decode steps and its prefill; ranks and instances add up.
double offline_rate(const serve::EngineCost& cost, const serve::ClosedLoop& loop) {
    const double n = loop.concurrency, context = loop.prompt + 0.5 * loop.output;
    const Seconds step = serve::decode_time(cost, n, context);
    const double at_once = std::max(1.0, std::floor(loop.token_budget / std::max(1.0, loop.prompt)));
    const Seconds own = serve::prefill_time(cost, at_once, loop.prompt, loop.token_budget, 0.0, 0.0) / at_once;
    const Seconds turn = loop.output * step + n * own;
    return n * loop.output / turn.value() * cost.setup().layout.attention_data_parallel;
}

double step_rate(const serve::EngineCost& cost, const ServeJob& job, Seconds step) {
    const double per_step = job.decode_step ? cost.setup().speculation.tokens_per_step : 1.0;
    const double tokens = job.decode_step ? job.step.decode_sequences * per_step : job.step.prefill_tokens;
    return tokens * job.per_chip / (step.value() * cost.setup().layout.tensor_parallel);
}

}  // namespace

std::vector<ServeQuantity> predict(const ServeRow& row, const ServeJob& job,
                                   const model::EngineEfficiency& efficiency) {
    std::vector<ServeQuantity> found;
    serve::EngineSetup setup = job.setup;
    setup.efficiency = efficiency;
    if (job.natural_skew) setup.expert_skew = efficiency.natural_skew;
    const serve::EngineCost cost{setup};
    const auto add = [&](const char* name, std::optional<double> measured, double predicted) {
        if (measured && *measured > 0.0 && std::isfinite(predicted)) found.push_back({name, *measured, predicted});
    };
    const auto milliseconds = [&](const char* column) {
        const auto value = row.number(column);
        return value ? std::optional{*value / 1e3} : std::nullopt;
    };
    if (job.offline) {
        add("tokens_per_s", row.number("output_tok_s"), offline_rate(cost, job.loop));
    } else if (job.static_batch) {
        add("latency_s", row.number("latency_s"),
            serve::static_batch_time(cost, job.loop.concurrency, job.loop.places, job.loop.prompt, job.loop.output,
                                     job.loop.token_budget)
                .value());
    } else if (job.decode_step || job.prefill_step) {
        Seconds step = cost.step_parts(job.step).sum();
        const FlopsPerSecond peak = setup.accelerator.peak(model::Precision::bf16);
        if (job.vision_products > 0.0)
            step += Flops{job.vision_products} / (peak * efficiency.gemm) +
                    Flops{job.vision_attention} / (peak * efficiency.attention);
        if (job.decode_step && setup.two_batch_overlap) {  // whoever has the overlap uses it where it gains
            setup.two_batch_overlap = false;
            step = std::min(step, serve::EngineCost{setup}.step_parts(job.step).sum());
        }
        add("step_time_s", milliseconds("baseline_ms"), step.value());
        add("tokens_per_s_per_chip", row.number("tokens_per_s_per_chip"), step_rate(cost, job, step));
    } else if (job.prefill_instances > 0) {
        serve::ClosedLoop decode = job.loop;
        const double context = decode.prompt + 0.5 * decode.output;
        serve::EngineSetup first = job.prefill;
        first.efficiency = efficiency;
        const serve::EngineCost prefill{first};
        const Seconds own = serve::prefill_time(prefill, 1.0, decode.prompt, decode.token_budget, 0.0, 0.0);
        // Requests in prefill do not decode: the prefill pool works for all of them.
        double n = decode.concurrency;
        const double ranks_of_prefill = first.layout.attention_data_parallel * job.prefill_instances;
        const double total = decode.concurrency * setup.layout.attention_data_parallel * job.instances;
        Seconds token{0.0}, wait{0.0};
        for (int round = 0; round < 8; ++round) {
            token = serve::decode_time(cost, std::min(n, decode.places), context) / setup.speculation.tokens_per_step;
            const Seconds cycle = decode.output * token + wait + own;
            const double busy = total / ranks_of_prefill * (own / cycle);
            wait = busy >= 1.0 ? total / ranks_of_prefill * own - decode.output * token
                               : std::min(0.5 * busy / (1.0 - busy), 0.5 * total / ranks_of_prefill) * own;
            wait = std::max(wait, Seconds{0.0});
            n = std::max(1.0, decode.concurrency * ((decode.output * token) / (decode.output * token + wait + own)));
        }
        add("tpot_s", milliseconds("tpot_ms"), token.value());
        add("ttft_s", milliseconds("ttft_ms"), (efficiency.first_token_fixed + own + wait).value());
    } else {
        serve::ClosedLoop loop = job.loop;
        if (!job.drawn_lengths) loop.wave_share = efficiency.aligned_share;
        const serve::ClosedLoopAnswer answer = serve::closed_loop(cost, loop);
        add("tpot_s", milliseconds("tpot_ms"), answer.per_token.value());
        add("ttft_s", milliseconds("ttft_ms"), answer.first_token.value());
    }
    return found;
}

bool may_be_fitted(const ServeJob& job) {
    return job.problem.empty() && !job.rule.empty() && job.prefill_instances == 0 &&
           job.family.find("/set_aside") == std::string::npos && job.family.find("/quoted") == std::string::npos;
}

std::vector<RowResult> serve_lines(const ServeRow& row, const ServeJob& job, const model::EngineEfficiency& set,
                                   const std::string& family, bool fitted) {
    std::vector<RowResult> lines;
    RowResult line;
    line.id = row.id;
    line.file = row.file;
    line.family = family;
    line.used_to_fit = fitted;
    line.assumed = job.assumed;
    for (const ServeQuantity& quantity : predict(row, job, set)) {
        RowResult one = line;
        one.quantity = quantity.name;
        one.measured = quantity.measured;
        one.predicted = quantity.predicted;
        if (set.relative_error_90 > 0.0 && quantity.name != "ttft_s") {
            one.low = quantity.predicted / (1.0 + set.relative_error_90);
            one.high = quantity.predicted * (1.0 + set.relative_error_90);
        }
        lines.push_back(std::move(one));
    }
    return lines;
}

std::vector<RowResult> run_serve_row(const ServeRow& row, const model::ServeMeasurements& measurements) {
    const ServeJob job = serve_job(row, measurements);
    std::vector<RowResult> lines;
    if (job.problem.empty()) {
        bool every_row = false;
        for (const model::EngineRule& rule : measurements.rules)
            if (rule.name == job.rule) every_row = rule.every_row;
        const bool fitted = may_be_fitted(job) && row.shipped && (every_row || model::used_to_fit(row));
        const auto slash = job.family.find('/');
        const std::string family = !fitted || every_row         ? job.family
                                   : slash == std::string::npos ? job.family + "/fitted"
                                                                : job.family.substr(0, slash) + "/fitted";
        lines = serve_lines(row, job, job.efficiency, family, fitted);
        for (RowResult& line : overlap_lines(row, job)) lines.push_back(std::move(line));
    }
    if (lines.empty()) {
        RowResult line;
        line.id = row.id;
        line.file = row.file;
        line.family = job.family;
        line.quantity = "none";
        line.assumed = job.assumed;
        line.reason = job.problem.empty() ? "the row prints no result that the model gives" : job.problem;
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace windtunnel::validate
