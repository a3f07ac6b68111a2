#pragma once
/// Tables of results: plain 1-D columns of equal length. The same description serves writer, reader, tests and docs.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace windtunnel::store {

enum class ColumnType { real, integer, text, enumeration };

struct ColumnSchema {
    std::string name;  ///< HDF5 dataset name; ends in its unit where it has one: step_time_s, memory_bytes
    ColumnType type = ColumnType::real;
    std::string units;                    ///< "s", "byte", "1", ... never empty
    std::string long_name;                ///< one line for people
    std::vector<std::string> enum_names;  ///< enumeration: value i is enum_names[i]
};

struct TableSchema {
    std::string path;  ///< below /results, for example "search/best"
    std::string long_name;
    std::vector<ColumnSchema> columns;
};

/// One column's values: double for real, int64 for integer and enumeration, UTF-8 for text.
using ColumnValues = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;

struct Table {
    TableSchema schema;
    std::vector<ColumnValues> columns;  ///< in schema order, equal lengths

    [[nodiscard]] std::size_t num_rows() const;
};

/// An empty table with a vector of the right kind for each column.
[[nodiscard]] Table empty_table(TableSchema schema);

}  // namespace windtunnel::store
