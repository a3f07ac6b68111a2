#pragma once
/// Files to values. Every finding of every file is reported at once (base::InputError).
#include <string>
#include <utility>
#include <vector>

#include "windtunnel/model/plan.hpp"

namespace windtunnel::input {

/// `plan.key=value` of the command line, as --set gives it: replaces or adds a key before the plan is checked.
struct Override {
    std::string key;    ///< dotted path below the plan's root, for example train.layout.tensor_parallel
    std::string value;  ///< TOML value text; bare words are taken as strings
};

/// Reads the plan and every file that it names (relative to the plan's folder). Throws base::InputError.
[[nodiscard]] model::Plan read_plan(const std::string& path, const std::vector<Override>& overrides);

/// A model from TOML, or a Hugging Face config.json (the file, or a folder that holds one). Throws base::InputError.
[[nodiscard]] model::Transformer read_model(const std::string& path);
[[nodiscard]] model::Accelerator read_accelerator(const std::string& path);
[[nodiscard]] model::Efficiency read_efficiency(const std::string& path);

}  // namespace windtunnel::input
