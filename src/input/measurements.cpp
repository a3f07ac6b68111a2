#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/quantity.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;

/// A table of one of the files beside the rows: reads its keys, remembers them, and finds the unknown ones.
class TableReader {
public:
    TableReader(const Node& table, std::vector<base::Finding>& findings) : table_{table}, findings_{findings} {}

    /// The value of a key: itself, or `value` of { value = ..., reason = ... }.
    [[nodiscard]] const Node* find(const char* key) {
        known_.emplace_back(key);
        const Node* node = table_.find(key);
        if (node != nullptr && node->kind == Node::Kind::table) {
            if (const Node* value = node->find("value")) return value;
            add(*node, key, "has no value", "{ value = ..., reason = \"...\" }");
            return nullptr;
        }
        return node;
    }
    void text(const char* key, std::string& value) {
        if (const Node* node = find(key)) {
            if (node->kind == Node::Kind::text)
                value = node->text;
            else
                add(*node, key, "is " + describe(*node), "text");
        }
    }
    void text(const char* key, std::optional<std::string>& value, const std::vector<std::string>& words) {
        std::string read;
        text(key, read);
        if (read.empty()) return;
        if (std::find(words.begin(), words.end(), read) == words.end()) {
            std::string list;
            for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
            add(table_, key, "\"" + read + "\" is not known", "one of " + list);
        } else {
            value = read;
        }
    }
    void texts(const char* key, std::vector<std::string>& values) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::array) return add(*node, key, "is " + describe(*node), "a list of texts");
        for (const Node& item : node->items) {
            if (item.kind != Node::Kind::text) return add(item, key, "is " + describe(item), "text");
            values.push_back(item.text);
        }
    }
    template <class Integer>
    void integer(const char* key, Integer& value, std::int64_t least) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::integer || node->integer < least || node->integer > 1'000'000)
            return add(*node, key, "is " + describe(*node), "an integer from " + std::to_string(least) + " on");
        value = static_cast<int>(node->integer);
    }
    void boolean(const char* key, std::optional<bool>& value) {
        const Node* node = find(key);
        if (node == nullptr) return;
        if (node->kind != Node::Kind::boolean) return add(*node, key, "is " + describe(*node), "true or false");
        value = node->boolean;
    }
    template <class Number>
    void number(const char* key, Number& value) {
        const Node* node = find(key);
        if (node == nullptr) return;
        const double read = node->kind == Node::Kind::integer ? static_cast<double>(node->integer) : node->real;
        if ((node->kind != Node::Kind::real && node->kind != Node::Kind::integer) || !(read >= 0.0) || read > 1e6)
            return add(*node, key, "is " + describe(*node), "a number from 0 on");
        value = read;
    }
    void add(const Node& node, const std::string& key, const std::string& message, const std::string& expected = {}) {
        findings_.push_back(finding_at(node.place, key, message, expected));
    }
    /// Last: every other key is unknown.
    void finish() {
        for (const Member& member : table_.members)
            if (std::find(known_.begin(), known_.end(), member.key) == known_.end()) {
                std::string list;
                for (const std::string& key : known_) list += (list.empty() ? "" : ", ") + key;
                findings_.push_back(
                    finding_at(member.place, member.key, "is not a key of this table", "one of " + list));
            }
    }

private:
    const Node& table_;
    std::vector<base::Finding>& findings_;
    std::vector<std::string> known_;
};

/// Reads a file and notes it: what was read is part of what a run is.
std::optional<std::string> text_of_file(const fs::path& path, const char* role, model::Measurements& measurements,
                                        std::vector<base::Finding>& findings) {
    std::ifstream file{path, std::ios::binary};
    if (!file || fs::is_directory(path)) {
        findings.push_back({path.string(), 0, 0, {}, "cannot be read", {}});
        return std::nullopt;
    }
    std::ostringstream text;
    text << file.rdbuf();
    measurements.files.push_back({role, path.string(), text.str(), base::fnv1a_64(text.str())});
    return text.str();
}

/// Calls `read` with each table of the array `name` in a TOML file.
template <class Read>
void for_each_table(const Node& root, const char* name, std::vector<base::Finding>& findings, const Read& read) {
    const Node* list = root.find(name);
    if (list == nullptr) return;
    for (const Node& table : list->items) {
        if (table.kind != Node::Kind::table) {
            findings.push_back(finding_at(table.place, name, "is " + describe(table), "a table"));
            continue;
        }
        TableReader reader{table, findings};
        read(reader);
        reader.finish();
    }
}

std::optional<Node> document(const fs::path& path, const std::vector<std::string>& tables, const char* role,
                             model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto text = text_of_file(path, role, measurements, findings);
    auto root = text ? parse_toml(*text, path.string(), findings) : std::nullopt;
    if (root)
        for (const Member& member : root->members)
            if (std::find(tables.begin(), tables.end(), member.key) == tables.end())
                findings.push_back(
                    finding_at(member.place, member.key, "is not a table of this file", "[[" + tables.front() + "]]"));
    return root;
}

