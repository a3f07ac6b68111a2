#include "windtunnel/validate/train_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::validate {
namespace {

using model::Measurements;
using model::PublishedRow;

/// A text of the row's file, else of its software family.
std::optional<std::string> default_text(const PublishedRow& row, const Measurements& measurements,
                                        std::optional<std::string> model::RowDefaults::*member) {
    for (const std::string& key : {row.file + '/' + row.software, row.file})
        if (const auto found = measurements.file_defaults.find(key);
            found != measurements.file_defaults.end() && found->second.*member)
            return found->second.*member;
    const auto found = measurements.software_defaults.find(row.software);
    return found == measurements.software_defaults.end() ? std::nullopt : found->second.*member;
}

/// Printed MFU or TFLOP/s as a fraction of the peak.
std::optional<double> measured_utilisation(const PublishedRow& row, const train::StepResult& step) {
    if (row.tflops_per_card && step.peak_used.value() > 0.0)
        return *row.tflops_per_card * base::tera / step.peak_used.value();
    return row.mfu ? row.mfu : row.hfu;
}

double predicted_utilisation(const PublishedRow& row, const Measurements& measurements, const train::StepResult& step) {
    const std::string definition = default_text(row, measurements, &model::RowDefaults::flops_definition)
                                       .value_or(row.tflops_per_card || row.mfu ? "full" : "hardware");
    if (definition == "hardware") return step.mfu > 0.0 ? step.mfu_full_attention * step.hfu / step.mfu : step.hfu;
    return definition == "causal" ? step.mfu : step.mfu_full_attention;
}

/// What the row's kind of memory counts: the device, what the allocator reserved or handed out, or the closed form of a
/// paper (states of the layers and activations of the first stage).
Bytes predicted_memory(const PublishedRow& row, const Measurements& measurements, const RowJob& row_job,
                       const train::UnitCosts& costs) {
    const auto stages = train::stage_memory(row_job.job, row_job.layout, costs);
    const std::string kind = memory_kind_of(row, measurements);
    Bytes most{0.0};
    if (kind == "formula") {
        const train::StageMemory& first = stages.front();
        const double layers =
            costs.dense_layer.parameters * row_job.job.transformer.num_layers / row_job.layout.pipeline_parallel;
        const double held = layers + costs.embedding.parameters;
        const double share = held <= 0.0 ? 1.0 : layers / held;  // the closed form leaves the embedding out
        return (first.weights + first.gradients + first.optimizer) * share + first.activations;
    }
    for (const train::StageMemory& stage : stages) {
        const Bytes allocated = stage.allocated();
        const Bytes bytes = kind == "allocated"  ? allocated
                            : kind == "reserved" ? allocated * (1.0 + row_job.job.efficiency.memory_fragmentation)
                                                 : stage.total();
        most = std::max(most, bytes);
    }
    return most;
}

struct Predictions {
    std::string problem;
    train::StepResult step;
    Bytes memory;
    bool fits = true;
};

}  // namespace

std::string memory_kind_of(const PublishedRow& row, const Measurements& measurements) {
    return default_text(row, measurements, &model::RowDefaults::memory_kind).value_or("device");
}

std::optional<double> RowResult::relative_error() const {
    if (!predicted || !measured) return std::nullopt;
    return quantity == "oom" || *measured == 0.0 ? *predicted - *measured : *predicted / *measured - 1.0;
}

bool RowResult::is_outside() const {
    if (!tolerance) return false;
    if (!predicted || !measured) return true;
    const double scale = tolerance_is_absolute ? 1.0 : std::abs(*measured);
    return !(std::abs(*predicted - *measured) <= *tolerance * scale);
}

