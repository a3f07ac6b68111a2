#include "windtunnel/input/read.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "binders.hpp"
#include "files_reader.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;
constexpr std::streamsize most_bytes = 16 << 20;

/// What a file of one kind gives, or its findings.
template <class Bind>
auto read_one(const std::string& path, const std::string& kind, const Bind& bind) {
    const FileProvider provider = read_file;
    FilesReader reader{provider};
    const auto values = reader.values(path, kind);
    if (!values) throw base::InputError{std::move(reader.findings)};
    auto result = bind(*values, reader);
    if (!reader.findings.empty()) throw base::InputError{std::move(reader.findings)};
    return result;
}

}  // namespace

FileText read_file(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return {{}, "does not exist", false};
    if (fs::is_directory(status)) return {{}, {}, true};
    std::ifstream file{path, std::ios::binary};
    if (!file) return {{}, "cannot be read: no right to open it", false};
    FileText result;
    result.text.resize(static_cast<std::size_t>(most_bytes) + 1);
    file.read(result.text.data(), most_bytes + 1);
    result.text.resize(static_cast<std::size_t>(file.gcount()));
    result.text.shrink_to_fit();
    if (file.bad()) result.problem = "cannot be read";
    if (file.gcount() > most_bytes) result.problem = "is larger than 16 MiB";
    return result;
}

model::Plan read_plan(const std::string& path, const std::vector<Override>& overrides) {
    return read_plan(path, overrides, read_file);
}

model::Transformer read_model(const std::string& path) {
    return read_model(path, read_file);
}

model::Transformer read_model(const std::string& path, const FileProvider& provider) {
    FilesReader reader{provider};
    auto transformer = reader.model(path);
    if (!transformer) throw base::InputError{std::move(reader.findings)};
    return std::move(*transformer);
}

model::Accelerator read_accelerator(const std::string& path) {
    return read_one(path, "accelerator", [](const Values& values, FilesReader& reader) {
        return bind_accelerator(values, reader.findings);
    });
}

model::Efficiency read_efficiency(const std::string& path) {
    return read_one(path, "calibration",
                    [](const Values& values, FilesReader& reader) { return bind_efficiency(values, reader.findings); });
}

model::EngineEfficiency read_engine_efficiency(const std::string& path) {
    return read_one(path, "engine", [](const Values& values, FilesReader&) { return bind_engine_efficiency(values); });
}

model::Failures read_failures(const std::string& path) {
    return read_one(path, "failures",
                    [](const Values& values, FilesReader& reader) { return bind_failures(values, reader.findings); });
}

model::Cluster read_cluster(const std::string& path) {
    return read_one(path, "cluster", [&](const Values& values, FilesReader& reader) {
        model::Accelerator card;
        const Value& named = values["accelerator"];
        if (named.given && !named.bad)
            if (const auto file = reader.values(beside(path, named.text), "accelerator", named.place, "accelerator"))
                card = bind_accelerator(*file, reader.findings);
        return bind_cluster(values, card, reader.findings);
    });
}

}  // namespace windtunnel::input