void read_defaults(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto root = document(path, {"defaults", "release", "window", "unsupported", "doubtful"}, "defaults",
                               measurements, findings);
    if (!root) return;
    for_each_table(*root, "defaults", findings, [&](TableReader& reader) {
        model::RowDefaults defaults;
        std::string file, software, precision, rate, about;
        reader.text("file", file);
        reader.text("software", software);
        reader.text("about", about);
        reader.text("recompute", defaults.recompute, {"none", "selective", "full"});
        reader.integer("micro_batch_size", defaults.micro_batch_size, 1);
        reader.boolean("no_accumulation", defaults.no_accumulation);
        reader.integer("virtual_pipeline", defaults.virtual_pipeline, 1);
        reader.integer("optimizer_sharding", defaults.optimizer_sharding, 0);
        reader.boolean("sequence_parallel", defaults.sequence_parallel);
        reader.boolean("expert_tensor_is_tensor", defaults.expert_tensor_is_tensor);
        reader.boolean("flash_attention", defaults.flash_attention);
        reader.boolean("fused_operators", defaults.fused_operators);
        reader.boolean("tied_embeddings", defaults.tied_embeddings);
        reader.boolean("biases", defaults.biases);
        reader.boolean("fp16_gradients", defaults.fp16_gradients);
        reader.text("pipeline_split", defaults.pipeline_split, {"slots", "short_last"});
        std::optional<std::string> gradient;
        reader.text("gradient_precision", gradient, {"fp32", "bf16"});
        if (gradient)
            defaults.gradient_precision = *gradient == "fp32" ? model::Precision::fp32 : model::Precision::bf16;
        reader.text("flops_definition", defaults.flops_definition, {"hardware", "full", "causal"});
        reader.text("memory_kind", defaults.memory_kind, {"allocated", "reserved", "device", "formula"});
        if (const Node* node = reader.find("scale_out")) {
            const CheckedQuantity quantity = read_quantity(node->text, "25 GB/s");
            if (node->kind != Node::Kind::text || !quantity.problem.empty() || !(quantity.value > 0.0))
                reader.add(*node, "scale_out", "is " + describe(*node), "data/time, for example \"25 GB/s\"");
            else
                defaults.scale_out = BytesPerSecond{quantity.value};
        }
        if (!file.empty())
            measurements.file_defaults[software.empty() ? file : file + '/' + software] = defaults;
        else if (!software.empty())
            measurements.software_defaults[software] = defaults;
    });
    for_each_table(*root, "release", findings, [&](TableReader& reader) {
        model::ReleaseRule rule;
        std::string reason;
        reader.text("file", rule.file);
        reader.text("behind", rule.behind);
        reader.text("reason", reason);
        measurements.releases.push_back(std::move(rule));
    });
    for_each_table(*root, "window", findings, [&](TableReader& reader) {
        model::WindowRule rule;
        std::string reason;
        reader.text("model", rule.model);
        reader.integer("window", rule.window, 1);
        reader.integer("every", rule.every, 1);
        reader.text("reason", reason);
        measurements.windows.push_back(std::move(rule));
    });
    for_each_table(*root, "doubtful", findings, [&](TableReader& reader) {
        std::string id, reason;
        reader.text("id", id);
        reader.text("reason", reason);
        measurements.doubtful[id] = reason;
    });
    for_each_table(*root, "unsupported", findings, [&](TableReader& reader) {
        model::UnsupportedModel rule;
        reader.text("model", rule.model);
        reader.text("reason", rule.reason);
        measurements.unsupported.push_back(std::move(rule));
    });
}

void append(std::vector<base::Finding>& findings, const base::InputError& error) {
    findings.insert(findings.end(), error.findings().begin(), error.findings().end());
}

void read_calibrations(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto root = document(path, {"calibration"}, "calibrations", measurements, findings);
    if (!root) return;
    for_each_table(*root, "calibration", findings, [&](TableReader& reader) {
        model::CalibrationRule rule;
        reader.text("file", rule.name);
        reader.texts("rows_of", rule.files);
        reader.texts("software", rule.software);
        reader.texts("accelerators", rule.accelerators);
        reader.texts("dtypes", rule.dtypes);
        reader.boolean("moe", rule.moe);
        const fs::path efficiency = (path.parent_path() / rule.name).lexically_normal();
        (void)text_of_file(efficiency, "calibration", measurements, findings);
        try {
            rule.efficiency = read_efficiency(efficiency.string());
        } catch (const base::InputError& error) {
            append(findings, error);
        }
        measurements.calibrations.push_back(std::move(rule));
    });
}

