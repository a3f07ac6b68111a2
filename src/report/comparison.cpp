#include "windtunnel/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using store::ColumnType;
using store::Table;

constexpr std::string_view standard_error_mark = "_standard_error";

const Table* table_of(const ResultFile& file, const std::string& path) {
    const auto found = std::ranges::find(file.tables, path, [](const Table& table) { return table.schema.path; });
    return found == file.tables.end() ? nullptr : &*found;
}

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
    for (std::size_t i = 0; i < table.schema.columns.size(); ++i) {
        if (table.schema.columns[i].name == name) return i;
    }
    return std::nullopt;
}

/// The column with the standard error of column `name`.
std::optional<std::size_t> standard_error_of(const Table& table, const std::string& name) {
    for (std::size_t i = 0; i < table.schema.columns.size(); ++i) {
        std::string stem = table.schema.columns[i].name;
        const auto at = stem.find(standard_error_mark);
        if (at == std::string::npos) continue;
        stem.erase(at, standard_error_mark.size());
        if (stem == name) return i;
    }
    return std::nullopt;
}

double number_at(const Table& table, std::size_t column, std::size_t row) {
    if (const auto* reals = std::get_if<std::vector<double>>(&table.columns[column])) return (*reals)[row];
    return static_cast<double>(std::get<std::vector<std::int64_t>>(table.columns[column])[row]);
}

std::string label_of(const Table& table, std::size_t row) {
    std::string label;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const ColumnType type = table.schema.columns[column].type;
        if (type != ColumnType::text && type != ColumnType::enumeration) continue;
        label += (label.empty() ? "" : " ") + cell_text(table, column, row);
    }
    return label;
}

/// Label to row; by number where labels are absent or repeat.
std::map<std::string, std::size_t> rows_of(const Table& table, bool by_number) {
    std::map<std::string, std::size_t> rows;
    for (std::size_t row = 0; row < table.num_rows(); ++row)
        rows.emplace(by_number ? fmt::format("{}", row) : label_of(table, row), row);
    return rows;
}

void add_differences(const Table& first, const Table& second, std::vector<Difference>& all) {
    const bool labelled =
        rows_of(first, false).size() == first.num_rows() && rows_of(second, false).size() == second.num_rows();
    const auto others = rows_of(second, !labelled);
    for (std::size_t row = 0; row < first.num_rows(); ++row) {
        const std::string key = labelled ? label_of(first, row) : fmt::format("{}", row);
        const auto match = others.find(key);
        if (match == others.end()) continue;
        for (std::size_t column = 0; column < first.columns.size(); ++column) {
            const store::ColumnSchema& schema = first.schema.columns[column];
            const auto other = column_of(second, schema.name);
            const bool number = schema.type == ColumnType::real || schema.type == ColumnType::integer;
            if (!number || !other || second.schema.columns[*other].type != schema.type) continue;
            if (schema.name.find(standard_error_mark) != std::string::npos) continue;
            const double a = number_at(first, column, row);
            const double b = number_at(second, *other, match->second);
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            Difference difference{first.schema.path, key, schema.name, schema.units, a, b, std::nullopt};
            const auto error_a = standard_error_of(first, schema.name);
            const auto error_b = standard_error_of(second, schema.name);
            if (error_a && error_b)
                difference.half_width_95 = normal_quantile_95 * std::hypot(number_at(first, *error_a, row),
                                                                           number_at(second, *error_b, match->second));
            all.push_back(std::move(difference));
        }
    }
}

std::string change_text(const Difference& difference) {
    const double change = difference.second - difference.first;
    std::string text = fmt::format("{:+.6g}", change);
    if (difference.half_width_95) text += fmt::format(" +- {:.3g}", *difference.half_width_95);
    return text;
}

std::string relative_text(const Difference& difference) {
    if (difference.first == 0.0 || !std::isfinite(difference.first)) return "";
    return fmt::format("{:+.2f} %", 100.0 * (difference.second / difference.first - 1.0));
}

}  // namespace

std::vector<Difference> differences(const ResultFile& first, const ResultFile& second) {
    std::vector<Difference> all;
    for (const Table& table : first.tables) {
        if (const Table* other = table_of(second, table.schema.path)) add_differences(table, *other, all);
    }
    return all;
}

std::vector<std::string> differing_inputs(const ResultFile& first, const ResultFile& second) {
    std::vector<std::string> lines;
    std::set<std::string> roles;
    for (const auto* file : {&first, &second}) {
        for (const store::ProvenanceFile& input : file->provenance.files) roles.insert(input.role);
    }
    for (const std::string& role : roles) {
        const auto find = [&role](const ResultFile& file) {
            return std::ranges::find(file.provenance.files, role, [](const auto& input) { return input.role; });
        };
        const auto a = find(first);
        const auto b = find(second);
        if (a == first.provenance.files.end() || b == second.provenance.files.end())
            lines.push_back(fmt::format("{}: only one of the runs read such a file", role));
        else if (a->hash != b->hash)
            lines.push_back(fmt::format("{}: {} and {} differ", role, a->path, b->path));
    }
    if (first.provenance.seed != second.provenance.seed)
        lines.push_back(fmt::format("seed: {} and {}", first.provenance.seed, second.provenance.seed));
    const std::string plan =
        store::first_difference(first.provenance.identity, second.provenance.identity, "the first run");
    if (!plan.empty()) lines.push_back("resolved plan, first difference: " + plan);
    for (const Table& table : first.tables) {
        if (!table_of(second, table.schema.path)) lines.push_back("only the first has a table " + table.schema.path);
    }
    for (const Table& table : second.tables) {
        if (!table_of(first, table.schema.path)) lines.push_back("only the second has a table " + table.schema.path);
    }
    return lines;
}

std::string comparison_text(const ResultFile& first, const ResultFile& second) {
    std::string page = fmt::format("{} against {}\n", second.path, first.path);
    for (const std::string& line : differing_inputs(first, second)) page += "  " + line + '\n';
    TextTable lines{{"table", "row", "quantity", "first", "second", "change", "relative", "unit"}};
    for (const Difference& difference : differences(first, second))
        lines.add_row({difference.table, difference.row, difference.quantity, fmt::format("{:.6g}", difference.first),
                       fmt::format("{:.6g}", difference.second), change_text(difference), relative_text(difference),
                       difference.units});
    return page + (lines.empty() ? "  equal numbers in every table that both have\n" : lines.text());
}

std::string comparison_json(const ResultFile& first, const ResultFile& second) {
    using Json = nlohmann::ordered_json;
    Json rows = Json::array();
    for (const Difference& difference : differences(first, second)) {
        rows.push_back({{"table", difference.table},
                        {"row", difference.row},
                        {"quantity", difference.quantity},
                        {"units", difference.units},
                        {"first", difference.first},
                        {"second", difference.second},
                        {"half_width_95", difference.half_width_95 ? Json(*difference.half_width_95) : Json(nullptr)}});
    }
    const Json document{{"first", first.path},
                        {"second", second.path},
                        {"differing_inputs", differing_inputs(first, second)},
                        {"differences", rows}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
