#pragma once
/// Measured operator times from CSV files and the TOML file that says how to read them.
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/operator_table.hpp"

namespace windtunnel::input {

/// The shapes of a TOML file: [[table]] with name, file, class, keys, axes, quantities, terms, ... (see
/// inputs/measurements/operators/tables.toml). Findings are added for each table that cannot be read.
struct OperatorFile {
    model::OperatorTableShape shape;
    std::string file;                          ///< beside the TOML file
    std::map<std::string, std::string> where;  ///< only rows with these values
    std::string packed;                        ///< a column of "name=value;name=value" that is taken apart
    std::string wide;                          ///< columns "<wide><number>" become rows of the axis of this name
};
[[nodiscard]] std::vector<OperatorFile> parse_operator_shapes(const std::string& text, const std::string& path,
                                                              std::vector<base::Finding>& findings);

/// The [[limit]] of that file: family, median, percentile_90, reason.
[[nodiscard]] std::vector<model::OperatorLimit> parse_operator_limits(const std::string& text, const std::string& path,
                                                                      std::vector<base::Finding>& findings);

/// The rows of a CSV file (RFC 4180) as a shape reads them. Numbers must be finite; times must be >= 0, an empty field
/// or 0 is "not measured"; an empty number of an axis drops the row's use of that table with a finding.
[[nodiscard]] model::OperatorTable parse_operator_table(const OperatorFile& file, const std::string& csv,
                                                        const std::string& path, std::vector<base::Finding>& findings);

/// Every table that the TOML file names. With `csv_files`, only tables whose file has the name of one of them, read
/// from there. Throws base::InputError.
[[nodiscard]] model::OperatorTables read_operator_tables(const std::string& shapes_file,
                                                         const std::vector<std::string>& csv_files = {});

}  // namespace windtunnel::input
