#pragma once
/// The measures of chains.
#include <span>
#include <string>

#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/recovery_machine.hpp"
#include "windtunnel/study/chain_study.hpp"

namespace windtunnel::report {

struct SolvedChain {
    model::Chain chain;
    avail::ChainAnswer answer;
};

[[nodiscard]] std::string chain_text(std::span<const SolvedChain> chains);
[[nodiscard]] std::string chain_json(std::span<const SolvedChain> chains);

[[nodiscard]] std::string sampled_text(std::span<const study::SampledChain> chains);
[[nodiscard]] std::string sampled_json(std::span<const study::SampledChain> chains);

/// Mean visits and times of a run of the machine from its initial to its final state.
[[nodiscard]] std::string machine_text(const model::RecoveryMachine& machine, const avail::MachineVisits& visits);
[[nodiscard]] std::string machine_json(const model::RecoveryMachine& machine, const avail::MachineVisits& visits);

}  // namespace windtunnel::report
