#pragma once
/// The documentation page of all result tables, made from the schemas that the writer uses.
#include <string>
#include <vector>

#include "windtunnel/store/table.hpp"

namespace windtunnel::store {

/// What is wrong with a schema: no units, a name twice, an enumeration without names. Empty when it is right.
/// The writer refuses a schema with a fault.
[[nodiscard]] std::vector<std::string> schema_faults(const TableSchema& schema);

/// Markdown: a section for each table, a row for each column. Ends with the tables of /provenance.
[[nodiscard]] std::string schema_page(const std::vector<TableSchema>& schemas);

}  // namespace windtunnel::store
