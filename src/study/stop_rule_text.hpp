#pragma once
/// A stop rule as part of a study's identity.
#include <fmt/format.h>

#include <string>

#include "windtunnel/study/trials.hpp"

namespace windtunnel::study {

/// What was asked for, with the plan's number of trials where nothing was.
[[nodiscard]] inline StopRule resolved_rule(const model::Plan& plan, StopRule rule) {
    if (!rule.trials && !rule.looks_at_results()) rule.trials = plan.rehearsal.trials;
    return rule;
}

[[nodiscard]] inline std::string rule_text(const StopRule& rule) {
    std::string text;
    if (rule.trials) text += fmt::format("trials = {}\n", *rule.trials);
    if (rule.relative_half_width) text += fmt::format("relative half-width = {}\n", *rule.relative_half_width);
    if (rule.absolute_half_width) text += fmt::format("absolute half-width = {}\n", *rule.absolute_half_width);
    return text;
}

[[nodiscard]] inline std::string rule_part_refusal(const StopRule& rule) {
    return rule.looks_at_results() ? "--half-width looks at the results of whole rounds" : "";
}

}  // namespace windtunnel::study
