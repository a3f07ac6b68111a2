#include "windtunnel/app/plan_facts.hpp"

#include "windtunnel/app/layout_of.hpp"
#include "windtunnel/train/job.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::app {

report::PlanFacts plan_facts(const model::Plan& plan) {
    report::PlanFacts facts;
    if (has_one_layout(plan)) {
        const train::Job job = train::job_of(plan);
        facts.layout = layout_of(plan, "check");
        facts.rules = train::rule_verdict(job, *facts.layout);
        if (facts.rules.feasible()) facts.split = train::pipeline_split(plan.transformer, *facts.layout);
    }
    return facts;
}

}  // namespace windtunnel::app
