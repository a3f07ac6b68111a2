#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/plan_facts.hpp"

namespace windtunnel::app {

Command check_command() {
    return {"check",
            "Reads a plan and every file it names, prints every finding at once, the groups and what runs would cost.",
            "PLAN",
            1,
            1,
            together({plan_options(), print_options()})};
}

ExitCode run_check(const Arguments& arguments, Context& context) {
    const model::Plan plan = plan_of(arguments);
    const report::PlanFacts facts = plan_facts(plan);
    context.out << (arguments.has("json") ? report::plan_json(plan, facts) : report::plan_text(plan, facts));
    return ExitCode::done;
}

}  // namespace windtunnel::app
