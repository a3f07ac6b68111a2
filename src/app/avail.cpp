#include <limits>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/avail/chain_answer.hpp"
#include "windtunnel/avail/exact.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/chains.hpp"
#include "windtunnel/input/recovery_machine.hpp"
#include "windtunnel/parallel/first_error.hpp"
#include "windtunnel/report/chain_answer.hpp"
#include "windtunnel/report/trials_answer.hpp"
#include "windtunnel/study/avail_study.hpp"
#include "windtunnel/study/chain_study.hpp"
#include "windtunnel/study/layout_choice.hpp"

namespace windtunnel::app {
namespace {

/// Rank 0 alone: closed forms take no time.
ExitCode print_exact(const Arguments& arguments, Context& context, const model::Plan& plan) {
    for (const char* name : {"output", "trials", "half-width", "part", "resume"}) {
        if (arguments.has(name))
            throw_usage_error(std::string{"--"} + name, "has no meaning with --exact", "one of the two");
    }
    const study::TrainPoint point = study::train_point(train::job_of(plan), study::chosen_layout(plan));
    if (!point.verdict.feasible()) {
        context.out << (arguments.has("json") ? report::avail_json(plan, {point, {}})
                                              : report::avail_text(plan, {point, {}}));
        return ExitCode::infeasible;
    }
    const study::TrialJobs jobs{plan, point.layout, point.step->step_time};
    const std::vector<std::string> names = study::variant_names(plan);
    std::vector<report::ExactVariant> variants;
    bool any = false;
    for (std::size_t i = 0; i < jobs.jobs().size(); ++i) {
        variants.push_back({names[i], avail::exact_answer(jobs.jobs()[i])});
        any = any || variants.back().exact.answer.has_value();
    }
    context.out << (arguments.has("json") ? report::exact_json(plan, variants)
                                          : report::exact_text(plan, point, variants));
    return any ? ExitCode::done : ExitCode::infeasible;
}

/// Rank 0 alone: the measures of a chain file.
ExitCode solve_chains(const Arguments& arguments, Context& context) {
    for (const char* name :
         {"output", "trials", "half-width", "method", "part", "resume", "overwrite", "seed", "set", "dry-run"})
        if (arguments.has(name))
            throw_usage_error(std::string{"--"} + name, "has no meaning with --exact", "one of the two");
    if (!context.communicator.is_root()) return ExitCode::done;
    std::vector<report::SolvedChain> solved;
    std::vector<base::Finding> findings;
    for (model::Chain& chain : input::read_chains(arguments.positional()[0])) {
        avail::ChainAnswer answer = avail::answer_chain(chain);
        findings.insert(findings.end(), answer.findings.begin(), answer.findings.end());
        solved.push_back({std::move(chain), std::move(answer)});
    }
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    context.out << (arguments.has("json") ? report::chain_json(solved) : report::chain_text(solved));
    return ExitCode::done;
}

/// Rank 0 alone: mean visits of the states of recovery.
ExitCode solve_machine(const Arguments& arguments, Context& context) {
    const std::string& path = arguments.positional()[0];
    if (!arguments.has("exact"))
        throw_usage_error(path, "is a table of recovery: it has exact answers only", "--exact");
    if (!context.communicator.is_root()) return ExitCode::done;
    const model::RecoveryMachine machine = input::read_recovery_machine(path);
    const avail::MachineVisits visits = avail::machine_visits(machine, machine.initial);
    context.out << (arguments.has("json") ? report::machine_json(machine, visits)
                                          : report::machine_text(machine, visits));
    return ExitCode::done;
}

avail::SampleMethod method_of(const Arguments& arguments) {
    using enum avail::SampleMethod;
    const std::string text = arguments.has("method") ? arguments.text("method") : "automatic";
    const std::vector<std::pair<std::string, avail::SampleMethod>> words{
        {"automatic", automatic}, {"plain", plain}, {"importance", importance}, {"splitting", splitting}};
    std::vector<std::string> known;
    for (const auto& [word, method] : words) {
        if (word == text) return method;
        known.push_back(word);
    }
    throw_usage_error("--method", "\"" + text + "\" is no method", base::nearest_name(text, known));
}

/// Paths need a chain with rates that are numbers.
void check_that_paths_exist(const std::vector<model::Chain>& chains) {
    std::vector<base::Finding> findings;
    for (const model::Chain& chain : chains) {
        const model::FilePlace& place = chain.place;
        const auto add = [&](std::string message) {
            findings.push_back({place.file, place.line, place.column, place.field, std::move(message), "--exact"});
        };
        if (chain.variables.empty()) add("has no states: there are no paths to sample");
        if (chain.has_clocks()) add("has transitions with a law of their own: they are solved exactly only");
        for (const model::ChainConstant& constant : chain.constants)
            if (constant.unknown) add(constant.name + " is unknown: no path can be drawn");
    }
    if (!findings.empty()) throw base::InputError{std::move(findings)};
}

/// The measures of a chain file by sampled paths.
ExitCode sample_chains(const Arguments& arguments, Context& context) {
    for (const char* name : {"set", "dry-run"})
        if (arguments.has(name)) throw_usage_error(std::string{"--"} + name, "has no meaning for a chain file", "");
    study::ChainOptions options;
    options.stop = stop_rule_of(arguments);
    options.method = method_of(arguments);
    options.seed =
        static_cast<std::uint64_t>(arguments.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
    const std::string& path = arguments.positional()[0];
    std::optional<study::ChainStudy> study;
    model::Plan plan;  // a chain file brings all that it needs
    parallel::on_all_ranks(context.communicator, [&] {
        std::vector<model::Chain> chains = input::read_chains(path);
        check_that_paths_exist(chains);
        plan.seed = options.seed;
        plan.files.push_back({"chain", path, input::read_file(path).text, chains.at(0).text_hash});
        study.emplace(std::move(chains), options);
    });
    return run_planned(*study, arguments, context, plan, [&](const study::ChainStudy::State& state) {
        const std::vector<study::SampledChain> answer = study->answer(state);
        context.out << (arguments.has("json") ? report::sampled_json(answer) : report::sampled_text(answer));
        return ExitCode::done;
    });
}

}  // namespace

Command avail_command() {
    return {
        "avail",
        "Useful time of the plan's layout under failures, by histories until the interval is narrow enough.",
        "PLAN|CHAIN",
        1,
        1,
        together({trial_options(),
                  {{"exact", "",
                    "the long run by closed forms, where failures and repairs make a Markov chain; where they make "
                    "none for any variant: the reason, and exit code 3. Of a chain file: its measures"},
                   {"method", "METHOD",
                    "how the paths of a chain file are drawn: plain; importance: towards rare targets, weighted; "
                    "splitting: those that come closer go on several times; automatic: importance where targets are "
                    "rare",
                    "automatic"}},
                  plan_options(),
                  run_options(),
                  print_options()})};
}

ExitCode run_avail(const Arguments& arguments, Context& context) {
    if (input::is_recovery_machine_file(arguments.positional()[0])) return solve_machine(arguments, context);
    if (input::is_chain_file(arguments.positional()[0]))
        return arguments.has("exact") ? solve_chains(arguments, context) : sample_chains(arguments, context);
    if (arguments.has("method")) throw_usage_error("--method", "has a meaning for chain files only", "");
    const study::AvailOptions options{stop_rule_of(arguments)};
    const model::Plan plan = plan_on_all_ranks(arguments, context.communicator);
    if (arguments.has("dry-run")) return print_dry_run(arguments, context, plan);
    if (arguments.has("exact")) return print_exact(arguments, context, plan);
    const study::AvailStudy study{plan, options};
    return run_planned(study, arguments, context, plan, [&](const study::AvailStudy::State& state) {
        const study::AvailAnswer answer = study.answer(state);
        context.out << (arguments.has("json") ? report::avail_json(plan, answer) : report::avail_text(plan, answer));
        return answer.feasible() ? ExitCode::done : ExitCode::infeasible;
    });
}

}  // namespace windtunnel::app
