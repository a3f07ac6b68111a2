#include "windtunnel/report/result_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;
using store::ColumnType;

std::string real_text(double value, const std::string& units) {
    if (std::isnan(value)) return "-";
    if (units == "s") return human(Seconds{value});
    if (units == "byte") return human(Bytes{value});
    if (units == "byte/s") return human(BytesPerSecond{value});
    if (units == "FLOP/s") return human(FlopsPerSecond{value});
    if (units == "USD") return human(Usd{value});
    if (units == "J") return human(Joules{value});
    if (units == "1") return fmt::format("{:.6g}", value);
    return fmt::format("{:.6g} {}", value, units);
}

std::string enum_name(const store::ColumnSchema& column, std::int64_t code) {
    const bool known = code >= 0 && code < static_cast<std::int64_t>(column.enum_names.size());
    return known ? column.enum_names[static_cast<std::size_t>(code)] : fmt::format("{}", code);
}

Json cell_json(const store::Table& table, std::size_t column, std::size_t row) {
    const store::ColumnSchema& schema = table.schema.columns[column];
    const store::ColumnValues& values = table.columns[column];
    if (const auto* reals = std::get_if<std::vector<double>>(&values)) return (*reals)[row];
    if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) return (*texts)[row];
    const std::int64_t code = std::get<std::vector<std::int64_t>>(values)[row];
    if (schema.type == ColumnType::enumeration) return enum_name(schema, code);
    return code;
}

Json table_json(const store::Table& table, std::uint64_t num_rows) {
    Json units = Json::object();
    for (const store::ColumnSchema& column : table.schema.columns) units[column.name] = column.units;
    Json rows = Json::array();
    for (std::size_t row = 0; row < table.num_rows(); ++row) {
        Json object = Json::object();
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            object[table.schema.columns[column].name] = cell_json(table, column, row);
        rows.push_back(std::move(object));
    }
    return {{"long_name", table.schema.long_name}, {"num_rows", num_rows}, {"units", units}, {"rows", rows}};
}

std::string single_row_text(const store::Table& table) {
    TextTable lines{{"quantity", "value", "meaning"}};
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const store::ColumnSchema& schema = table.schema.columns[column];
        lines.add_row({schema.name, cell_text(table, column, 0), schema.long_name});
    }
    return lines.text();
}

}  // namespace

std::string cell_text(const store::Table& table, std::size_t column, std::size_t row) {
    const store::ColumnSchema& schema = table.schema.columns[column];
    const store::ColumnValues& values = table.columns[column];
    if (const auto* reals = std::get_if<std::vector<double>>(&values)) return real_text((*reals)[row], schema.units);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) return (*texts)[row];
    const std::int64_t code = std::get<std::vector<std::int64_t>>(values)[row];
    return schema.type == ColumnType::enumeration ? enum_name(schema, code) : grouped(code);
}

std::string text(const store::Table& table) {
    if (table.num_rows() == 1) return single_row_text(table);
    std::vector<std::string> heads;
    for (const store::ColumnSchema& column : table.schema.columns) heads.push_back(column.name);
    TextTable lines{heads};
    for (std::size_t row = 0; row < table.num_rows(); ++row) {
        std::vector<std::string> cells;
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            cells.push_back(cell_text(table, column, row));
        lines.add_row(std::move(cells));
    }
    return lines.text();
}

std::string text(const ResultFile& file) {
    const store::Provenance& made = file.provenance;
    std::string page = fmt::format("{}{}\n  made by: {}\n  seed {}, {} rank{} x {} thread{} on {}, {} to {} ({})\n",
                                   file.path, file.whole ? "" : " (incomplete)", made.command, made.seed, made.ranks,
                                   made.ranks == 1 ? "" : "s", made.threads, made.threads == 1 ? "" : "s", made.host,
                                   made.start, made.end, human(Seconds{made.elapsed_s}));
    for (std::size_t i = 0; i < file.tables.size(); ++i) {
        const store::Table& table = file.tables[i];
        const std::uint64_t shown = table.num_rows();
        page += fmt::format("\n{}: {} ({} row{}{})\n", table.schema.path, table.schema.long_name,
                            grouped(static_cast<std::int64_t>(file.num_rows[i])), file.num_rows[i] == 1 ? "" : "s",
                            shown < file.num_rows[i] ? fmt::format(", the first {} here", shown) : "");
        page += text(table);
    }
    for (const std::string& line : made.assumptions) page += fmt::format("assumed: {}\n", line);
    return page;
}

std::string json(const ResultFile& file) {
    const store::Provenance& made = file.provenance;
    Json inputs = Json::array();
    for (const store::ProvenanceFile& input : made.files)
        inputs.push_back(
            {{"role", input.role}, {"path", input.path}, {"fnv1a_64", fmt::format("{:016x}", input.hash)}});
    Json tables = Json::object();
    for (std::size_t i = 0; i < file.tables.size(); ++i)
        tables[file.tables[i].schema.path] = table_json(file.tables[i], file.num_rows[i]);
    const Json document{{"path", file.path},
                        {"complete", file.whole},
                        {"provenance",
                         {{"command", made.command},
                          {"seed", made.seed},
                          {"ranks", made.ranks},
                          {"threads", made.threads},
                          {"host", made.host},
                          {"versions", made.versions},
                          {"start", made.start},
                          {"end", made.end},
                          {"elapsed_s", made.elapsed_s},
                          {"inputs", inputs},
                          {"implicit_defaults", made.implicit_defaults},
                          {"assumptions", made.assumptions}}},
                        {"tables", tables}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
