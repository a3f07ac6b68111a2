#pragma once
/// Lines and tables about trials that several answers share.
#include <string>
#include <vector>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::report {

/// "useful time 94.31 % (95 % interval 94.12 to 94.50 %), variant fleet", a line for each variant; a band of several.
[[nodiscard]] std::string useful_lines(const std::vector<study::VariantAnswer>& variants);
/// "time to 13 T tokens: median 95.2 d (80 % of trials 93.1 to 98 d), ...", a line for each variant.
[[nodiscard]] std::string time_lines(const model::Plan& plan, const std::vector<study::VariantAnswer>& variants);
/// Summary, phases, quantiles, causes, recovery.
[[nodiscard]] std::string trials_tables(const std::vector<study::VariantAnswer>& variants);

}  // namespace windtunnel::report
