/// From the records of a calibration to what people read and to tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "rows.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/study/calibrate_study.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

double mean(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

double relative(double logarithm) {
    return std::abs(std::exp(logarithm) - 1.0);
}

/// Half-width that holds 90 of 100 new rows like these, from errors of rows that a fit has not seen: the k-th smallest
/// of n with k = 0.9 (n + 1), rounded up; with fewer than nine rows 1.5 times the largest.
/// Source: split conformal prediction: Vovk, Gammerman, Shafer, 2005.
double half_width_90(std::vector<double> errors) {
    if (errors.empty()) return 0.0;
    std::sort(errors.begin(), errors.end());
    const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size() + 1)));
    return rank <= errors.size() ? errors[rank - 1] : 1.5 * errors.back();
}

void add_range(model::Efficiency& efficiency, const calibrate::MeasuredStep& row, bool first) {
    const auto widen = [first](int& least, int& most, int value) {
        least = first ? value : std::min(least, value);
        most = first ? value : std::max(most, value);
    };
    widen(efficiency.fitted_min_cards, efficiency.fitted_max_cards, row.layout.cards);
    widen(efficiency.fitted_min_hidden, efficiency.fitted_max_hidden, row.job.transformer.hidden);
    widen(efficiency.fitted_min_sequence, efficiency.fitted_max_sequence, row.job.sequence_length);
}

}  // namespace

std::vector<double> CalibrateStudy::held_out(std::uint32_t set, const State& state) const {
    std::vector<double> errors;
    for (const Record& sample : state.samples)
        if (sample.set == set && sample.number < options_.folds)
            for (std::size_t i = 1; i < sample.numbers.size(); i += 2) errors.push_back(relative(sample.numbers[i]));
    return errors;
}

SetAnswer CalibrateStudy::set_answer(std::uint32_t number, const State& state) const {
    const Set& set = sets_->at(number);
    const calibrate::StepSet& steps = set.steps;
    SetAnswer answer;
    answer.spec = set.spec;
    const model::Efficiency base = base_of(number, state.final);
    const auto rows = calibrate::used_rows(steps);
    const auto all = calibrate::candidates(steps, base, rows);
    answer.efficiency = efficiency_of(number, state.final);
    if (set.kept) {  // memory is none of this fit's business
        answer.efficiency.memory_context = set.kept->memory_context;
        answer.efficiency.memory_fragmentation = set.kept->memory_fragmentation;
    }
    answer.efficiency.evidence =
        state.final.at(number).names.empty() ? model::Evidence::assumed : model::Evidence::fitted;
    for (const calibrate::Candidate& candidate : all) {
        const auto& names = state.final.at(number).names;
        const auto found = std::find(names.begin(), names.end(), candidate.name);
        const calibrate::Parameter* parameter = calibrate::find_parameter(candidate.name);
        model::FittedValue value{candidate.name,        parameter != nullptr ? std::string{parameter->unit} : "1",
                                 candidate.value.prior, candidate.value.prior,
                                 candidate.value.lower, candidate.value.upper};
        value.num_rows = candidate.num_rows;
        value.assumed = found == names.end();
        if (value.assumed && parameter != nullptr && parameter->get(base) == 0.0) value.value = value.prior = 0.0;
        value.lower = std::min(value.lower, value.value);
        if (!value.assumed) {
            const auto place = static_cast<std::size_t>(found - names.begin());
            value.value = state.final[number].values[place];
            std::vector<double> samples;
            for (const Record& sample : state.samples)
                if (sample.set == number && sample.number >= options_.folds && place < sample.values.size())
                    samples.push_back(sample.values[place]);
            if (samples.empty()) samples.push_back(value.value);
            const calibrate::Interval interval = calibrate::percentile_interval(samples);
            value.low = std::min(interval.low, value.value);
            value.high = std::max(interval.high, value.value);
        } else {
            value.low = value.high = value.value;
        }
        answer.record.values.push_back(std::move(value));
    }
    std::vector<double> fitted, judging, residuals;
    std::set<std::uint64_t> hashes;
    for (const calibrate::MeasuredStep& row : steps.rows) {
        const double residual = std::log(calibrate::predicted_s(row, answer.efficiency) / row.measured_s);
        residuals.push_back(residual);
        (row.used ? fitted : judging).push_back(relative(residual));
        if (!row.used) continue;
        add_range(answer.efficiency, row, hashes.empty());
        hashes.insert(row.hash);
    }
    for (const std::uint64_t hash : hashes) answer.record.rows.push_back(base::hex_text(hash));
    answer.num_fitted_rows = static_cast<int>(fitted.size());
    answer.num_judging_rows = static_cast<int>(judging.size());
    answer.error_fitted = mean(fitted);
    answer.error_judging = mean(judging);
    const std::vector<double> unseen = held_out(number, state);
    answer.error_held_out = mean(unseen);
    answer.efficiency.step_time_error_90 = half_width_90(unseen);
    answer.drift = calibrate::drift_of(residuals);
    std::string content = set.spec.name;
    for (const std::string& row : answer.record.rows) content += row;
    for (const model::FittedValue& value : answer.record.values)
        content += fmt::format("{}{}", value.name, value.value);
    answer.version = base::hex_text(base::fnv1a_64(content)).substr(0, 8);
    answer.efficiency.version = answer.version;
    return answer;
}

