#include "windtunnel/report/calibration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "windtunnel/calibrate/parameters.hpp"
#include "windtunnel/report/model_file.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;
using calibrate::Parameter;

std::string short_text(double value) {
    return fmt::format("{:.6g}", value);
}

/// The value as its key takes it: what is hidden instead of what is visible, times with their unit.
std::string key_value(const Parameter& parameter, const model::Efficiency& efficiency) {
    const double value = parameter.get(efficiency);
    if (parameter.unit == "1 - value") return short_text(1.0 - value);
    if (parameter.unit == "us" || parameter.unit == "ms")
        return fmt::format("\"{} {}\"", short_text(value), parameter.unit);
    return short_text(value);
}

std::string note_of(const study::SetAnswer& set, std::string_view name) {
    for (const model::FittedValue& value : set.record.values)
        if (value.name == name) return value.assumed ? "assumed: the data leave it at its prior" : "fitted";
    return set.spec.parent.empty() ? "assumed: prior" : "assumed: from " + set.spec.parent;
}

std::string hashes(const std::vector<std::string>& rows) {
    std::string text = "rows = [";
    for (std::size_t i = 0; i < rows.size(); ++i)
        text += (i % 6 == 0 ? "\n    " : " ") + fmt::format("\"{}\",", rows[i]);
    return text + "\n]\n";
}

std::string parameter_table(const model::FittedValue& value) {
    std::string text = fmt::format(
        "\n[[parameter]]\nname = {}\nunit = {}\nvalue = {}\nprior = {}\nlower = {}\nupper = {}\nrows = {}\n",
        toml_text(value.name), toml_text(value.unit), short_text(value.value), short_text(value.prior),
        short_text(value.lower), short_text(value.upper), value.num_rows);
    return text + (value.assumed ? "assumed = true\n"
                                 : fmt::format("low = {}\nhigh = {}\n", short_text(value.low), short_text(value.high)));
}

struct SourceErrors {
    double reported = 0.0, left_out = 0.0;
    int num_rows = 0;
};

/// Mean errors of the rows that only judge, by source and over all.
std::map<std::string, SourceErrors> errors_by_source(const study::CalibrateAnswer& answer) {
    std::map<std::string, SourceErrors> sources;
    for (const study::LeftOutRow& row : answer.left_out) {
        if (row.used) continue;
        for (const std::string& name : {row.source, std::string{"all"}}) {
            SourceErrors& source = sources[name];
            source.reported += std::abs(row.reported_s / row.measured_s - 1.0);
            source.left_out += std::abs(row.left_out_s / row.measured_s - 1.0);
            ++source.num_rows;
        }
    }
    for (auto& [name, source] : sources) {
        source.reported /= source.num_rows;
        source.left_out /= source.num_rows;
    }
    return sources;
}

}  // namespace

std::string calibration_toml(const study::SetAnswer& set) {
    const model::Efficiency& efficiency = set.efficiency;
    std::string text = fmt::format(
        "# {}. Made by `windtunnel calibrate` from step times of {} measured rows; {} others judge.\n"
        "# Priors, bounds and rules of the fit: docs/models/calibrate.md. Mean error: {} of the fitted rows, {} of "
        "their\n"
        "# folds left out, {} of the rows that only judge.\n"
        "name = {}\nversion = {}\nevidence = \"{}\"\n",
        set.spec.about, set.num_fitted_rows, set.num_judging_rows, percent(set.error_fitted),
        percent(set.error_held_out), percent(set.error_judging), toml_text(set.spec.name), toml_text(set.version),
        efficiency.evidence == model::Evidence::fitted ? "fitted" : "assumed");
    for (const Parameter& parameter : calibrate::parameters())
        text += fmt::format("{} = {}   # {}\n", parameter.name, key_value(parameter, efficiency),
                            note_of(set, parameter.name));
    text +=
        fmt::format("memory_context = \"{} GB\"\nmemory_fragmentation = {}\n",
                    short_text(efficiency.memory_context.value() / 1e9), short_text(efficiency.memory_fragmentation));
    text += fmt::format(
        "fitted_min_cards = {}\nfitted_max_cards = {}\nfitted_min_hidden = {}\nfitted_max_hidden = {}\n"
        "fitted_min_sequence = {}\nfitted_max_sequence = {}\nfitted_models = \"{}\"\n",
        efficiency.fitted_min_cards, efficiency.fitted_max_cards, efficiency.fitted_min_hidden,
        efficiency.fitted_max_hidden, efficiency.fitted_min_sequence, efficiency.fitted_max_sequence, set.spec.models);
    text +=
        fmt::format("step_time_error_90 = {:.3f}   # holds 90 of 100 rows that a fit has not seen, from the folds\n",
                    efficiency.step_time_error_90);
    text += hashes(set.record.rows);
    for (const model::FittedValue& value : set.record.values) text += parameter_table(value);
    for (const model::FittedValue& value : set.record.values)
        if (constexpr std::string_view head = "release "; value.name.starts_with(head))
            text += fmt::format("\n[[release]]\nname = \"{}\"\nfactor = {}\n", value.name.substr(head.size()),
                                short_text(value.value));
    return text;
}

