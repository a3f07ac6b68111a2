#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/layout_of.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/report/timeline.hpp"
#include "windtunnel/report/training_step.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::app {
namespace {

report::TrainingStep training_step(const train::Job& job, const model::Layout& layout) {
    report::TrainingStep answer;
    answer.layout = layout;
    answer.verdict = train::rule_verdict(job, layout);
    if (!answer.verdict.feasible()) return answer;
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(layout));
    answer.verdict = train::memory_verdict(job, layout, costs);
    answer.step = train::step_result(job, layout, costs);
    answer.stages = train::stage_memory(job, layout, costs);
    answer.usable = train::usable_memory(job);
    answer.smallest_cards = train::smallest_cards_that_fit(job, layout);
    answer.largest_micro_batch = train::largest_micro_batch_that_fits(job, layout);
    return answer;
}

}  // namespace

Command train_command() {
    return {"train",
            "One layout: step time and its parts, MFU, memory by stage, whether it fits.",
            "PLAN",
            1,
            1,
            together({{{"timeline", "FILE.json", "write the step as Trace Event JSON, for Perfetto", "none"}},
                      plan_options(),
                      print_options()})};
}

ExitCode run_train(const Arguments& arguments, Context& context) {
    const model::Plan plan = plan_of(arguments);
    const model::Layout layout = layout_of(plan, "train");
    const train::Job job = train::job_of(plan);
    const report::TrainingStep answer = training_step(job, layout);
    if (arguments.has("timeline")) {
        if (!report::has_step(answer))
            context.log.warning("no timeline: the layout breaks a rule");
        else
            write_file(
                arguments.text("timeline"),
                report::trace_event_json(
                    train::step_timeline(job, layout, train::unit_costs(job, train::unit_key(layout))), plan.title));
    }
    context.out << (arguments.has("json") ? report::training_step_json(plan, answer)
                                          : report::training_step_text(plan, answer));
    return answer.verdict.feasible() ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace windtunnel::app
