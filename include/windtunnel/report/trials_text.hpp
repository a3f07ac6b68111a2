#pragma once
/// Lines and tables about trials that several answers share.
#include <string>
#include <vector>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/rehearse_study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::report {

/// "useful time 94.31 % (95 % interval 94.12 to 94.50 %), variant fleet", a line for each variant; a band of several.
[[nodiscard]] std::string useful_lines(const std::vector<study::VariantAnswer>& variants);
/// "time to 13 T tokens: median 95.2 d, ...", for each variant; below it the interval that failures alone give and the
/// wider one that the error of the step time adds. ">=" marks a lower bound.
[[nodiscard]] std::string time_lines(const model::Plan& plan, const study::RehearseAnswer& answer);
/// Summary, phases, quantiles, causes, recovery.
[[nodiscard]] std::string trials_tables(const std::vector<study::VariantAnswer>& variants);

}  // namespace windtunnel::report
