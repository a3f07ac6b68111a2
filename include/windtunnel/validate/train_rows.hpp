#pragma once
/// Published training runs against the model: a job and a layout from each row, prediction beside measurement.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "windtunnel/model/measurement.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::validate {

/// A row as the model sees it.
struct RowJob {
    train::Job job;
    model::Layout layout;
    std::vector<std::string> assumed;  ///< fields that the source does not print
    std::string problem;               ///< why the row cannot be simulated; then nothing else counts
};
/// The first rule that stands for the row; null: the default set.
[[nodiscard]] const model::CalibrationRule* calibration_of(const model::PublishedRow& row,
                                                           const model::Measurements& measurements);
[[nodiscard]] RowJob row_job(const model::PublishedRow& row, const model::Measurements& measurements);

/// What the row's memory counts: allocated, reserved, device, or formula (a closed form of a paper).
[[nodiscard]] std::string memory_kind_of(const model::PublishedRow& row, const model::Measurements& measurements);

/// Printed step time, else the one that follows from printed tokens/s or from the row's own arithmetic.
[[nodiscard]] std::optional<double> measured_step_time_s(const model::PublishedRow& row);

/// One line of the table.
struct RowResult {
    std::string id, file, family, quantity;  ///< quantity: step_time_s, memory_bytes, oom, mfu
    std::optional<double> predicted, measured;
    std::optional<double> low, high;  ///< 90 % interval of the prediction
    bool used_to_fit = false;
    std::string reason;  ///< why there is no prediction
    std::vector<std::string> assumed;
    std::optional<double> tolerance{};   ///< of a known answer: largest error
    bool tolerance_is_absolute = false;  ///< of predicted - measured

    /// predicted / measured - 1; for oom, and where 0 is measured: predicted - measured.
    [[nodiscard]] std::optional<double> relative_error() const;
    /// A known answer that is missed by more than its tolerance, or that has no prediction.
    [[nodiscard]] bool is_outside() const;
};

/// One row: a line per quantity that it prints (at least one line).
[[nodiscard]] std::vector<RowResult> run_row(const model::PublishedRow& row, const model::Measurements& measurements);
/// All rows, in order.
[[nodiscard]] std::vector<RowResult> run_rows(std::span<const model::PublishedRow> rows,
                                              const model::Measurements& measurements);

/// accelerator/dtype/dense|moe/software
[[nodiscard]] std::string family_of(const model::PublishedRow& row);

/// Errors of one family and quantity.
struct FamilyError {
    std::string family, quantity;
    int num_rows = 0;                                                   ///< with a prediction
    int num_without = 0;                                                ///< without
    double mean = 0.0, median = 0.0, percentile_90 = 0.0, worst = 0.0;  ///< of absolute relative errors
    double mean_not_fitted = 0.0;                                       ///< of rows that were not used to fit
    int num_not_fitted = 0;
    std::optional<double> limit;  ///< of the mean
    int num_outside = 0;          ///< known answers that are missed
    [[nodiscard]] bool exceeds() const { return num_outside > 0 || (limit && num_rows > 0 && mean > *limit); }
};
/// Sorted by quantity and family; a row "all" for each quantity leads.
[[nodiscard]] std::vector<FamilyError> family_errors(std::span<const RowResult> results,
                                                     std::span<const model::FamilyLimit> limits);

}  // namespace windtunnel::validate
