#pragma once
/// From options to a run of the driver, and from its outcome to an exit code: the same for every study.
#include <functional>
#include <string>
#include <vector>

#include "windtunnel/app/command_line.hpp"
#include "windtunnel/app/common_options.hpp"
#include "windtunnel/driver/run.hpp"
#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::app {

/// Throws base::InputError for options that contradict each other.
[[nodiscard]] driver::RunOptions run_options_of(const Arguments& arguments, const Context& context,
                                                const model::Plan& plan);

/// --dry-run: what `check` prints.
[[nodiscard]] ExitCode print_dry_run(const Arguments& arguments, Context& context, const model::Plan& plan);

/// What is said about a run without an answer of its own: a part, an interruption, an answer that was there already.
/// Nothing for a complete run.
void print_outcome(const Arguments& arguments, Context& context, const driver::RunOptions& options,
                   driver::RunStatus status, const std::vector<store::Table>& tables);

/// Runs the study, or gathers its journals; `answer` prints a whole result at rank 0 and says whether anything is
/// feasible.
template <study::Study S, class Answer>
[[nodiscard]] ExitCode run_planned(const S& study, const Arguments& arguments, Context& context,
                                   const model::Plan& plan, const Answer& answer) {
    const driver::RunOptions options = run_options_of(arguments, context, plan);
    const auto outcome = context.gather ? driver::gather(study, context.gather->journals, options, context.communicator)
                                        : driver::run_study(study, options, context.communicator);
    if (context.communicator.is_root()) {
        if (outcome.status == driver::RunStatus::complete) return answer(outcome.state);
        print_outcome(arguments, context, options, outcome.status, outcome.tables);
    }
    return static_cast<ExitCode>(driver::exit_code(outcome.status, !options.output.empty()));
}

}  // namespace windtunnel::app
