#include "files_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "binders.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/input/hugging_face.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t most_bytes = 16u << 20u;

/// Offset of the first byte that is no UTF-8 text; npos: all is.
std::size_t first_bad_byte(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t length = lead < 0x80                   ? 1
                                   : lead >= 0xC2 && lead < 0xE0 ? 2
                                   : lead >= 0xE0 && lead < 0xF0 ? 3
                                   : lead >= 0xF0 && lead < 0xF5 ? 4
                                                                 : 0;
        if (length == 0 || lead == 0 || at + length > text.size()) return at;
        for (std::size_t i = 1; i < length; ++i)
            if ((static_cast<unsigned char>(text[at + i]) & 0xC0u) != 0x80u) return at;
        at += length;
    }
    return std::string::npos;
}

}  // namespace

std::optional<std::string> FilesReader::text(const std::string& path, const std::string& role, const Place& from,
                                             const std::string& field) {
    FileText file = provider_(path);
    if (file.folder && role == "model") file = provider_(path + "/config.json");
    std::string problem = file.problem;
    if (problem.empty() && file.folder) problem = "is a folder";
    if (problem.empty() && file.text.size() > most_bytes) problem = "is larger than 16 MiB";
    if (!problem.empty()) {
        if (from.file.empty() && from.option.empty())
            findings.push_back({path, 0, 0, {}, problem, role == "plan" ? "a plan file" : "a file of kind " + role});
        else
            findings.push_back(
                finding_at(from, field, fmt::format("{} {}", path, problem), "the path of a file of kind " + role));
        return std::nullopt;
    }
    if (const std::size_t bad = first_bad_byte(file.text); bad != std::string::npos) {
        const auto line = 1 + std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
        findings.push_back({path, static_cast<int>(line), 0, {}, "not UTF-8 text", {}});
        return std::nullopt;
    }
    files.push_back({role, path, file.text, base::fnv1a_64(file.text)});
    return std::move(file.text);
}

std::optional<Values> FilesReader::values(const std::string& path, const std::string& kind, const Place& from,
                                          const std::string& field) {
    const auto content = text(path, kind, from, field);
    if (!content) return std::nullopt;
    const auto root = parse_toml(*content, path, findings);
    if (!root) return std::nullopt;
    Values read = read_values(*root, key_file(kind), findings);
    note_assumptions(read, kind);
    return read;
}

void FilesReader::note_assumptions(const Values& read, const std::string& name) {
    for (const auto& [path, value] : read.values) {
        for (const Values& table : value.tables) note_assumptions(table, name);
        if (!value.given || (value.basis != "assumed" && value.basis != "recalled")) continue;
        assumptions.push_back(fmt::format("{}.{} = {} ({}{}{})", name, field_of(read, path), value.spelling,
                                          value.basis, value.source.empty() ? "" : ": ", value.source));
    }
}

std::optional<model::Transformer> FilesReader::model(const std::string& path, const Place& from,
                                                     const std::string& field) {
    const std::size_t before = findings.size();
    model::Transformer transformer;
    if (path.ends_with(".json") || provider_(path).folder) {
        const auto content = text(path, "model", from, field);
        if (content) transformer = read_hugging_face(*content, files.back().path, findings);
    } else if (const auto read = values(path, "model", from, field)) {
        transformer = bind_model(*read, findings);
    }
    if (findings.size() > before) return std::nullopt;
    return transformer;
}

std::string beside(const std::string& file, const std::string& path) {
    return (fs::path{file}.parent_path() / path).lexically_normal().string();
}

}  // namespace windtunnel::input
