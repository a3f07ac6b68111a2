#pragma once
/// Chains from TOML files: `[chain]` or `[[component]]`, `[[measure]]`, `[expected]`.
#include <string>
#include <vector>

#include "windtunnel/input/read.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::input {

/// What one file asks: one chain, or one for each variant. Throws base::InputError.
[[nodiscard]] std::vector<model::Chain> read_chains(const std::string& path);
[[nodiscard]] std::vector<model::Chain> read_chains(const std::string& path, const FileProvider& provider);

/// Every chain of files and of folders (their *.toml, by name); all findings at once. Throws base::InputError.
[[nodiscard]] std::vector<model::Chain> read_chains(const std::vector<std::string>& paths);

/// Is this a chain file: TOML with [chain] or [[component]], and with [[measure]]?
[[nodiscard]] bool is_chain_file(const std::string& path);

}  // namespace windtunnel::input
