#include "windtunnel/report/chain_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "windtunnel/report/text_table.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Unit of a measure of a reward without one: only times have a unit.
std::string unit_of(model::MeasureKind kind, const std::string& time_unit) {
    switch (kind) {
        case model::MeasureKind::mean_time:
        case model::MeasureKind::time_of_event:
        case model::MeasureKind::interval:
        case model::MeasureKind::wall_mean:
        case model::MeasureKind::wall_deviation:
            return time_unit;
        case model::MeasureKind::frequency:
            return "1/" + time_unit;
        default:
            return "";
    }
}

/// "optics_rate = 2.5e-07 where npu_rate = 1e-05"
std::string break_even_text(const model::Chain& chain, const avail::BreakEvenRow& row) {
    const model::BreakEven& asked = chain.break_evens[row.break_even];
    std::string text = row.value ? fmt::format("{} = {:.9g}", asked.unknown, *row.value) : row.note;
    if (row.over) text += fmt::format(" where {} = {:.9g}", asked.over, *row.over);
    return fmt::format("  {} meets {:.9g}: {}\n", chain.measures[asked.measure].name, asked.target, text);
}

}  // namespace

std::string chain_text(std::span<const SolvedChain> chains) {
    std::string text;
    for (const SolvedChain& one : chains) {
        const avail::ChainAnswer& answer = one.answer;
        text += fmt::format("{}{}{}\n  {} states, {} transitions; time in {}\n", one.chain.title,
                            one.chain.variant.empty() ? "" : ", variant ", one.chain.variant, answer.num_states,
                            answer.num_transitions, one.chain.time_unit);
        if (answer.num_closed_classes > 1)
            text += fmt::format("  {} groups of states that cannot be left\n", answer.num_closed_classes);
        if (answer.residual > 0.0)
            text += fmt::format("  residual of the long run {:.1e}, relative\n", answer.residual);
        TextTable table{{"measure", "value", "unit", "estimated error", "by"}};
        for (std::size_t i = 0; i < answer.measures.size(); ++i) {
            const avail::MeasureAnswer& measure = answer.measures[i];
            const std::string value = std::isinf(measure.value)   ? "never certain"
                                      : std::isnan(measure.value) ? "UNKNOWN"
                                                                  : fmt::format("{:.12g}", measure.value);
            table.add_row({measure.name, value, unit_of(one.chain.measures[i].kind, one.chain.time_unit),
                           fmt::format("{:.0e}", measure.error), measure.method});
        }
        text += table.text();
        for (const avail::BreakEvenRow& row : answer.break_evens) text += break_even_text(one.chain, row);
    }
    return text;
}

