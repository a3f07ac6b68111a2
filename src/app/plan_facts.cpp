#include "windtunnel/app/plan_facts.hpp"

#include "windtunnel/search/design_space.hpp"
#include "windtunnel/study/layout_choice.hpp"
#include "windtunnel/train/job.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::app {

report::PlanFacts plan_facts(const model::Plan& plan) {
    report::PlanFacts facts;
    if (!plan.training) return facts;
    const search::DesignSpace space{plan.training->layout, plan.transformer, plan.cluster,
                                    plan.training->sequence_length};
    facts.num_designs = space.size();
    if (plan.training->published || space.size() == 1) {
        const train::Job job = train::job_of(plan);
        facts.layout = study::chosen_layout(plan);
        facts.rules = train::rule_verdict(job, *facts.layout);
        if (facts.rules.feasible()) facts.split = train::pipeline_split(plan.transformer, *facts.layout);
    }
    facts.work = work_estimates(plan);
    return facts;
}

}  // namespace windtunnel::app
