#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "table_reader.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/serve_records.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<base::Finding>;
using model::ServeMeasurements;

std::optional<std::string> noted_text(const fs::path& path, const char* role, ServeMeasurements& all,
                                      Findings& findings) {
    FileText file = read_file(path.string());
    if (file.folder) file.problem = "is a folder";
    if (!file.problem.empty()) {
        findings.push_back({path.string(), 0, 0, {}, file.problem, {}});
        return std::nullopt;
    }
    all.files.push_back({role, path.string(), file.text, base::fnv1a_64(file.text)});
    return std::move(file.text);
}

/// What `read` gives; its findings join the others.
template <class Read>
auto collected(const Read& read, Findings& findings) -> std::optional<decltype(read())> {
    try {
        return read();
    } catch (const base::InputError& error) {
        findings.insert(findings.end(), error.findings().begin(), error.findings().end());
        return std::nullopt;
    }
}

/// Calls `read` with each table of the array `name`; other names in the file are findings.
template <class Read>
void tables_of(const fs::path& path, const char* name, const char* role, ServeMeasurements& all, Findings& findings,
               const Read& read) {
    const auto text = noted_text(path, role, all, findings);
    const auto root = text ? parse_toml(*text, path.string(), findings) : std::nullopt;
    if (!root) return;
    for (const Member& member : root->members)
        if (member.key != name)
            findings.push_back(
                finding_at(member.place, member.key, "is not a table of this file", "[[" + std::string{name} + "]]"));
    for_each_table(*root, name, findings, read);
}

std::vector<fs::path> sorted_files(const fs::path& folder, const std::string& ending, Findings& findings) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (entry.path().extension() == ending) files.push_back(entry.path());
    if (error) findings.push_back({folder.string(), 0, 0, {}, "cannot be read", "the folder of shipped inputs"});
    std::sort(files.begin(), files.end());
    return files;
}

void read_cards(const fs::path& folder, ServeMeasurements& all, Findings& findings) {
    for (const fs::path& path : sorted_files(folder, ".toml", findings)) {
        (void)noted_text(path, "accelerator", all, findings);
        if (auto card = collected([&] { return read_accelerator(path.string()); }, findings))
            all.accelerators[card->id] = std::move(*card);
    }
    const auto text = noted_text(folder / "aliases.json", "aliases", all, findings);
    const auto json = nlohmann::json::parse(text.value_or("{}"), nullptr, false);
    if (!json.is_object() || !json.contains("aliases") || !json["aliases"].is_object()) {
        findings.push_back({(folder / "aliases.json").string(), 0, 0, "aliases", "is missing", "an object of names"});
        return;
    }
    for (const auto& [name, id] : json["aliases"].items())
        if (id.is_string()) all.aliases[name] = id.get<std::string>();
}

void read_models(const fs::path& path, ServeMeasurements& all, Findings& findings) {
    tables_of(path, "model", "models", all, findings, [&](TableReader& reader) {
        std::string file, note;
        std::vector<std::string> names;
        reader.text("file", file);
        reader.texts("names", names);
        reader.text("note", note);
        model::VisionTower vision;
        reader.integer("vision_layers", vision.layers, 1);
        reader.integer("vision_hidden", vision.hidden, 1);
        reader.integer("vision_ffn", vision.ffn, 1);
        reader.integer("vision_patch", vision.patch, 1);
        const fs::path of_model = (path.parent_path() / file).lexically_normal();
        (void)noted_text(of_model, "model", all, findings);
        const auto transformer = collected([&] { return read_model(of_model.string()); }, findings);
        if (!transformer) return;
        for (const std::string& name : names) {
            all.models[name] = *transformer;
            if (vision.layers > 0) all.vision[name] = vision;
            if (!note.empty()) all.notes[name] = note;
        }
    });
}

void read_rules(const fs::path& path, ServeMeasurements& all, Findings& findings) {
    tables_of(path, "calibration", "calibrations", all, findings, [&](TableReader& reader) {
        model::EngineRule rule;
        reader.text("file", rule.name);
        reader.texts("rows_of", rule.files);
        reader.texts("engines", rule.engines);
        reader.texts("accelerators", rule.accelerators);
        reader.texts("ids", rule.ids);
        reader.boolean("moe", rule.moe);
        reader.text("start", rule.start);
        reader.texts("fit", rule.parameters);
        reader.number("prior_weight", rule.prior_weight);
        std::optional<bool> every_row;
        reader.boolean("every_row", every_row);
        rule.every_row = every_row.value_or(false);
        const fs::path file = (path.parent_path() / rule.name).lexically_normal();
        (void)noted_text(file, "calibration", all, findings);
        if (auto set = collected([&] { return read_engine_efficiency(file.string()); }, findings))
            rule.efficiency = std::move(*set);
        for (const std::string& name : rule.parameters)
            if (std::none_of(model::engine_parameters().begin(), model::engine_parameters().end(),
                             [&](const model::EngineParameter& known) { return known.name == name; }))
                findings.push_back({path.string(), 0, 0, "fit", "\"" + name + "\" is no parameter", {}});
        all.rules.push_back(std::move(rule));
    });
}

std::vector<model::ServeRow> rows_of(const std::vector<fs::path>& files, ServeMeasurements& all, Findings& findings) {
    std::vector<model::ServeRow> rows;
    for (const fs::path& path : files) {
        const auto text = noted_text(path, "rows", all, findings);
        if (!text) continue;
        auto read = path.extension() == ".json" ? parse_points(*text, path.string(), findings)
                                                : parse_serve_table(*text, path.string(), findings);
        std::move(read.begin(), read.end(), std::back_inserter(rows));
    }
    return rows;
}

}  // namespace

ServeMeasurements read_serve_measurements(const std::string& inputs_folder, const std::vector<std::string>& files) {
    Findings findings;
    ServeMeasurements all;
    const fs::path inputs{inputs_folder}, serve = inputs / "measurements" / "serve";
    read_cards(inputs / "accelerators", all, findings);
    read_models(serve / "models.toml", all, findings);
    read_rules(serve / "calibrations.toml", all, findings);
    tables_of(serve / "set_aside.toml", "set_aside", "rows set aside", all, findings, [&](TableReader& reader) {
        model::SetAside rule;
        reader.text("engine", rule.engine);
        reader.text("version", rule.version);
        reader.text("accelerator", rule.accelerator);
        reader.text("reason", rule.reason);
        all.set_aside.push_back(std::move(rule));
    });
    tables_of(serve / "limits.toml", "figure", "limits", all, findings, [&](TableReader& reader) {
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
        all.figure_limits.push_back(std::move(limit));
    });
    std::vector<fs::path> shipped = sorted_files(serve, ".csv", findings);
    shipped.push_back(serve / "points.json");
    if (files.empty()) {
        all.rows = rows_of(shipped, all, findings);
    } else {
        ServeMeasurements seen;  // only asked which rows a fit has seen
        std::set<std::string> keys;
        for (const model::ServeRow& row : rows_of(shipped, seen, findings))
            keys.insert(base::hex_text(serve_fit_hash(row)));
        all.rows = rows_of({files.begin(), files.end()}, all, findings);
        for (model::ServeRow& row : all.rows) row.shipped = keys.contains(base::hex_text(serve_fit_hash(row)));
        all.figure_limits.clear();  // they belong to the shipped rows
    }
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    return all;
}

}  // namespace windtunnel::input
