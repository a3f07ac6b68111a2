#include "windtunnel/input/operator_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<base::Finding>;

const std::vector<std::pair<std::string, model::OperatorClass>>& classes() {
    using enum model::OperatorClass;
    static const std::vector<std::pair<std::string, model::OperatorClass>> all{{"gemm", gemm},
                                                                               {"grouped_gemm", grouped_gemm},
                                                                               {"attention", attention},
                                                                               {"latent_attention", latent_attention},
                                                                               {"vector", vector},
                                                                               {"collective", collective},
                                                                               {"all_to_all", all_to_all},
                                                                               {"phase", phase}};
    return all;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

/// One [[table]]: every key once, each of its kind.
class ShapeReader {
public:
    ShapeReader(const Node& table, Findings& findings) : table_{table}, findings_{findings} {}

    std::string text(const char* key, bool needed = false) {
        const Node* node = find(key, needed);
        if (node == nullptr) return {};
        if (node->kind == Node::Kind::text) return node->text;
        add(*node, key, "is " + describe(*node), "text");
        return {};
    }
    std::vector<std::string> texts(const char* key, bool needed = false) {
        std::vector<std::string> values;
        const Node* node = find(key, needed);
        if (node == nullptr) return values;
        if (node->kind != Node::Kind::array) return add(*node, key, "is " + describe(*node), "a list of texts"), values;
        for (const Node& item : node->items) {
            if (item.kind == Node::Kind::text)
                values.push_back(item.text);
            else
                add(item, key, "is " + describe(item), "text");
        }
        return values;
    }
    std::vector<double> numbers(const char* key) {
        std::vector<double> values;
        const Node* node = find(key, false);
        if (node == nullptr) return values;
        if (node->kind != Node::Kind::array)
            return add(*node, key, "is " + describe(*node), "a list of numbers"), values;
        for (const Node& item : node->items) values.push_back(positive(item, key));
        return values;
    }
    void number(const char* key, double& value, double most) {
        const Node* node = find(key, false);
        if (node == nullptr) return;
        const double read = positive(*node, key);
        if (read > most)
            add(*node, key, "is " + describe(*node), fmt::format("at most {}", most));
        else
            value = read;
    }
    bool boolean(const char* key, bool otherwise) {
        const Node* node = find(key, false);
        if (node == nullptr) return otherwise;
        if (node->kind == Node::Kind::boolean) return node->boolean;
        add(*node, key, "is " + describe(*node), "true or false");
        return otherwise;
    }
    template <class Value, class Read>
    std::map<std::string, Value> map(const char* key, const Read& read) {
        std::map<std::string, Value> values;
        const Node* node = find(key, false);
        if (node == nullptr) return values;
        if (node->kind != Node::Kind::table) return add(*node, key, "is " + describe(*node), "a table"), values;
        for (const Member& member : node->members) values[member.key] = read(member.node, key);
        return values;
    }
    double positive(const Node& node, const char* key) {
        const double value = node.kind == Node::Kind::integer ? static_cast<double>(node.integer) : node.real;
        const bool is_number = node.kind == Node::Kind::integer || node.kind == Node::Kind::real;
        if (is_number && value >= 0.0 && value < 1e12) return value;
        add(node, key, "is " + describe(node), "a number from 0 on");
        return 1.0;
    }
    std::string plain_text(const Node& node, const char* key) {
        if (node.kind != Node::Kind::text) add(node, key, "is " + describe(node), "text");
        return node.text;
    }
    void add(const Node& node, const char* key, const std::string& message, const std::string& expected = {}) {
        findings_.push_back(finding_at(node.place, key, message, expected));
    }
    void add(const char* key, const std::string& message, const std::string& expected = {}) {
        const Node* node = table_.find(key);
        add(node != nullptr ? *node : table_, key, message, expected);
    }
    void finish() {
        for (const Member& member : table_.members)
            if (std::find(known_.begin(), known_.end(), member.key) == known_.end())
                findings_.push_back(finding_at(member.place, member.key, "is not a key of a table of operators",
                                               fmt::format("one of {}", fmt::join(known_, ", "))));
    }

private:
    const Node* find(const char* key, bool needed) {
        known_.emplace_back(key);
        const Node* node = table_.find(key);
        if (node == nullptr && needed) add(table_, key, "is missing");
        return node;
    }
    const Node& table_;
    Findings& findings_;
    std::vector<std::string> known_;
};

/// "batch*len^2/tp": factors with their powers; "1" is the start-up.
std::optional<std::vector<model::TermFactor>> term_of(const std::string& text,
                                                      const std::vector<std::string>& columns) {
    std::vector<model::TermFactor> factors;
    double sign = 1.0;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find_first_of("*/", begin), text.size());
        std::string name = text.substr(begin, end - begin);
        double power = 1.0;
        if (const std::size_t at = name.find('^'); at != std::string::npos) {
            const auto read = number_of(std::string_view{name}.substr(at + 1));
            if (!read || std::abs(*read) > 8.0) return std::nullopt;
            power = *read;
            name.resize(at);
        }
        const auto found = std::find(columns.begin(), columns.end(), name);
        if (name == "waves")
            factors.push_back({model::TermFactor::waves, sign * power});
        else if (found != columns.end())
            factors.push_back({static_cast<int>(found - columns.begin()), sign * power});
        else if (name != "1")
            return std::nullopt;
        if (end == text.size()) break;
        sign = text[end] == '/' ? -1.0 : 1.0;
        begin = end + 1;
    }
    return factors;
}