CalibrateAnswer CalibrateStudy::answer(const State& state) const {
    CalibrateAnswer answer;
    for (std::uint32_t set = 0; set < sets_->size(); ++set) {
        answer.sets.push_back(set_answer(set, state));
        answer.num_fitted_values += model::num_fitted(answer.sets.back().record);
    }
    for (const Record& record : state.sources)
        for (std::size_t i = 0; i + 1 < record.numbers.size(); i += 2) {
            const auto& rows = sets_->at(record.set).steps.rows;
            const auto& row = rows.at(static_cast<std::size_t>(record.numbers[i]));
            answer.left_out.push_back({row.source, row.id, record.numbers[i + 1],
                                       calibrate::predicted_s(row, answer.sets[record.set].efficiency), row.measured_s,
                                       row.used});
        }
    std::stable_sort(answer.left_out.begin(), answer.left_out.end(),
                     [](const LeftOutRow& a, const LeftOutRow& b) { return a.source < b.source; });
    return answer;
}

std::vector<store::Table> CalibrateStudy::tables(const State& state) const {
    const CalibrateAnswer found = answer(state);
    Rows sets{calibrate_sets_schema()}, values{calibrate_parameters_schema()}, residuals{calibrate_residuals_schema()},
        versions{calibrate_versions_schema()}, left_out{calibrate_left_out_schema()};
    if (options_.history.columns.size() == calibrate_versions_schema().columns.size()) {
        const auto& columns = options_.history.columns;
        for (std::size_t row = 0; row < options_.history.num_rows(); ++row)
            versions.text(std::get<std::vector<std::string>>(columns[0])[row])
                .text(std::get<std::vector<std::string>>(columns[1])[row])
                .text(std::get<std::vector<std::string>>(columns[2])[row])
                .real(std::get<std::vector<double>>(columns[3])[row]);
    }
    for (std::size_t index = 0; index < found.sets.size(); ++index) {
        const SetAnswer& set = found.sets[index];
        sets.text(set.spec.name)
            .text(set.version)
            .integer(set.num_fitted_rows)
            .integer(set.num_judging_rows)
            .real(set.error_fitted)
            .real(set.error_held_out)
            .real(set.error_judging)
            .real(set.efficiency.step_time_error_90)
            .real(set.drift.mean)
            .real(set.drift.sigma)
            .integer(set.drift.is_large() ? 1 : 0);
        const Set& own = sets_->at(index);
        for (const model::FittedValue& value : set.record.values) {
            values.text(set.spec.name)
                .text(value.name)
                .text(value.unit)
                .real(value.value)
                .real(value.prior)
                .real(value.lower)
                .real(value.upper)
                .real(value.low)
                .real(value.high)
                .integer(value.num_rows)
                .integer(value.assumed ? 1 : 0);
            if (const calibrate::Parameter* parameter = calibrate::find_parameter(value.name); parameter && own.kept)
                versions.text(set.spec.name).text(own.kept->version).text(value.name).real(parameter->get(*own.kept));
        }
        for (const model::FittedValue& value : set.record.values)
            versions.text(set.spec.name).text(set.version).text(value.name).real(value.value);
        for (const calibrate::MeasuredStep& row : own.steps.rows) {
            const double predicted = calibrate::predicted_s(row, set.efficiency);
            residuals.text(set.spec.name)
                .text(row.source)
                .text(row.id)
                .text(base::hex_text(row.hash))
                .integer(row.used ? 1 : 0)
                .real(row.measured_s)
                .real(predicted)
                .real(std::log(predicted / row.measured_s));
        }
    }
    for (const LeftOutRow& row : found.left_out)
        left_out.text(row.source)
            .text(row.id)
            .integer(row.used ? 1 : 0)
            .real(row.measured_s)
            .real(row.reported_s)
            .real(row.left_out_s);
    std::vector<store::Table> tables;
    for (Rows* rows : {&sets, &values, &residuals, &versions, &left_out}) tables.push_back(std::move(*rows).take());
    return tables;
}

}  // namespace windtunnel::study