std::string left_out_toml(const study::CalibrateAnswer& answer) {
    std::string text =
        "# Step times of published rows by fits that have not seen any row of their source file, beside the shipped "
        "fit. Made\n"
        "# by `windtunnel calibrate --leave-one-source-out FILE`. Where reported_s is not what the program predicts, "
        "the fit\n"
        "# is older than the model or the calibrations.\n";
    for (std::size_t begin = 0; begin < answer.left_out.size();) {
        std::size_t end = begin;
        std::string ids, left_out, reported;
        for (; end < answer.left_out.size() && answer.left_out[end].source == answer.left_out[begin].source; ++end) {
            const study::LeftOutRow& row = answer.left_out[end];
            const char* gap = (end - begin) % 6 == 0 ? "\n    " : " ";
            ids += fmt::format("\n    {},", toml_text(row.id));
            left_out += fmt::format("{}{:.6e},", gap, row.left_out_s);
            reported += fmt::format("{}{:.6e},", gap, row.reported_s);
        }
        text += fmt::format("\n[[source]]\nfile = {}\nrows = [{}\n]\nleft_out_s = [{}\n]\nreported_s = [{}\n]\n",
                            toml_text(answer.left_out[begin].source), ids, left_out, reported);
        begin = end;
    }
    return text;
}

std::string calibration_text(const study::CalibrateAnswer& answer) {
    TextTable sets{
        {"set", "version", "fitted rows", "judging", "error fitted", "held out", "judging", "90 % +-", "drift"}};
    TextTable values{{"set", "value", "unit", "fit", "95 % interval", "prior", "bounds", "rows", ""}};
    for (const study::SetAnswer& set : answer.sets) {
        sets.add_row({set.spec.name, set.version, fmt::format("{}", set.num_fitted_rows),
                      fmt::format("{}", set.num_judging_rows), percent(set.error_fitted), percent(set.error_held_out),
                      percent(set.error_judging), percent(set.efficiency.step_time_error_90),
                      fmt::format("{:+.1f} sigma{}", set.drift.sigma > 0.0 ? set.drift.mean / set.drift.sigma : 0.0,
                                  set.drift.is_large() ? " DRIFTS: refit" : "")});
        for (const model::FittedValue& value : set.record.values)
            values.add_row({set.spec.name, value.name, value.unit, short_text(value.value),
                            value.assumed ? "" : fmt::format("{:.4g} to {:.4g}", value.low, value.high),
                            short_text(value.prior), fmt::format("{:.4g} to {:.4g}", value.lower, value.upper),
                            fmt::format("{}", value.num_rows), value.assumed ? "assumed" : ""});
    }
    std::string text = values.text() + "\n" + sets.text() + fmt::format("{} fitted values\n", answer.num_fitted_values);
    if (answer.left_out.empty()) return text;
    TextTable sources{{"source left out", "rows that judge", "reported error", "left out", "ratio"}};
    for (const auto& [name, errors] : errors_by_source(answer))
        sources.add_row({name, fmt::format("{}", errors.num_rows), percent(errors.reported), percent(errors.left_out),
                         fmt::format("{:.2f}{}", errors.left_out / errors.reported,
                                     errors.left_out > 2.0 * errors.reported ? " ABOVE 2" : "")});
    return text + "\n" + sources.text();
}

std::string calibration_json(const study::CalibrateAnswer& answer) {
    Json sets = Json::array();
    for (const study::SetAnswer& set : answer.sets) {
        Json values = Json::array();
        for (const model::FittedValue& value : set.record.values)
            values.push_back({{"name", value.name},
                              {"unit", value.unit},
                              {"value", value.value},
                              {"prior", value.prior},
                              {"lower", value.lower},
                              {"upper", value.upper},
                              {"low", value.low},
                              {"high", value.high},
                              {"rows", value.num_rows},
                              {"assumed", value.assumed}});
        sets.push_back({{"set", set.spec.name},
                        {"version", set.version},
                        {"fitted_rows", set.num_fitted_rows},
                        {"judging_rows", set.num_judging_rows},
                        {"error_fitted", set.error_fitted},
                        {"error_held_out", set.error_held_out},
                        {"error_judging", set.error_judging},
                        {"half_width_90", set.efficiency.step_time_error_90},
                        {"drift", set.drift.mean},
                        {"drift_sigma", set.drift.sigma},
                        {"drifts", set.drift.is_large()},
                        {"parameters", values},
                        {"rows", set.record.rows}});
    }
    Json sources = Json::array();
    for (const auto& [name, errors] : errors_by_source(answer))
        sources.push_back({{"source", name},
                           {"judging_rows", errors.num_rows},
                           {"reported_error", errors.reported},
                           {"left_out_error", errors.left_out}});
    const Json document{{"num_fitted_values", answer.num_fitted_values}, {"sets", sets}, {"left_out", sources}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