OperatorFile read_shape(const Node& table, Findings& findings) {
    ShapeReader reader{table, findings};
    OperatorFile file;
    model::OperatorTableShape& shape = file.shape;
    shape.name = reader.text("name", true);
    file.file = reader.text("file", true);
    shape.family = fs::path{file.file}.stem().string();
    const std::string kind = reader.text("class", true);
    const auto found =
        std::find_if(classes().begin(), classes().end(), [&kind](const auto& entry) { return entry.first == kind; });
    if (found != classes().end()) {
        shape.kind = found->second;
    } else if (!kind.empty()) {
        std::string list;
        for (const auto& [name, value] : classes()) list += (list.empty() ? "" : ", ") + name;
        reader.add("class", "\"" + kind + "\" is not known", "one of " + list);
    }
    shape.keys = reader.texts("keys");
    shape.axes = reader.texts("axes", true);
    shape.covariates = reader.texts("covariates");
    shape.quantities = reader.texts("quantities", true);
    shape.scales = reader.numbers("scales");
    reader.number("noise", shape.noise, 1.0);
    reader.number("roughness", shape.roughness, 0.99);
    shape.noise = std::max(shape.noise, 1e-9);
    shape.judged = reader.boolean("judged", true);
    const std::string unit = reader.text("unit");
    shape.unit = unit == "s" ? 1.0 : unit == "ms" ? 1e-3 : 1e-6;
    if (!unit.empty() && unit != "s" && unit != "ms" && unit != "us")
        reader.add("unit", "\"" + unit + "\" is not known", "one of s, ms, us");
    const auto number = [&reader](const Node& node, const char* key) { return reader.positive(node, key); };
    const auto word = [&reader](const Node& node, const char* key) { return reader.plain_text(node, key); };
    shape.cores = reader.map<double>("cores", number);
    shape.accelerators = reader.map<std::string>("accelerators", word);
    file.where = reader.map<std::string>("where", word);
    file.packed = reader.text("packed");
    file.wide = reader.text("wide");
    shape.source = reader.text("source", true);
    shape.licence = reader.text("licence", true);
    shape.note = reader.text("note");
    std::vector<std::string> columns = shape.axes;
    columns.insert(columns.end(), shape.covariates.begin(), shape.covariates.end());
    for (const std::string& term : reader.texts("terms")) {
        if (auto factors = term_of(term, columns))
            shape.terms.push_back(std::move(*factors));
        else
            reader.add("terms", "\"" + term + "\" cannot be read",
                       "a product of axes and covariates, for example \"batch*len^2/tp\", or \"1\"");
    }
    if (!shape.scales.empty() && shape.scales.size() != columns.size())
        reader.add("scales", fmt::format("has {} numbers", shape.scales.size()),
                   fmt::format("one for each axis and covariate: {}", columns.size()));
    for (double& scale : shape.scales)
        if (!(scale > 0.0)) reader.add("scales", "has a 0", "doublings above 0"), scale = 1.0;
    if (shape.axes.empty()) reader.add("axes", "is empty", "at least one column of numbers");
    if (shape.quantities.empty()) reader.add("quantities", "is empty", "at least one column of times");
    if (!file.wide.empty() &&
        (shape.quantities.size() != 1 || std::find(columns.begin(), columns.end(), file.wide) == columns.end()))
        reader.add("wide", "\"" + file.wide + "\" needs one quantity and an axis of its name");
    reader.finish();
    return file;
}

