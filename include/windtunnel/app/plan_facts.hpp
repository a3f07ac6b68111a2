#pragma once
/// What `check` and --dry-run say about a plan.
#include "windtunnel/report/plan_summary.hpp"

namespace windtunnel::app {

/// Groups, rules and split of the plan's one layout; what runs of the plan would cost on this machine.
[[nodiscard]] report::PlanFacts plan_facts(const model::Plan& plan);

}  // namespace windtunnel::app
