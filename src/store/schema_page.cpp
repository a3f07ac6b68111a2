#include "windtunnel/store/schema_page.hpp"

#include <fmt/format.h>

#include <set>

#include "windtunnel/store/provenance.hpp"

namespace windtunnel::store {
namespace {

std::string type_text(const ColumnSchema& column) {
    switch (column.type) {
        case ColumnType::real:
            return "64-bit real";
        case ColumnType::integer:
            return "64-bit integer";
        case ColumnType::text:
            return "UTF-8 text";
        case ColumnType::enumeration:
            break;
    }
    std::string names;
    for (const std::string& name : column.enum_names) names += (names.empty() ? "" : ", ") + name;
    return "one of: " + names;
}

}  // namespace

std::vector<std::string> schema_faults(const TableSchema& schema) {
    std::vector<std::string> faults;
    if (schema.path.empty()) faults.emplace_back("a table has no path");
    if (schema.long_name.empty()) faults.push_back(fmt::format("{}: no long_name", schema.path));
    std::set<std::string> seen;
    for (const ColumnSchema& column : schema.columns) {
        const std::string place = schema.path + "/" + column.name;
        if (column.name.empty() || column.name.find('/') != std::string::npos)
            faults.push_back(fmt::format("{}: a column name must not be empty or hold a slash", place));
        if (!seen.insert(column.name).second) faults.push_back(place + ": the name occurs twice");
        if (column.units.empty()) faults.push_back(place + ": no units");
        if (column.long_name.empty()) faults.push_back(place + ": no long_name");
        const std::set<std::string> names{column.enum_names.begin(), column.enum_names.end()};
        if (column.type == ColumnType::enumeration && (names.empty() || names.size() != column.enum_names.size()))
            faults.push_back(place + ": an enumeration needs names, each once");
    }
    return faults;
}

std::string schema_page(const std::vector<TableSchema>& schemas) {
    std::string page = "# Tables of a result file\n";
    const auto add = [&page](std::string_view root, const TableSchema& schema) {
        page += fmt::format("\n## `{}/{}`\n\n{}.\n\n| column | type | units | meaning |\n|---|---|---|---|\n", root,
                            schema.path, schema.long_name);
        for (const ColumnSchema& column : schema.columns)
            page += fmt::format("| `{}` | {} | {} | {} |\n", column.name, type_text(column), column.units,
                                column.long_name);
    };
    for (const TableSchema& schema : schemas) add("/results", schema);
    page += "\n## `/provenance`\n\nOne value each.\n\n| dataset | meaning |\n|---|---|\n";
    for (const ProvenanceField& field : provenance_fields())
        page += fmt::format("| `{}` | {} |\n", field.name, field.long_name);
    page += "| `seed` | Seed of all random streams |\n";
    for (const TableSchema& schema : provenance_schemas()) add("/provenance", schema);
    return page;
}

}  // namespace windtunnel::store