/// Lines of fields, quoted ones included (RFC 4180); the number of the line that each begins on.
std::vector<std::pair<int, std::vector<std::string>>> csv_lines(const std::string& text) {
    std::vector<std::pair<int, std::vector<std::string>>> lines;
    std::vector<std::string> fields{""};
    bool quoted = false;
    int line = 1, begun = 1;
    const auto end_line = [&] {
        if (fields.size() > 1 || !fields.front().empty()) lines.emplace_back(begun, fields);
        fields.assign(1, "");
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (letter == '\n') ++line;
        if (quoted) {
            if (letter != '"')
                fields.back() += letter;
            else if (i + 1 < text.size() && text[i + 1] == '"')
                fields.back() += text[++i];
            else
                quoted = false;
        } else if (letter == '"') {
            quoted = true;
        } else if (letter == ',') {
            fields.emplace_back();
        } else if (letter == '\n') {
            end_line();
            begun = line;
        } else if (letter != '\r') {
            fields.back() += letter;
        }
    }
    end_line();
    return lines;
}

/// The fields of one line by the name of their column.
using Fields = std::map<std::string, std::string>;

/// Lines of a file as named fields: packed columns are taken apart, wide ones become lines of their own.
std::vector<Fields> expand(const OperatorFile& file, const std::vector<std::string>& header,
                           const std::vector<std::string>& values) {
    Fields fields;
    std::vector<std::pair<std::string, std::string>> wide;
    for (std::size_t i = 0; i < header.size() && i < values.size(); ++i) {
        if (!file.packed.empty() && header[i] == file.packed) {
            std::istringstream parts{values[i]};
            for (std::string part; std::getline(parts, part, ';');)
                if (const std::size_t at = part.find('='); at != std::string::npos)
                    fields[part.substr(0, at)] = part.substr(at + 1);
        } else if (!file.wide.empty() && header[i].size() > file.wide.size() && header[i].starts_with(file.wide) &&
                   number_of(std::string_view{header[i]}.substr(file.wide.size()))) {
            wide.emplace_back(header[i].substr(file.wide.size()), values[i]);
        } else {
            fields[header[i]] = values[i];
        }
    }
    if (file.wide.empty()) return {fields};
    std::vector<Fields> lines;
    for (const auto& [at, value] : wide) {
        Fields line = fields;
        line[file.wide] = at;
        line[file.shape.quantities.front()] = value;
        lines.push_back(std::move(line));
    }
    return lines;
}

class RowsReader {
public:
    RowsReader(const OperatorFile& file, std::string path, Findings& findings)
        : file_{file}, path_{std::move(path)}, findings_{findings} {}

