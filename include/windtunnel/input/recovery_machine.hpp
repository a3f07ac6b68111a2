#pragma once
/// The ladder of recovery from a TOML file: [[state]] and [[transition]].
#include <string>

#include "windtunnel/input/read.hpp"
#include "windtunnel/model/recovery_machine.hpp"

namespace windtunnel::input {

/// Throws base::InputError: unknown or doubled states and events, states that nothing reaches or that do not lead to
/// the final state, probabilities of a state that do not sum to 1 (or to 0: its action never ends a run that is asked).
[[nodiscard]] model::RecoveryMachine read_recovery_machine(const std::string& path);
[[nodiscard]] model::RecoveryMachine read_recovery_machine(const std::string& path, const FileProvider& provider);

/// Is this such a file: TOML with [[state]] and [[transition]]?
[[nodiscard]] bool is_recovery_machine_file(const std::string& path);

}  // namespace windtunnel::input
