#pragma once
/// Files to values. Every finding of every file is reported at once (base::InputError).
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::input {

/// `plan.key=value` of the command line, as --set gives it: replaces or adds a key before the plan is checked.
struct Override {
    std::string key;    ///< dotted path below the plan's root, for example train.layout.tensor_parallel
    std::string value;  ///< TOML value text; bare words are taken as strings
};

/// Text of a file, or why it cannot be had.
struct FileText {
    std::string text;
    std::string problem;  ///< empty: read
    bool folder = false;  ///< the path is a folder
};
/// Gives the text of a path; tests read from memory.
using FileProvider = std::function<FileText(const std::string& path)>;
/// From disk, at most 16 MiB.
[[nodiscard]] FileText read_file(const std::string& path);

/// Reads the plan and every file that it names (relative to the plan's folder). Throws base::InputError.
[[nodiscard]] model::Plan read_plan(const std::string& path, const std::vector<Override>& overrides);
[[nodiscard]] model::Plan read_plan(const std::string& path, const std::vector<Override>& overrides,
                                    const FileProvider& provider);

/// A model from TOML, or a Hugging Face config.json (the file, or a folder that holds one). Throws base::InputError.
[[nodiscard]] model::Transformer read_model(const std::string& path);
[[nodiscard]] model::Transformer read_model(const std::string& path, const FileProvider& provider);
[[nodiscard]] model::Accelerator read_accelerator(const std::string& path);
[[nodiscard]] model::Efficiency read_efficiency(const std::string& path);
[[nodiscard]] model::EngineEfficiency read_engine_efficiency(const std::string& path);
[[nodiscard]] model::Cluster read_cluster(const std::string& path);
[[nodiscard]] model::Failures read_failures(const std::string& path);

}  // namespace windtunnel::input
