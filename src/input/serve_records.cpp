#include "windtunnel/input/serve_records.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace windtunnel::input {
namespace {

using model::ServeRow;
using model::ServeTable;
using Json = nlohmann::json;

/// Columns by which a table is known; all of them must be there.
struct TableKind {
    ServeTable table;
    const char* name;  ///< of the shipped table with these columns: what calibrations and families call it
    std::vector<std::string> columns;
};
const std::vector<TableKind>& kinds() {
    static const std::vector<TableKind> all{
        {ServeTable::silicon,
         "e2e_silicon",
         {"backend", "model", "system", "mode", "isl", "osl", "concurrency", "ttft_ms", "tpot_ms"}},
        {ServeTable::offline,
         "e2e_trtllm_v1",
         {"model", "hardware", "tp", "dtype", "isl", "osl", "requests", "output_tok_s"}},
        {ServeTable::static_batch,
         "e2e_argonne",
         {"hardware", "chips", "framework", "model", "isl", "osl", "batch", "latency_s"}},
        {ServeTable::step,
         "ascend_steps",
         {"device", "model", "phase", "queries", "query_len", "world", "tp", "baseline_ms"}},
        {ServeTable::server, "e2e_mlperf_v41", {"system", "model", "scenario", "tok_s", "samples_s"}},
        {ServeTable::long_context,
         "e2e_long_context_vllm",
         {"model", "gpus", "parallel", "isl", "osl", "concurrency", "tpot_p50_ms"}},
    };
    return all;
}

/// Columns that hold names; every other column of a table holds numbers.
const std::set<std::string>& name_columns() {
    static const std::set<std::string> names{
        "id",       "backend",  "version",  "model",        "system",          "precision",
        "mode",     "measured", "hardware", "dtype",        "attention_dp_ep", "framework",
        "case",     "device",   "phase",    "linear_quant", "attention_quant", "submitter",
        "scenario", "parallel", "source",   "note"};
    return names;
}

bool is_number(const std::string& cell) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc{} && end == cell.data() + cell.size() && std::isfinite(value) && value >= 0.0;
}

struct Record {
    int line = 0;
    std::vector<std::string> fields;
    std::vector<int> columns;  ///< where each field starts
};

/// Records of RFC 4180; a quoted field may hold commas, quotes and line ends.
std::vector<Record> records_of(const std::string& text) {
    std::vector<Record> records;
    Record record{1, {""}, {1}};
    bool quoted = false;
    int line = 1, column = 0;
    const auto finish = [&] {
        if (record.fields.size() > 1 || !record.fields.front().empty()) records.push_back(std::move(record));
        record = {line, {""}, {1}};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        ++column;
        if (letter == '\n') {
            ++line;
            column = 0;
        }
        if (quoted) {
            if (letter != '"')
                record.fields.back() += letter;
            else if (i + 1 < text.size() && text[i + 1] == '"')
                record.fields.back() += text[++i];
            else
                quoted = false;
        } else if (letter == '"' && record.fields.back().empty()) {
            quoted = true;
        } else if (letter == ',') {
            record.fields.emplace_back();
            record.columns.push_back(column + 1);
        } else if (letter == '\n') {
            finish();
        } else if (letter != '\r') {
            record.fields.back() += letter;
        }
    }
    finish();
    return records;
}

const TableKind* kind_of(const std::vector<std::string>& header) {
    for (const TableKind& kind : kinds())
        if (std::all_of(kind.columns.begin(), kind.columns.end(), [&](const std::string& column) {
                return std::find(header.begin(), header.end(), column) != header.end();
            }))
            return &kind;
    return nullptr;
}

/// The kind of which the fewest columns are missing, as a hint.
std::string missing_text(const std::vector<std::string>& header) {
    std::string best;
    std::size_t fewest = 1000;
    for (const TableKind& kind : kinds()) {
        std::string list;
        std::size_t count = 0;
        for (const std::string& column : kind.columns)
            if (std::find(header.begin(), header.end(), column) == header.end()) {
                list += (list.empty() ? "" : ", ") + column;
                ++count;
            }
        if (count < fewest) {
            fewest = count;
            best = list;
        }
    }
    return best;
}

}  // namespace