std::string chain_json(std::span<const SolvedChain> chains) {
    Json list = Json::array();
    for (const SolvedChain& one : chains) {
        Json measures = Json::array();
        for (std::size_t i = 0; i < one.answer.measures.size(); ++i) {
            const avail::MeasureAnswer& measure = one.answer.measures[i];
            measures.push_back({{"name", measure.name},
                                {"value", number(measure.value)},
                                {"unit", unit_of(one.chain.measures[i].kind, one.chain.time_unit)},
                                {"error", number(measure.error)},
                                {"method", measure.method}});
        }
        Json break_evens = Json::array();
        for (const avail::BreakEvenRow& row : one.answer.break_evens) {
            const model::BreakEven& asked = one.chain.break_evens[row.break_even];
            break_evens.push_back({{"measure", one.chain.measures[asked.measure].name},
                                   {"target", asked.target},
                                   {"unknown", asked.unknown},
                                   {"value", row.value ? Json(*row.value) : Json(nullptr)},
                                   {"over", row.over ? asked.over : ""},
                                   {"at", row.over ? Json(*row.over) : Json(nullptr)},
                                   {"note", row.note}});
        }
        list.push_back({{"title", one.chain.title},
                        {"variant", one.chain.variant},
                        {"time_unit", one.chain.time_unit},
                        {"unknown", one.answer.unknown},
                        {"break_even", break_evens},
                        {"states", one.answer.num_states},
                        {"transitions", one.answer.num_transitions},
                        {"closed_classes", one.answer.num_closed_classes},
                        {"residual", one.answer.residual},
                        {"measures", measures}});
    }
    return Json{{"chains", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sampled_text(std::span<const study::SampledChain> chains) {
    std::string text;
    for (const study::SampledChain& one : chains) {
        text +=
            fmt::format("{}{}{}\n  {} trials, {} events; time in {}\n", one.title,
                        one.variant.empty() ? "" : ", variant ", one.variant, one.trials, one.events, one.time_unit);
        TextTable table{{"measure", "value", "unit", "+-", "low", "high", "P10", "P50", "P90", "P99", "by"}};
        for (std::size_t i = 0; i < one.measures.size(); ++i) {
            const avail::SampledMeasure& measure = one.measures[i];
            const bool known = std::isfinite(measure.value);
            const auto quantile = [&](double fraction) {
                return measure.values.count() > 0 ? fmt::format("{:.4g}", measure.values.quantile(fraction)) : "";
            };
            const auto shown = [&](double value) { return known ? fmt::format("{:.7g}", value) : std::string{}; };
            std::string by = measure.method;
            if (measure.unreached > 0) by += fmt::format("; {} paths given up: a lower bound", measure.unreached);
            table.add_row({measure.name, shown(measure.value), unit_of(one.kinds[i], one.time_unit),
                           known ? fmt::format("{:.2g}", (measure.high - measure.low) / 2.0) : "", shown(measure.low),
                           shown(measure.high), quantile(0.1), quantile(0.5), quantile(0.9), quantile(0.99), by});
        }
        text += table.text();
    }
    return text;
}

std::string sampled_json(std::span<const study::SampledChain> chains) {
    Json list = Json::array();
    for (const study::SampledChain& one : chains) {
        Json measures = Json::array();
        for (std::size_t i = 0; i < one.measures.size(); ++i) {
            const avail::SampledMeasure& measure = one.measures[i];
            Json entry{{"name", measure.name},
                       {"value", number(measure.value)},
                       {"unit", unit_of(one.kinds[i], one.time_unit)},
                       {"standard_error", number(measure.standard_error)},
                       {"low", number(measure.low)},
                       {"high", number(measure.high)},
                       {"unreached", measure.unreached},
                       {"method", measure.method}};
            if (measure.values.count() > 0) {
                Json quantiles = Json::object();
                for (const int percent : {10, 50, 90, 99})
                    quantiles[fmt::format("P{}", percent)] = measure.values.quantile(percent / 100.0);
                entry["quantiles"] = quantiles;
            }
            measures.push_back(std::move(entry));
        }
        list.push_back({{"title", one.title},
                        {"variant", one.variant},
                        {"time_unit", one.time_unit},
                        {"trials", one.trials},
                        {"events", one.events},
                        {"measures", measures}});
    }
    return Json{{"chains", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string machine_text(const model::RecoveryMachine& machine, const avail::MachineVisits& visits) {
    std::string text = fmt::format("{}\n  {} states, {} transitions; from {} to {}\n", machine.title,
                                   machine.states.size(), machine.transitions.size(),
                                   machine.states[machine.initial].name, machine.states[machine.final].name);
    if (!visits.ends) return text + "  a run may never end\n";
    text += fmt::format("  expected time {:.9g} s\n", visits.total.value());
    TextTable table{{"state", "mean visits", "mean time s"}};
    for (std::size_t i = 0; i < machine.states.size(); ++i)
        table.add_row({machine.states[i].name, fmt::format("{:.9g}", visits.visits[i]),
                       fmt::format("{:.9g}", visits.time[i].value())});
    return text + table.text();
}

std::string machine_json(const model::RecoveryMachine& machine, const avail::MachineVisits& visits) {
    Json states = Json::array();
    for (std::size_t i = 0; i < machine.states.size(); ++i)
        states.push_back({{"name", machine.states[i].name},
                          {"visits", visits.ends ? Json(visits.visits[i]) : Json(nullptr)},
                          {"time_s", visits.ends ? Json(visits.time[i].value()) : Json(nullptr)}});
    return Json{{"title", machine.title},
                {"expected_time_s", visits.ends ? Json(visits.total.value()) : Json(nullptr)},
                {"states", states}}
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

}  // namespace windtunnel::report
