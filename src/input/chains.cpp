#include "windtunnel/input/chains.hpp"

#include <algorithm>
#include <filesystem>

#include "binders.hpp"
#include "files_reader.hpp"
#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {
namespace {

namespace fs = std::filesystem;

void read_into(const std::string& path, FilesReader& reader, std::vector<model::Chain>& chains) {
    const std::size_t before = reader.findings.size();
    const auto values = reader.values(path, "chain");
    if (!values || reader.findings.size() > before) return;
    Findings findings;
    for (model::Chain& chain : bind_chains(*values, findings)) {
        chain.id = fs::path{path}.stem().string();
        chain.text_hash = reader.files.back().hash;
        chains.push_back(std::move(chain));
    }
    reader.findings.insert(reader.findings.end(), findings.begin(), findings.end());
}

}  // namespace

std::vector<model::Chain> read_chains(const std::string& path, const FileProvider& provider) {
    FilesReader reader{provider};
    std::vector<model::Chain> chains;
    read_into(path, reader, chains);
    if (!reader.findings.empty()) throw base::InputError{std::move(reader.findings)};
    return chains;
}

std::vector<model::Chain> read_chains(const std::string& path) {
    return read_chains(path, read_file);
}

std::vector<model::Chain> read_chains(const std::vector<std::string>& paths) {
    const FileProvider provider = read_file;
    FilesReader reader{provider};
    std::vector<model::Chain> chains;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            read_into(path, reader, chains);
            continue;
        }
        std::vector<std::string> files;
        for (const fs::directory_entry& entry : fs::directory_iterator{path, error})
            if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
        std::sort(files.begin(), files.end());
        if (files.empty()) reader.findings.push_back({path, 0, 0, {}, "holds no chain file", "files *.toml"});
        for (const std::string& file : files) read_into(file, reader, chains);
    }
    if (!reader.findings.empty()) throw base::InputError{std::move(reader.findings)};
    return chains;
}

bool is_chain_file(const std::string& path) {
    const FileText file = read_file(path);
    if (!file.problem.empty() || file.folder) return false;
    std::vector<base::Finding> findings;
    const auto root = parse_toml(file.text, path, findings);
    return root && root->find("measure") != nullptr &&
           (root->find("chain") != nullptr || root->find("component") != nullptr || root->find("function") != nullptr ||
            root->find("checkpoint") != nullptr);
}

}  // namespace windtunnel::input