std::vector<ServeRow> parse_serve_table(const std::string& text, const std::string& path,
                                        std::vector<base::Finding>& findings) {
    std::vector<ServeRow> rows;
    const std::vector<Record> records = records_of(text);
    if (records.empty()) {
        findings.push_back({path, 1, 1, {}, "is empty", "a header line and rows"});
        return rows;
    }
    const std::vector<std::string>& header = records.front().fields;
    const TableKind* kind = kind_of(header);
    if (kind == nullptr) {
        findings.push_back({path, 1, 1, {}, "is no table that is known", "also the columns " + missing_text(header)});
        return rows;
    }
    const std::string stem = std::filesystem::path{path}.stem().string();
    for (std::size_t r = 1; r < records.size(); ++r) {
        const Record& record = records[r];
        if (record.fields.size() != header.size()) {
            findings.push_back({path,
                                record.line,
                                1,
                                {},
                                "has " + std::to_string(record.fields.size()) + " fields",
                                std::to_string(header.size()) + " as in the header"});
            continue;
        }
        ServeRow row;
        row.file = kind->name;
        row.line = record.line;
        row.table = kind->table;
        bool good = true;
        for (std::size_t c = 0; c < header.size(); ++c) {
            const std::string& cell = record.fields[c];
            if (!cell.empty() && !name_columns().contains(header[c]) && !is_number(cell)) {
                findings.push_back({path, record.line, record.columns[c], header[c],
                                    "\"" + cell.substr(0, 40) + "\" is not a number",
                                    "a finite number from 0 on, or nothing"});
                good = false;
            }
            if (!cell.empty()) row.cells[header[c]] = cell;
        }
        row.id = row.text("id");
        if (row.id.empty()) row.id = row.text("case");
        if (row.id.empty()) row.id = stem + ":" + std::to_string(record.line);
        if (good) rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

std::string cell_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return value.dump();
    return {};
}

/// Numbers of a tree under dotted names.
void flatten(ServeRow& row, const std::string& name, const Json& value, int depth) {
    if (value.is_object() && depth < 8)
        for (const auto& [key, below] : value.items()) flatten(row, name + "." + key, below, depth + 1);
    else if (const std::string cell = cell_of(value); !cell.empty())
        row.cells[name] = cell;
}

/// Scalars under their own names, those of `quantities` as columns, and the degrees of `pd_layout` by role.
void add_cells(ServeRow& row, const Json& point) {
    for (const auto& [key, value] : point.items())
        if (const std::string cell = cell_of(value); !cell.empty()) row.cells[key] = cell;
    if (const auto quantities = point.find("quantities"); quantities != point.end() && quantities->is_object())
        for (const auto& [key, value] : quantities->items())
            if (const std::string cell = cell_of(value); !cell.empty()) row.cells[key] = cell;
    if (const auto result = point.find("result"); result != point.end()) flatten(row, "result", *result, 0);
    if (const auto layout = point.find("pd_layout"); layout != point.end() && layout->is_object())
        for (const auto& [role, degrees] : layout->items())
            if (degrees.is_object())
                for (const auto& [key, value] : degrees.items())
                    if (const std::string cell = cell_of(value); !cell.empty()) row.cells[role + "_" + key] = cell;
}

}  // namespace

std::vector<ServeRow> parse_points(const std::string& text, const std::string& path,
                                   std::vector<base::Finding>& findings) {
    std::vector<ServeRow> rows;
    const Json root = Json::parse(text, nullptr, false);
    const bool good = root.is_object() && root.contains("points") && root["points"].is_array();
    if (!good) {
        findings.push_back(
            {path, 1, 1, "points", "is missing", "{\"points\": [{\"id\": ..., \"quantities\": {...}}]}"});
        return rows;
    }
    int number = 0;
    for (const Json& point : root["points"]) {
        ++number;
        const std::string place = "points[" + std::to_string(number) + "]";
        if (!point.is_object() || !point.contains("id") || !point["id"].is_string()) {
            findings.push_back({path, 0, 0, place, "has no id", "an object with \"id\" as text"});
            continue;
        }
        ServeRow row;
        row.id = point["id"].get<std::string>();
        row.file = "points";
        row.table = ServeTable::point;
        add_cells(row, point);
        rows.push_back(row);
        if (const auto cases = point.find("cases"); cases != point.end() && cases->is_array())
            for (const Json& one : *cases) {
                if (!one.is_object() || !one.contains("quantities")) continue;
                ServeRow each = row;
                add_cells(each, one);
                each.id += ":" + each.text("case");
                rows.push_back(std::move(each));
            }
    }
    return rows;
}

}  // namespace windtunnel::input
