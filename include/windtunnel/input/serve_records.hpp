#pragma once
/// Published measurements of inference engines from files: tables (CSV) and points (JSON), with the folder that says
/// how to read them.
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/serve_measurement.hpp"

namespace windtunnel::input {

/// The rows of a CSV table (RFC 4180, header first). The columns of the header tell what kind of table it is; cells of
/// columns that hold numbers must be empty or finite and not negative. Findings are added for each row that cannot be
/// used; the others are returned. `file` of a row is the name of the shipped table of that kind, whatever the path.
[[nodiscard]] std::vector<model::ServeRow> parse_serve_table(const std::string& text, const std::string& path,
                                                             std::vector<base::Finding>& findings);

/// Points: {"points": [{"id": ..., "model": ..., "hardware": ..., "phase": ..., "quantities": {...}, ...}]}.
[[nodiscard]] std::vector<model::ServeRow> parse_points(const std::string& text, const std::string& path,
                                                        std::vector<base::Finding>& findings);

/// The folder of inputs with measurements/serve: tables, points, models.toml, calibrations.toml, limits.toml.
/// `files` replace the shipped rows (CSV or JSON). Throws base::InputError.
[[nodiscard]] model::ServeMeasurements read_serve_measurements(const std::string& inputs_folder,
                                                               const std::vector<std::string>& files);

}  // namespace windtunnel::input
