#pragma once
/// What differs between result files: inputs, and each number with its difference and interval.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/report/result_file.hpp"

namespace windtunnel::report {

/// One number that two files both hold.
struct Difference {
    std::string table;
    std::string row;  ///< labels of the row, or its number
    std::string quantity;
    std::string units;
    double first = 0.0;
    double second = 0.0;
    /// Half-width of the 95 % interval of second - first from both standard errors; empty: a number without one.
    std::optional<double> half_width_95;
};

/// Numbers of tables that both files hold, where they differ. Rows are matched by their text and enum cells where these
/// are unique, else by number. A column `x_standard_error_s` belongs to `x_s`, `x_standard_error` to `x`.
[[nodiscard]] std::vector<Difference> differences(const ResultFile& first, const ResultFile& second);

/// "plan: a.toml and b.toml differ", "seed: 1 and 2", "only the first has a table avail/causes".
[[nodiscard]] std::vector<std::string> differing_inputs(const ResultFile& first, const ResultFile& second);

[[nodiscard]] std::string comparison_text(const ResultFile& first, const ResultFile& second);
[[nodiscard]] std::string comparison_json(const ResultFile& first, const ResultFile& second);

}  // namespace windtunnel::report