std::vector<RowResult> run_row(const PublishedRow& row, const Measurements& measurements) {
    std::vector<RowResult> lines;
    const RowJob job = row_job(row, measurements);
    Predictions predicted;
    predicted.problem = job.problem;
    if (predicted.problem.empty()) {
        const train::UnitCosts costs = train::unit_costs(job.job, train::unit_key(job.layout));
        predicted.step = train::step_result(job.job, job.layout, costs);
        if (!std::isfinite(predicted.step.step_time.value()))
            predicted.problem = "the accelerator file lacks a rate that the layout needs";
        predicted.memory = predicted_memory(row, measurements, job, costs);
        predicted.fits = train::memory_verdict(job.job, job.layout, costs).feasible();
    }
    const auto add = [&](const char* quantity, double measured, double prediction, double relative_error_90) {
        RowResult line{row.id, row.file, family_of(row),          quantity,          {},         measured,
                       {},     {},       model::used_to_fit(row), predicted.problem, job.assumed};
        if (predicted.problem.empty()) {
            line.predicted = prediction;
            if (relative_error_90 > 0.0) {
                line.low = prediction * std::max(0.0, 1.0 - relative_error_90);
                line.high = prediction * (1.0 + relative_error_90);
            }
        }
        lines.push_back(std::move(line));
    };
    if (const auto step_time = measured_step_time_s(row))
        add("step_time_s", *step_time, predicted.step.step_time.value(), predicted.step.relative_error_90);
    else if (const auto utilisation = measured_utilisation(row, predicted.step))
        add("mfu", *utilisation, predicted_utilisation(row, measurements, predicted.step),
            predicted.step.relative_error_90);
    if (row.memory_gib)
        add("memory_bytes", *row.memory_gib * base::gib, predicted.memory.value(), 0.0);
    else if (row.memory_gb)
        add("memory_bytes", *row.memory_gb * base::giga, predicted.memory.value(), 0.0);
    if (row.oom) add("oom", *row.oom ? 1.0 : 0.0, predicted.fits ? 0.0 : 1.0, 0.0);
    if (lines.empty())
        lines.push_back({row.id,
                         row.file,
                         family_of(row),
                         "step_time_s",
                         {},
                         {},
                         {},
                         {},
                         model::used_to_fit(row),
                         "the row prints no result that the model gives",
                         job.assumed});
    return lines;
}

std::vector<RowResult> run_rows(std::span<const PublishedRow> rows, const Measurements& measurements) {
    std::vector<RowResult> results;
    for (const PublishedRow& row : rows)
        for (RowResult& line : run_row(row, measurements)) results.push_back(std::move(line));
    return results;
}

std::vector<FamilyError> family_errors(std::span<const RowResult> results, std::span<const model::FamilyLimit> limits) {
    struct Errors {
        std::vector<double> all, not_fitted;
        int without = 0, outside = 0;
    };
    std::map<std::pair<std::string, std::string>, Errors> groups;
    for (const RowResult& line : results)
        for (const std::string& family : {std::string{"all"}, line.family}) {
            Errors& errors = groups[{line.quantity, family}];
            errors.outside += line.is_outside() ? 1 : 0;
            if (const auto error = line.relative_error()) {
                errors.all.push_back(std::abs(*error));
                if (!line.used_to_fit) errors.not_fitted.push_back(std::abs(*error));
            } else {
                ++errors.without;
            }
        }
    const auto mean = [](const std::vector<double>& values) {
        return values.empty() ? 0.0
                              : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    };
    // Nearest rank: the smallest value with at least that share of the rows at or below it.
    const auto quantile = [](const std::vector<double>& sorted, double share) {
        if (sorted.empty()) return 0.0;
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
        return sorted[std::max<std::size_t>(rank, 1) - 1];
    };
    std::vector<FamilyError> table;
    for (auto& [key, errors] : groups) {
        std::sort(errors.all.begin(), errors.all.end());
        FamilyError line{key.second,
                         key.first,
                         static_cast<int>(errors.all.size()),
                         errors.without,
                         mean(errors.all),
                         quantile(errors.all, 0.5),
                         quantile(errors.all, 0.9),
                         errors.all.empty() ? 0.0 : errors.all.back(),
                         mean(errors.not_fitted),
                         static_cast<int>(errors.not_fitted.size()),
                         {}};
        for (const model::FamilyLimit& limit : limits)
            if (limit.family == line.family && limit.quantity == line.quantity) line.limit = limit.mean;
        line.num_outside = errors.outside;
        table.push_back(std::move(line));
    }
    std::stable_sort(table.begin(), table.end(), [](const FamilyError& a, const FamilyError& b) {
        return a.quantity != b.quantity ? a.quantity < b.quantity : (a.family == "all") > (b.family == "all");
    });
    return table;
}

}  // namespace windtunnel::validate
