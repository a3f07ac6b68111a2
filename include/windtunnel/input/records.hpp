#pragma once
/// Published measurements from files: record files (JSON) and the folder that says how to read them.
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/measurement.hpp"

namespace windtunnel::input {

/// The rows of a record file: {"records": [{"id": ..., "model": {...}, "hardware": {...}, "parallel": {...},
/// "measured": {...},
/// ...}]}. null = not printed; unknown keys of a record are notes of its author and are skipped. Findings are added for
/// each record that cannot be read; the others are returned.
[[nodiscard]] std::vector<model::PublishedRow> parse_records(const std::string& text, const std::string& path,
                                                             std::vector<base::Finding>& findings);

/// One record file. Throws base::InputError.
[[nodiscard]] std::vector<model::PublishedRow> read_records(const std::string& path);

/// The folder of inputs (`inputs/` of a checkout, `share/windtunnel/inputs` installed): every measurements/train/*.json
/// with defaults.toml, calibrations.toml and limits.toml beside, accelerators/ and their aliases. `record_files`
/// replace the shipped rows. Throws base::InputError.
[[nodiscard]] model::Measurements read_measurements(const std::string& inputs_folder,
                                                    const std::vector<std::string>& record_files);

/// What the fit behind a calibration file says of its values. Throws base::InputError.
[[nodiscard]] model::FitRecord read_fit_record(const std::string& path);

}  // namespace windtunnel::input
