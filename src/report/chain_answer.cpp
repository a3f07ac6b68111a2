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
std::string unit_of(const model::ChainMeasure& measure, const std::string& time_unit) {
    switch (measure.kind) {
        case model::MeasureKind::mean_time:
            return time_unit;
        case model::MeasureKind::frequency:
            return "1/" + time_unit;
        default:
            return "";
    }
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
            const std::string value =
                std::isinf(measure.value) ? "never certain" : fmt::format("{:.12g}", measure.value);
            table.add_row({measure.name, value, unit_of(one.chain.measures[i], one.chain.time_unit),
                           fmt::format("{:.0e}", measure.error), measure.method});
        }
        text += table.text();
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
                                {"unit", unit_of(one.chain.measures[i], one.chain.time_unit)},
                                {"error", number(measure.error)},
                                {"method", measure.method}});
        }
        list.push_back({{"title", one.chain.title},
                        {"variant", one.chain.variant},
                        {"time_unit", one.chain.time_unit},
                        {"states", one.answer.num_states},
                        {"transitions", one.answer.num_transitions},
                        {"closed_classes", one.answer.num_closed_classes},
                        {"residual", one.answer.residual},
                        {"measures", measures}});
    }
    return Json{{"chains", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
