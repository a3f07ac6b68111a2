#include "windtunnel/validate/engine_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windtunnel::validate {
namespace {

double penalty(double log_ratio) {
    constexpr double round = 0.05, far = 0.7;  // nearly a factor of two
    const double r = std::abs(log_ratio);
    if (r < round) return 0.5 * r * r / round;
    const double linear = r - 0.5 * round;
    return r < far ? linear : far - 0.5 * round + 0.5 * (r - far);
}

const model::EngineParameter* parameter_named(const std::string& name) {
    for (const model::EngineParameter& parameter : model::engine_parameters())
        if (parameter.name == name) return &parameter;
    return nullptr;
}

}  // namespace

double fit_loss(std::span<const FitRow> rows, const model::EngineEfficiency& set, const EngineFitRule& rule) {
    double sum = 0.0, weights = 0.0;
    for (const FitRow& fit : rows)
        for (const ServeQuantity& quantity : predict(*fit.row, fit.job, set)) {
            const double weight = quantity.name == "ttft_s" ? rule.first_token_weight : 1.0;
            sum += weight * penalty(std::log(std::max(quantity.predicted, 1e-12) / quantity.measured));
            weights += weight;
        }
    return weights > 0.0 ? sum / weights : 0.0;
}

model::EngineEfficiency fit_engine(std::span<const FitRow> rows, const model::EngineEfficiency& start,
                                   const EngineFitRule& rule) {
    model::EngineEfficiency best = start;
    if (rows.empty()) return best;
    std::vector<const model::EngineParameter*> moved;
    for (const std::string& name : rule.parameters)
        if (const auto* parameter = parameter_named(name); parameter != nullptr && parameter->get(start) > 0.0)
            moved.push_back(parameter);
    const auto loss = [&](const model::EngineEfficiency& set) {
        double prior = 0.0;
        for (const model::EngineParameter* parameter : moved) {
            const double away = std::log(parameter->get(set) / parameter->get(start));
            prior += away * away;
        }
        return fit_loss(rows, set, rule) +
               rule.prior_weight * prior / std::max<double>(1.0, static_cast<double>(moved.size()));
    };
    double least = loss(best), step = std::log(1.5);
    std::vector<double> direction(moved.size(), 1.0);
    for (int sweep = 0; sweep < rule.most_sweeps && step > std::log(1.01); ++sweep) {
        const double before = least;
        for (std::size_t p = 0; p < moved.size(); ++p)
            for (int turn = 0; turn < 2; ++turn) {
                model::EngineEfficiency trial = best;
                const double value = moved[p]->get(best) * std::exp(direction[p] * step);
                moved[p]->put(trial, std::clamp(value, std::max(moved[p]->least, 1e-9), moved[p]->most));
                const double trial_loss = loss(trial);
                if (trial_loss < least) {
                    least = trial_loss;
                    best = trial;
                    break;
                }
                direction[p] = -direction[p];
            }
        if (before - least < 1e-3 * least) step *= 0.6;
    }
    return best;
}

std::string engine_set_text(const model::EngineEfficiency& set, const std::vector<std::string>& fitted,
                            const std::string& about) {
    std::string text = about + fmt::format("name = \"{}\"\nevidence = \"fitted\"\n", set.name);
    for (const model::EngineParameter& parameter : model::engine_parameters()) {
        const double value = parameter.get(set);
        const double scale = parameter.unit == "us" ? 1e6 : 1e3;
        const std::string number = parameter.unit.empty() ? fmt::format("{:.4g}", value)
                                                          : fmt::format("\"{:.4g} {}\"", value * scale, parameter.unit);
        const bool moved = std::find(fitted.begin(), fitted.end(), parameter.name) != fitted.end();
        text += fmt::format("{} = {}{}\n", parameter.name, number, moved ? "   # fitted" : "");
    }
    return text + fmt::format("relative_error_90 = {:.3g}\n", set.relative_error_90);
}

std::vector<FitRow> fit_rows(const model::ServeMeasurements& measurements) {
    std::vector<FitRow> rows;
    for (const model::ServeRow& row : measurements.rows) {
        if (!row.shipped) continue;
        ServeJob job = serve_job(row, measurements);
        if (may_be_fitted(job) && !predict(row, job, job.efficiency).empty()) rows.push_back({&row, std::move(job)});
    }
    return rows;
}

