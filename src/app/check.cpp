#include "windtunnel/app/commands.hpp"
#include "windtunnel/report/plan_summary.hpp"
#include "windtunnel/train/job.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::app {

Command check_command() {
    return {"check",
            "Reads a plan and every file it names, prints every finding at once, the groups and what runs would cost.",
            "PLAN",
            1,
            1,
            together({plan_options(), print_options()})};
}

report::PlanFacts plan_facts(const model::Plan& plan) {
    report::PlanFacts facts;
    if (plan.training && plan.training->published) {
        const train::Job job = train::job_of(plan);
        facts.layout = plan.training->published;
        facts.rules = train::rule_verdict(job, *facts.layout);
        if (facts.rules.feasible()) facts.split = train::pipeline_split(plan.transformer, *facts.layout);
    }
    return facts;
}

ExitCode run_check(const Arguments& arguments, Context& context) {
    const model::Plan plan = plan_of(arguments);
    const report::PlanFacts facts = plan_facts(plan);
    context.out << (arguments.has("json") ? report::plan_json(plan, facts) : report::plan_text(plan, facts));
    return ExitCode::done;
}

}  // namespace windtunnel::app
