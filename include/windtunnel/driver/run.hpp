#pragma once
/// Runs any study: rounds, blocks over ranks and threads, journal, resume, parts, result file.
#include <string>
#include <utility>
#include <vector>

#include "windtunnel/driver/any_study.hpp"
#include "windtunnel/driver/options.hpp"
#include "windtunnel/parallel/communicator.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::driver {

/// What a run of an AnyStudy gives at rank 0; at other ranks the status alone.
struct AnyOutcome {
    RunStatus status = RunStatus::complete;
    std::vector<store::Table> tables;
};
[[nodiscard]] AnyOutcome run_any_study(const AnyStudy& study, const RunOptions& options,
                                       parallel::Communicator& communicator);
[[nodiscard]] AnyOutcome gather_any_study(const AnyStudy& study, const std::vector<std::string>& journals,
                                          const RunOptions& options, parallel::Communicator& communicator);

/// Collective: every rank calls it with an equal study. Throws base::InputError or base::RunError, the same on all
/// ranks (print it at rank 0). /results do not depend on ranks, threads, kills and resumes, bit for bit.
template <study::Study S>
[[nodiscard]] Outcome<typename S::State> run_study(const S& study, const RunOptions& options,
                                                   parallel::Communicator& communicator) {
    typename S::State state = study.start();
    AnyOutcome any = run_any_study(erase_study(study, state), options, communicator);
    return {any.status, exit_code(any.status, !options.output.empty()), std::move(any.tables), std::move(state)};
}

/// One result from the journals of a study: of an unfinished run, or of the parts of an array. Blocks that no journal
/// has make it incomplete; rounds after the one that was cut into parts are computed here. The journals stay.
template <study::Study S>
[[nodiscard]] Outcome<typename S::State> gather(const S& study, const std::vector<std::string>& journals,
                                                const RunOptions& options, parallel::Communicator& communicator) {
    typename S::State state = study.start();
    AnyOutcome any = gather_any_study(erase_study(study, state), journals, options, communicator);
    return {any.status, exit_code(any.status, !options.output.empty()), std::move(any.tables), std::move(state)};
}

}  // namespace windtunnel::driver
