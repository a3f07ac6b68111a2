#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/avail/history.hpp"
#include "windtunnel/report/trials_answer.hpp"
#include "windtunnel/study/rehearse_study.hpp"

namespace windtunnel::app {
namespace {

/// The search of the plan, then one trial of its winner, event by event.
ExitCode print_trial(const Arguments& arguments, Context& context, const model::Plan& plan, std::int64_t trial) {
    for (const char* name : {"output", "trials", "half-width", "part", "resume"}) {
        if (arguments.has(name))
            throw_usage_error(std::string{"--"} + name, "has no meaning with --trial", "one of the two");
    }
    const study::SearchStudy study{plan};
    return run_planned(study, arguments, context, plan, [&](const study::SearchStudy::State& state) {
        const study::SearchAnswer answer = study.answer(state);
        if (!answer.feasible()) {
            context.out << report::rehearse_text(plan, {answer, {}}, 1);
            return ExitCode::infeasible;
        }
        const study::TrialJobs jobs{plan, answer.best.front().layout, answer.best.front().step_time};
        const std::vector<std::string> names = study::variant_names(plan);
        std::vector<report::PrintedHistory> histories;
        for (std::size_t i = 0; i < jobs.jobs().size(); ++i) {
            report::PrintedHistory printed{names[i], {}, {}};
            printed.history =
                avail::history(jobs.jobs()[i], plan.seed, static_cast<std::uint64_t>(trial), printed.events);
            histories.push_back(std::move(printed));
        }
        context.out << (arguments.has("json") ? report::histories_json(histories, trial)
                                              : report::histories_text(histories, trial));
        return ExitCode::done;
    });
}

}  // namespace

Command rehearse_command() {
    return {"rehearse",
            "The whole plan: the best layout, then its run with failures and recovery until the last token.",
            "PLAN",
            1,
            1,
            together({trial_options(),
                      {{"trial", "K", "print the history of trial K of the winner, event by event", "none"},
                       top_option("10")},
                      plan_options(),
                      run_options(),
                      print_options()})};
}

ExitCode run_rehearse(const Arguments& arguments, Context& context) {
    const study::RehearseOptions options{stop_rule_of(arguments)};
    constexpr std::int64_t usual_top = 10;
    const std::int64_t top = top_of(arguments, usual_top);
    const auto trial = arguments.integer("trial", 0, study::StopRule::most_trials);
    const model::Plan plan = plan_on_all_ranks(arguments, context.communicator);
    if (arguments.has("dry-run")) return print_dry_run(arguments, context, plan);
    if (trial) return print_trial(arguments, context, plan, *trial);
    const study::RehearseStudy study{plan, options};
    return run_planned(study, arguments, context, plan, [&](const study::RehearseStudy::State& state) {
        const study::RehearseAnswer answer = study.answer(state);
        const auto rows = static_cast<std::size_t>(top);
        context.out << (arguments.has("json") ? report::rehearse_json(plan, answer, rows)
                                              : report::rehearse_text(plan, answer, rows));
        return answer.feasible() ? ExitCode::done : ExitCode::infeasible;
    });
}

}  // namespace windtunnel::app