    /// The row of a line; empty when the line belongs to another operator, has no time, or has a finding.
    std::optional<model::OperatorRow> row(int line, const Fields& fields) {
        for (const auto& [column, value] : file_.where)
            if (const auto found = fields.find(column); found == fields.end() || found->second != value)
                return std::nullopt;
        model::OperatorRow row;
        row.line = line;
        bool fine = true, timed = false;
        for (const std::string& key : file_.shape.keys) {
            const std::string* value = field(fields, key, line);
            fine = fine && value != nullptr;
            row.key.push_back(value != nullptr ? *value : "");
        }
        for (const auto* columns : {&file_.shape.axes, &file_.shape.covariates})
            for (const std::string& column : *columns) {
                const std::string* value = field(fields, column, line);
                const double number = value != nullptr ? number_of(*value).value_or(-1.0) : -1.0;
                if (value != nullptr && number < 0.0)
                    add(line, column, "\"" + value->substr(0, 40) + "\" is not a number from 0 on");
                fine = fine && number >= 0.0;
                row.at.push_back(number);
            }
        for (const std::string& quantity : file_.shape.quantities) {
            const std::string* value = field(fields, quantity, line);
            std::optional<double> time;
            if (value != nullptr && !value->empty()) {
                const auto number = number_of(*value);
                if (!number || *number < 0.0) {
                    add(line, quantity, "\"" + value->substr(0, 40) + "\" is not a time");
                    fine = false;
                } else if (*number > 0.0) {
                    time = *number * file_.shape.unit;
                    timed = true;
                }
            }
            fine = fine && value != nullptr;
            row.time.push_back(time);
        }
        return fine && timed ? std::optional{std::move(row)} : std::nullopt;
    }

private:
    const std::string* field(const Fields& fields, const std::string& column, int line) {
        const auto found = fields.find(column);
        if (found != fields.end()) return &found->second;
        if (missing_.insert(column).second) add(line, column, "is not a column of this file or line");
        return nullptr;
    }
    void add(int line, const std::string& column, const std::string& message) {
        findings_.push_back({path_, line, 0, column, message, {}});
    }
    const OperatorFile& file_;
    std::string path_;
    Findings& findings_;
    std::set<std::string> missing_;
};

std::optional<std::string> text_of(const fs::path& path, const char* role, model::OperatorTables& tables,
                                   Findings& findings) {
    std::ifstream file{path, std::ios::binary};
    if (!file || fs::is_directory(path)) {
        findings.push_back({path.string(), 0, 0, {}, "cannot be read", {}});
        return std::nullopt;
    }
    std::ostringstream text;
    text << file.rdbuf();
    const std::uint64_t hash = base::fnv1a_64(text.str());
    const auto known = [&](const model::InputFile& entry) { return entry.path == path.string(); };
    if (std::none_of(tables.files.begin(), tables.files.end(), known))
        tables.files.push_back({role, path.string(), text.str(), hash});
    return text.str();
}

/// The cards that the tables name, from the folder of accelerators beside; unknown ids have no roofline.
void read_cards(const std::vector<OperatorFile>& shapes, const fs::path& folder, model::OperatorTables& tables,
                Findings& findings) {
    std::set<std::string> wanted;
    for (const OperatorFile& file : shapes)
        for (const auto& [word, id] : file.shape.accelerators) wanted.insert(id);
    std::error_code error;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (entry.path().extension() == ".toml") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        try {
            model::Accelerator card = read_accelerator(path.lexically_normal().string());
            if (!wanted.contains(card.id)) continue;
            (void)text_of(path.lexically_normal(), "accelerator", tables, findings);
            tables.accelerators[card.id] = std::move(card);
        } catch (const base::InputError& problem) {
            findings.insert(findings.end(), problem.findings().begin(), problem.findings().end());
        }
    }
}

}  // namespace

std::vector<OperatorFile> parse_operator_shapes(const std::string& text, const std::string& path, Findings& findings) {
    std::vector<OperatorFile> files;
    const auto root = parse_toml(text, path, findings);
    if (!root) return files;
    for (const Member& member : root->members)
        if (member.key != "table" && member.key != "limit")
            findings.push_back(
                finding_at(member.place, member.key, "is not a key of this file", "[[table]], [[limit]]"));
    const Node* list = root->find("table");
    if (list == nullptr || list->kind != Node::Kind::array) {
        findings.push_back({path, 0, 0, "table", "is missing", "at least one [[table]]"});
        return files;
    }
    std::set<std::string> names;
    for (const Node& table : list->items) {
        const std::size_t before = findings.size();
        OperatorFile file = read_shape(table, findings);
        if (!names.insert(file.shape.name).second)
            findings.push_back(finding_at(table.place, "name", "\"" + file.shape.name + "\" stands twice"));
        if (findings.size() == before) files.push_back(std::move(file));
    }
    return files;
}

