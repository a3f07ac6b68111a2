#include "windtunnel/app/plan_facts.hpp"

#include "windtunnel/train/job.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::app {

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

}  // namespace windtunnel::app
