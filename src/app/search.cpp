#include <fmt/format.h>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/report/search_answer.hpp"
#include "windtunnel/study/search_study.hpp"

namespace windtunnel::app {
namespace {

study::SearchOptions search_options(const Arguments& arguments) {
    study::SearchOptions options;
    if (!arguments.has("store")) return options;
    const std::string text = arguments.text("store");
    if (text != "best" && text != "all")
        throw_usage_error("--store", fmt::format("\"{}\" cannot be used", text), "best or all");
    if (text == "all") options.store = study::StoreDesigns::all;
    return options;
}

}  // namespace

Command search_command() {
    return {"search",
            "Every layout of the plan's space: the best ones, the Pareto front, every rejected one counted.",
            "PLAN",
            1,
            1,
            together({{{"store", "WHAT", "best: best layouts and Pareto front; all: every layout that fits, as columns",
                        "best"},
                       top_option("10")},
                      plan_options(),
                      run_options(),
                      print_options()})};
}

ExitCode run_search(const Arguments& arguments, Context& context) {
    const study::SearchOptions options = search_options(arguments);
    constexpr std::int64_t usual_top = 10;
    const std::int64_t top = top_of(arguments, usual_top);
    model::Plan plan = plan_on_all_ranks(arguments, context.communicator);
    if (top > plan.search.top)
        plan = plan_on_all_ranks(arguments, context.communicator, {{"search.top", fmt::format("{}", top)}});
    if (arguments.has("dry-run")) return print_dry_run(arguments, context, plan);
    const study::SearchStudy study{plan, options};
    return run_planned(study, arguments, context, plan, [&](const study::SearchStudy::State& state) {
        const study::SearchAnswer answer = study.answer(state);
        const auto rows = static_cast<std::size_t>(top);
        context.out << (arguments.has("json") ? report::search_json(plan, answer, rows)
                                              : report::search_text(plan, answer, rows));
        return answer.feasible() ? ExitCode::done : ExitCode::infeasible;
    });
}

}  // namespace windtunnel::app