std::vector<model::OperatorLimit> parse_operator_limits(const std::string& text, const std::string& path,
                                                        Findings& findings) {
    std::vector<model::OperatorLimit> limits;
    Findings of_the_text;  // parse_operator_shapes has told them
    const auto root = parse_toml(text, path, of_the_text);
    const Node* list = root ? root->find("limit") : nullptr;
    if (list == nullptr || list->kind != Node::Kind::array) return limits;
    for (const Node& table : list->items) {
        ShapeReader reader{table, findings};
        model::OperatorLimit limit;
        limit.family = reader.text("family", true);
        reader.number("median", limit.median, 10.0);
        reader.number("percentile_90", limit.percentile_90, 10.0);
        (void)reader.text("reason");
        reader.finish();
        limits.push_back(std::move(limit));
    }
    return limits;
}

model::OperatorTable parse_operator_table(const OperatorFile& file, const std::string& csv, const std::string& path,
                                          Findings& findings) {
    model::OperatorTable table{file.shape, path, {}};
    const auto lines = csv_lines(csv);
    if (lines.empty()) {
        findings.push_back({path, 0, 0, {}, "is empty", "a line of column names, then rows"});
        return table;
    }
    const std::vector<std::string>& header = lines.front().second;
    RowsReader reader{file, path, findings};
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto& [number, values] = lines[i];
        if (values.size() != header.size()) {
            findings.push_back({path,
                                number,
                                0,
                                {},
                                fmt::format("has {} fields", values.size()),
                                fmt::format("{}, as the first line", header.size())});
            continue;
        }
        for (const Fields& fields : expand(file, header, values))
            if (auto row = reader.row(number, fields)) table.rows.push_back(std::move(*row));
    }
    return table;
}

model::OperatorTables read_operator_tables(const std::string& shapes_file, const std::vector<std::string>& csv_files) {
    model::OperatorTables tables;
    Findings findings;
    std::vector<OperatorFile> shapes;
    if (const auto text = text_of(shapes_file, "operator shapes", tables, findings)) {
        shapes = parse_operator_shapes(*text, shapes_file, findings);
        tables.limits = parse_operator_limits(*text, shapes_file, findings);
    }
    read_cards(shapes, fs::path{shapes_file}.parent_path() / "../../accelerators", tables, findings);
    std::set<std::string> used;
    for (const OperatorFile& file : shapes) {
        fs::path path = fs::path{shapes_file}.parent_path() / file.file;
        if (!csv_files.empty()) {
            const auto found = std::find_if(csv_files.begin(), csv_files.end(), [&](const std::string& given) {
                return fs::path{given}.filename() == fs::path{file.file}.filename();
            });
            if (found == csv_files.end()) continue;
            path = *found;
            used.insert(*found);
        }
        if (const auto text = text_of(path, "operator table", tables, findings)) {
            model::OperatorTable table = parse_operator_table(file, *text, path.string(), findings);
            if (table.rows.empty() && findings.empty())
                findings.push_back({path.string(), 0, 0, file.shape.name, "has no row of this operator", {}});
            tables.tables.push_back(std::move(table));
        }
    }
    for (const std::string& given : csv_files)
        if (!used.contains(given)) {
            std::string names;
            for (const OperatorFile& file : shapes)
                if (names.find(file.file) == std::string::npos) names += (names.empty() ? "" : ", ") + file.file;
            findings.push_back({given, 0, 0, {}, "no table of operators has a file of this name", "one of " + names});
        }
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    return tables;
}

}  // namespace windtunnel::input
