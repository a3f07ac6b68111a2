#pragma once
/// What `check` and --dry-run say about a plan.
#include "windtunnel/report/plan_summary.hpp"

namespace windtunnel::app {

/// Groups, rules and split of the plan's one layout; what runs of the plan would cost on this machine.
/// Throws base::InputError where a space is too large.
[[nodiscard]] report::PlanFacts plan_facts(const model::Plan& plan);

/// For each command that the plan can run: items, time on all cores of this machine from a probe of a few
/// milliseconds, size of the result file.
[[nodiscard]] std::vector<report::WorkEstimate> work_estimates(const model::Plan& plan);

}  // namespace windtunnel::app
