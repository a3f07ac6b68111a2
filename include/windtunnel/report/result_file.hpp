#pragma once
/// A result file for people and as JSON: any table, whatever study wrote it.
#include <cstddef>
#include <string>
#include <vector>

#include "windtunnel/store/provenance.hpp"
#include "windtunnel/store/table.hpp"

namespace windtunnel::report {

/// What of a result file is printed.
struct ResultFile {
    std::string path;
    bool whole = true;
    store::Provenance provenance;
    std::vector<store::Table> tables;     ///< the first rows of each
    std::vector<std::uint64_t> num_rows;  ///< all rows of each
};

/// One cell for people (human units by the column's unit), exact where the unit is a count.
[[nodiscard]] std::string cell_text(const store::Table& table, std::size_t column, std::size_t row);

/// Rows as lines; a table of one row as a list of name and value.
[[nodiscard]] std::string text(const store::Table& table);
[[nodiscard]] std::string text(const ResultFile& file);

/// Exact values: {"path", "complete", "provenance", "tables": {path: {"units", "num_rows", "rows"}}}. A number that is
/// not finite is null.
[[nodiscard]] std::string json(const ResultFile& file);

}  // namespace windtunnel::report
