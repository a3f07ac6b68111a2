#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "table_reader.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/cross_checks.hpp"
#include "windtunnel/input/quantity.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;

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
        reader.integer("layers_per_chunk", defaults.layers_per_chunk, 1);
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
            rule.record = read_fit_record(efficiency.string());
        } catch (const base::InputError& error) {
            append(findings, error);
        }
        measurements.calibrations.push_back(std::move(rule));
    });
}

void read_fit(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    const auto root = document(path, {"set"}, "fit", measurements, findings);
    if (!root) return;
    for_each_table(*root, "set", findings, [&](TableReader& reader) {
        model::FitSet set;
        std::optional<std::string> models;
        std::optional<bool> releases;
        double ratio = 0.0;
        std::string reason;
        reader.text("name", set.name);
        reader.text("about", set.about);
        reader.text("parent", set.parent);
        reader.texts("software", set.software);
        reader.texts("free", set.free);
        reader.boolean("releases", releases);
        reader.text("models", models, {"any", "dense", "moe"});
        reader.number("gemm_prior_ratio", ratio);
        reader.text("reason", reason);
        set.releases = releases.value_or(false);
        set.models = models.value_or("any");
        if (ratio > 0.0) set.gemm_prior_ratio = ratio;
        const auto known = [&](const std::string& name) {
            return std::any_of(measurements.fit_sets.begin(), measurements.fit_sets.end(),
                               [&](const model::FitSet& other) { return other.name == name; });
        };
        if (!set.parent.empty() && !known(set.parent))
            findings.push_back({path.string(), 0, 0, "parent", "\"" + set.parent + "\" is no set above this one", {}});
        if (known(set.name)) findings.push_back({path.string(), 0, 0, "name", "\"" + set.name + "\" stands twice", {}});
        measurements.fit_sets.push_back(std::move(set));
    });
}

/// Made by `calibrate --leave-one-source-out`; nothing without the file.
void read_left_out(const fs::path& path, model::Measurements& measurements, std::vector<base::Finding>& findings) {
    if (!fs::exists(path)) return;
    const auto root = document(path, {"source"}, "left out", measurements, findings);
    if (!root) return;
    for_each_table(*root, "source", findings, [&](TableReader& reader) {
        std::string file;
        std::vector<std::string> ids;
        std::vector<double> left_out, reported;
        reader.text("file", file);
        reader.texts("rows", ids);
        reader.numbers("left_out_s", left_out);
        reader.numbers("reported_s", reported);
        if (ids.size() != left_out.size() || ids.size() != reported.size()) {
            findings.push_back({path.string(), 0, 0, file, "lists of different lengths", "a value for each row"});
            return;
        }
        for (std::size_t i = 0; i < ids.size(); ++i)
            measurements.left_out[file + '/' + ids[i]] = {left_out[i], reported[i]};
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
    // An interval that is wide for rows that are predicted well is no fault of theirs.
    std::erase_if(measurements.figure_limits, [](const model::FigureLimit& limit) {
        return (limit.measure == "rows" && limit.at_least) || limit.measure == "held, at most" ||
               limit.measure == "half-width to mean error";
    });
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
    read_fit(train / "fit.toml", measurements, findings);
    read_left_out(train / "leave_one_source_out.toml", measurements, findings);
    read_limits(train / "limits.toml", measurements, findings);
    if (record_files.empty()) {
        for (const fs::path& path : files_of(inputs / "measurements" / "cross_check", ".json", findings))
            if (const auto text = text_of_file(path, "cross-check", measurements, findings))
                measurements.cross_checks = parse_cross_checks(*text, path.string(), findings);
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
