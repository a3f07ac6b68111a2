#include <fmt/format.h>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/report/operator_table.hpp"
#include "windtunnel/report/timeline.hpp"
#include "windtunnel/report/train_answer.hpp"
#include "windtunnel/study/train_study.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::app {
namespace {

/// cards=256..8192x2
study::TrainOptions train_options(const Arguments& arguments) {
    study::TrainOptions options;
    if (!arguments.has("sweep")) return options;
    const std::string text = arguments.text("sweep");
    const std::string head = "cards=";
    const auto dots = text.find("..");
    const auto times = text.find('x', dots == std::string::npos ? 0 : dots);
    if (text.starts_with(head) && dots != std::string::npos) {
        const auto first = to_integer(text.substr(head.size(), dots - head.size()));
        const auto last = to_integer(text.substr(dots + 2, times == std::string::npos ? times : times - dots - 2));
        const auto factor = times == std::string::npos ? std::optional<double>{2.0} : to_number(text.substr(times + 1));
        constexpr std::int64_t most_cards = 10'000'000;
        constexpr double least_factor = 1.01;
        if (first && last && factor && *first >= 1 && *last >= *first && *last <= most_cards &&
            *factor >= least_factor) {
            options.sweep = study::CardSweep{static_cast<int>(*first), static_cast<int>(*last), *factor};
            return options;
        }
    }
    throw_usage_error("--sweep", fmt::format("\"{}\" is no sweep", text),
                      "cards=FIRST..LASTxFACTOR, for example cards=256..8192x2");
}

/// The files about a single layout that options ask for.
void write_extras(const Arguments& arguments, const model::Plan& plan, const study::TrainPoint& point,
                  Context& context) {
    if (!arguments.has("timeline") && !arguments.has("operators")) return;
    if (!point.step) {
        context.log.warning("no timeline and no operators: the layout breaks a rule");
        return;
    }
    const train::Job job = train::job_of(plan);
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(point.layout));
    if (arguments.has("timeline"))
        write_file(arguments.text("timeline"),
                   report::trace_event_json(train::step_timeline(job, point.layout, costs), plan.title,
                                            train::memory_timeline(job, point.layout, costs)));
    if (!arguments.has("operators")) return;
    const std::string path = arguments.text("operators");
    const auto operators = train::stage_operators(job, point.layout, costs);
    write_file(path, path.ends_with(".json") ? report::operators_json(operators) : report::operators_csv(operators));
}

}  // namespace

Command train_command() {
    return {"train",
            "One layout: step time and its parts, MFU, memory by stage, whether it fits.",
            "PLAN",
            1,
            1,
            together({{{"timeline", "FILE.json", "write the step as Trace Event JSON, for Perfetto", "none"},
                       {"operators", "FILE.csv|json",
                        "write every operator of a step by stage: shape, work, traffic, time, what bounds it", "none"},
                       {"sweep", "cards=A..BxF", "the layout on A, A x F, ... up to B cards; the batch grows along",
                        "none"}},
                      plan_options(),
                      run_options(),
                      print_options()})};
}

ExitCode run_train(const Arguments& arguments, Context& context) {
    const study::TrainOptions options = train_options(arguments);
    const model::Plan plan = plan_on_all_ranks(arguments, context.communicator);
    if (arguments.has("dry-run")) return print_dry_run(arguments, context, plan);
    const study::TrainStudy study{plan, options};
    return run_planned(study, arguments, context, plan, [&](const study::TrainStudy::State& state) {
        const study::TrainAnswer answer = study.answer(state);
        write_extras(arguments, plan, answer.points.at(0), context);
        context.out << (arguments.has("json") ? report::train_json(plan, answer) : report::train_text(plan, answer));
        return answer.feasible() ? ExitCode::done : ExitCode::infeasible;
    });
}

}  // namespace windtunnel::app
