#include <algorithm>
#include <filesystem>
#include <fstream>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/manual.hpp"
#include "windtunnel/app/plan_facts.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/driver/openmp.hpp"
#include "windtunnel/report/job_script.hpp"

namespace windtunnel::app {
namespace {

constexpr double seconds_per_hour = 3600.0;

report::JobWish wish_of(const Arguments& arguments) {
    report::JobWish wish;
    constexpr std::int64_t most_cores = 4096;
    if (const auto cores = arguments.integer("cores-per-node", 1, most_cores))
        wish.cores_per_node = static_cast<int>(*cores);
    if (const auto nodes = arguments.integer("nodes", 1, report::most_nodes)) wish.nodes = static_cast<int>(*nodes);
    if (arguments.has("hours")) {
        const auto hours = to_number(arguments.text("hours"));
        constexpr double most_hours = 14.0 * 24.0;
        if (!hours || !(*hours > 0.0) || *hours > most_hours)
            throw_usage_error("--hours", "\"" + arguments.text("hours") + "\" cannot be used",
                              "a number above 0, at most 336");
        wish.wanted = Seconds{*hours * seconds_per_hour};
    }
    return wish;
}

/// What to run: the named command, else the largest one that the plan can run.
const report::WorkEstimate& work_of(const Arguments& arguments, const report::PlanFacts& facts) {
    std::vector<std::string> names;
    for (const report::WorkEstimate& work : facts.work) names.push_back(work.command);
    const std::vector<std::string> wanted = arguments.has("command")
                                                ? std::vector<std::string>{arguments.text("command")}
                                                : std::vector<std::string>{"rehearse", "search", "avail", "train"};
    for (const std::string& name : wanted)
        for (const report::WorkEstimate& work : facts.work)
            if (work.command == name) return work;
    throw_usage_error("--command", "the plan cannot run \"" + wanted.front() + "\"",
                      names.empty() ? "a plan with a [train] section" : base::nearest_name(wanted.front(), names));
}

std::string slurm_script(const Arguments& arguments) {
    if (arguments.positional().size() < 2) throw_usage_error("PLAN", "is missing", "windtunnel export slurm PLAN");
    const std::string& path = arguments.positional()[1];
    const model::Plan plan = plan_of(arguments, 1);
    const report::PlanFacts facts = plan_facts(plan);
    const report::WorkEstimate& work = work_of(arguments, facts);
    const Seconds core_time = work.time.value_or(Seconds{seconds_per_hour}) * driver::choose_threads(0, 1);
    const report::JobSize size = report::job_size(core_time, wish_of(arguments));
    const std::string result = arguments.has("result")
                                   ? arguments.text("result")
                                   : std::filesystem::path{path}.stem().string() + "." + work.command + ".h5";
    const std::string items =
        work.command + ": " + work.items +
        (work.time ? "" : ", whose time cannot be said before they have begun (an hour of one machine assumed)");
    return report::job_script(work.command, path, result, items, size);
}

}  // namespace

Command export_command() {
    return {
        "export",
        "Writes a job script for Slurm that fits the size of a plan, this program's manual page, or its completion "
        "for bash.",
        "slurm PLAN|man|completion",
        1,
        2,
        together({{{"output", "FILE", "write here", "standard output", false, 'o'},
                   {"overwrite", "", "replace an existing file"},
                   {"command", "NAME", "slurm: what to run", "rehearse, search, avail or train, whichever is first"},
                   {"result", "FILE.h5", "slurm: result file of the run", "named after plan and command"},
                   {"cores-per-node", "N", "slurm: cores of a node", "64"},
                   {"nodes", "N", "slurm: nodes", "as few as keep the run within --hours"},
                   {"hours", "H", "slurm: wall clock that the run should take at most", "1"}},
                  plan_options(),
                  {{"quiet", "", "errors only"}, {"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_export(const Arguments& arguments, Context& context) {
    const std::vector<std::string> kinds{"slurm", "man", "completion"};
    const std::string& kind = arguments.positional()[0];
    std::string text;
    if (kind == "slurm")
        text = slurm_script(arguments);
    else if (kind == "man")
        text = manual_page(subcommands());
    else if (kind == "completion")
        text = bash_completion(subcommands());
    else
        throw_usage_error(kind, "unknown kind of export", base::nearest_name(kind, kinds));
    if (!arguments.has("output")) {
        context.out << text;
        return ExitCode::done;
    }
    const std::string path = arguments.text("output");
    if (!arguments.has("overwrite") && std::ifstream{path}.good())
        throw_usage_error("--output", path + " exists", "another name, or --overwrite");
    write_file(path, text);
    context.log.info(path + " written");
    return ExitCode::done;
}

}  // namespace windtunnel::app
