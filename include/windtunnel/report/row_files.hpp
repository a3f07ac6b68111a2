#pragma once
/// A published row as input files: what `train` needs to give the same step time as `validate`.
#include <string>
#include <vector>

#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::report {

struct NamedText {
    std::string name;  ///< of the file, without folder
    std::string text;
};

/// plan.toml, model.toml, cluster.toml, accelerator.toml, and calibration.toml where a set stands for the row. All
/// numbers are exact. `job` has no problem; `accelerator` and `calibration` are the texts of the shipped files behind
/// it, `calibration` empty: the default set.
[[nodiscard]] std::vector<NamedText> row_files(const model::PublishedRow& row, const validate::RowJob& job,
                                               const std::string& accelerator, const std::string& calibration);

}  // namespace windtunnel::report