void read_limits(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto root = document(path, {"limit", "figure"}, "limits", measurements, findings);
    if (!root) return;
    for_each_table(*root, "figure", findings, [&](TableReader& reader) {
        model::FigureLimit limit;
        reader.text("table", limit.table);
        reader.text("name", limit.name);
        reader.text("measure", limit.measure);
        reader.number("target", limit.target);
        reader.number("limit", limit.limit);
        std::optional<bool> at_least;
        reader.boolean("at_least", at_least);
        limit.at_least = at_least.value_or(false);
        if (!limit.limit) limit.limit = limit.target;
        measurements.figure_limits.push_back(std::move(limit));
    });
    for_each_table(*root, "limit", findings, [&](TableReader& reader) {
        model::FamilyLimit limit;
        reader.text("family", limit.family);
        reader.text("quantity", limit.quantity);
        reader.number("mean", limit.mean);
        measurements.limits.push_back(std::move(limit));
    });
}

void read_aliases(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto text = text_of_file(path, "aliases", measurements, findings);
    if (!text) return;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    const auto aliases = json.is_object() ? json.find("aliases") : json.end();
    if (!json.is_object() || aliases == json.end() || !aliases->is_object()) {
        findings.push_back({path.string(), 0, 0, "aliases", "is missing", "an object of names"});
        return;
    }
    for (const auto& [name, id] : aliases->items())
        if (id.is_string()) measurements.aliases[name] = id.get<std::string>();
}

/// Fills the release of rows whose file says that the id holds it: four digits behind a word, year and month.
void read_release(model::PublishedRow& row, const std::vector<model::ReleaseRule>& rules) {
    for (const model::ReleaseRule& rule : rules) {
        if (!row.release.empty() || row.file != rule.file || !row.id.starts_with(rule.behind)) continue;
        const std::string digits = row.id.substr(rule.behind.size(), 4);
        if (digits.size() == 4 && digits.find_first_not_of("0123456789") == std::string::npos)
            row.release = digits.substr(0, 2) + '.' + digits.substr(2);
    }
}

/// Files of a folder with that ending, sorted by name.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& ending,
                               std::vector<base::Finding>& findings) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (entry.path().extension() == ending) files.push_back(entry.path());
    if (error) findings.push_back({folder.string(), 0, 0, {}, "cannot be read", "the folder of shipped inputs"});
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

namespace {

std::vector<model::PublishedRow> rows_of(const std::vector<fs::path>& files, model::Measurements& measurements,
                                         std::vector<base::Finding>& findings) {
    std::vector<model::PublishedRow> all;
    for (const fs::path& path : files)
        if (const auto text = text_of_file(path, "rows", measurements, findings)) {
            auto rows = parse_records(*text, path.string(), findings);
            for (model::PublishedRow& row : rows) read_release(row, measurements.releases);
            std::move(rows.begin(), rows.end(), std::back_inserter(all));
        }
    return all;
}

/// A fit has seen those of the user's rows that are shipped too. The limit of all families together belongs to the
/// shipped rows: families that nobody knows must not break it. So do the numbers of rows.
void mark_rows_of_the_user(model::Measurements& measurements, const model::Measurements& shipped) {
    std::set<std::uint64_t> seen;
    for (const model::PublishedRow& row : shipped.rows) seen.insert(model::fit_hash(row));
    for (model::PublishedRow& row : measurements.rows) {
        row.shipped = seen.contains(model::fit_hash(row));
        row.of_the_user = true;
    }
    std::erase_if(measurements.figure_limits,
                  [](const model::FigureLimit& limit) { return limit.measure == "rows" && limit.at_least; });
    std::erase_if(measurements.limits, [](const model::FamilyLimit& limit) { return limit.family == "all"; });
}

}  // namespace

model::Measurements read_measurements(const std::string& inputs_folder, const std::vector<std::string>& record_files) {
    std::vector<base::Finding> findings;
    model::Measurements measurements;
    const fs::path inputs{inputs_folder}, train = inputs / "measurements" / "train";
    for (const fs::path& path : files_of(inputs / "accelerators", ".toml", findings)) {
        (void)text_of_file(path, "accelerator", measurements, findings);
        try {
            model::Accelerator accelerator = read_accelerator(path.string());
            measurements.accelerators[accelerator.id] = std::move(accelerator);
        } catch (const base::InputError& error) {
            append(findings, error);
        }
    }
    read_aliases(inputs / "accelerators" / "aliases.json", measurements, findings);
    read_defaults(train / "defaults.toml", measurements, findings);
    read_calibrations(train / "calibrations.toml", measurements, findings);
    read_limits(train / "limits.toml", measurements, findings);
    if (record_files.empty()) {
        measurements.rows = rows_of(files_of(train, ".json", findings), measurements, findings);
    } else {
        model::Measurements shipped;  // only asked which rows a fit has seen
        shipped.rows = rows_of(files_of(train, ".json", findings), shipped, findings);
        measurements.rows = rows_of({record_files.begin(), record_files.end()}, measurements, findings);
        mark_rows_of_the_user(measurements, shipped);
    }
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    return measurements;
}

}  // namespace windtunnel::input