std::vector<LeftOut> left_out_of(const model::ServeMeasurements& measurements) {
    std::vector<LeftOut> all;
    for (const model::EngineRule& rule : measurements.rules) {
        if (rule.every_row) {
            for (const model::ServeRow& row : measurements.rows) {
                const ServeJob job = serve_job(row, measurements);
                if (row.shipped && may_be_fitted(job) && rule_matches(rule, row, job) &&
                    !predict(row, job, job.efficiency).empty())
                    all.push_back({row.file, -1, rule.name, row.id});
            }
        } else if (rule.start.empty() && !rule.parameters.empty()) {
            for (const std::string& file : rule.files)
                for (int fold = 0; fold < 5; ++fold) all.push_back({file, fold, {}, {}});
        }
    }
    return all;
}

std::vector<RowResult> run_left_out(const LeftOut& left, const model::ServeMeasurements& measurements) {
    const std::vector<FitRow> rows = fit_rows(measurements);
    const bool one = !left.row.empty();
    const auto is_out = [&](const FitRow& fit) {
        return one ? fit.row->id == left.row : model::model_fold(fit.row->model_name()) == left.fold;
    };
    std::vector<model::EngineRule> rules;  // those that speak of the file
    for (const model::EngineRule& rule : measurements.rules)
        if (one ? rule.name == left.rule && rule.every_row
                : !rule.every_row && !rule.parameters.empty() &&
                      std::find(rule.files.begin(), rule.files.end(), left.file) != rule.files.end())
            rules.push_back(rule);
    const std::vector<model::EngineEfficiency> sets = fit_rules(rows, rules, is_out);
    std::vector<RowResult> lines;
    for (const FitRow& fit : rows) {
        if (!is_out(fit) || fit.row->file != left.file) continue;
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (!rule_matches(rules[r], *fit.row, fit.job)) continue;
            std::string family = left.file + "/unseen_models";
            if (one) family = sets[r].name + "/leave_one_out";
            if (!one && !fit.row->engine().empty()) family += "/" + fit.row->engine();
            for (RowResult& line : serve_lines(*fit.row, fit.job, sets[r], family, false))
                lines.push_back(std::move(line));
            break;
        }
    }
    return lines;
}

std::vector<std::pair<std::string, std::string>> fitted_files(const model::ServeMeasurements& measurements) {
    const std::vector<FitRow> rows = fit_rows(measurements);
    const std::vector<model::EngineRule>& rules = measurements.rules;
    std::vector<model::EngineEfficiency> sets = fit_rules(rows, rules, [](const FitRow&) { return false; });
    std::vector<std::vector<double>> errors(rules.size());
    std::vector<std::size_t> used(rules.size(), 0);
    for (const FitRow& fit : rows)
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (!rule_matches(rules[r], *fit.row, fit.job)) continue;
            const bool fitted = rules[r].every_row || model::used_to_fit(*fit.row);
            used[r] += fitted ? 1 : 0;
            if (fitted && !rules[r].every_row) break;
            for (const ServeQuantity& quantity : predict(*fit.row, fit.job, sets[r]))
                if (quantity.name != "ttft_s")
                    errors[r].push_back(std::abs(std::log(quantity.predicted / quantity.measured)));
            break;
        }
    std::vector<std::pair<std::string, std::string>> files;
    for (std::size_t r = 0; r < rules.size(); ++r) {
        if (rules[r].parameters.empty()) continue;
        std::sort(errors[r].begin(), errors[r].end());
        if (!errors[r].empty()) sets[r].relative_error_90 = std::expm1(errors[r][(errors[r].size() * 9 - 1) / 10]);
        const std::string about = fmt::format(
            "# Shares of an inference engine, fitted by `windtunnel validate serve --fit` to {} published rows that "
            "name it{};\n"
            "# values without \"fitted\" stayed at their start. Meaning and unit: docs/inputs.md, engine.\n",
            used[r], rules[r].every_row ? ", all of them" : " and whose hash is below 4 modulo 10");
        files.emplace_back(rules[r].name, engine_set_text(sets[r], rules[r].parameters, about));
    }
    return files;
}

}  // namespace windtunnel::validate
