#include <fmt/format.h>

#include <fstream>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/report/serve_answer.hpp"
#include "windtunnel/study/serve_study.hpp"

namespace windtunnel::app {
namespace {

/// Replication 0 once more, each request to the file as it ends: nothing is kept in memory.
void write_requests(const std::string& path, const study::ServeStudy& study, Context& context) {
    std::ofstream file{path, std::ios::binary};
    file << report::requests_heading();
    (void)study.run(0, [&](const serve::Served& served) { file << report::request_line(served); });
    file.flush();
    if (!file) throw base::RunError{fmt::format("{}: cannot be written; choose another place", path)};
    context.log.info(path + " written");
}

}  // namespace

Command serve_command() {
    return {
        "serve",
        "One deployment on one load: latencies, goodput, KV cache, queue, preemptions, what limits.",
        "PLAN",
        1,
        1,
        together({{{"requests", "FILE.csv", "write every request of replication 0, in the order of their ends", "none"},
                   {"trials", "N", "replications, exactly; with --half-width: at least",
                    "8, or 1 where nothing is drawn at random"},
                   {"half-width", "H",
                    "run until the 95 % intervals of mean TTFT, TPOT and E2E are at most +- this: 1% relative, "
                    "0.01 in seconds"}},
                  plan_options(),
                  run_options(),
                  print_options()})};
}

ExitCode run_serve(const Arguments& arguments, Context& context) {
    const study::ServeOptions options{stop_rule_of(arguments)};
    const model::Plan plan = plan_on_all_ranks(arguments, context.communicator);
    if (arguments.has("requests") && arguments.text("requests").empty())
        throw_usage_error("--requests", "the name is empty", "FILE.csv");
    const study::ServeStudy study{plan, options};
    if (arguments.has("dry-run")) return print_dry_run(arguments, context, plan);
    return run_planned(study, arguments, context, plan, [&](const study::ServeStudy::State& state) {
        const study::ServeAnswer answer = study.answer(state);
        if (arguments.has("requests") && answer.feasible()) write_requests(arguments.text("requests"), study, context);
        context.out << (arguments.has("json") ? report::serve_json(plan, answer) : report::serve_text(plan, answer));
        return answer.feasible() ? ExitCode::done : ExitCode::infeasible;
    });
}

}  // namespace windtunnel::app
