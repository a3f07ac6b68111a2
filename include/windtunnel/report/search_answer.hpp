#pragma once
/// The best layouts of a space, the Pareto front, every rejected design counted.
#include <cstddef>
#include <string>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/search_study.hpp"

namespace windtunnel::report {

[[nodiscard]] std::string search_text(const model::Plan& plan, const study::SearchAnswer& answer, std::size_t top);
[[nodiscard]] std::string search_json(const model::Plan& plan, const study::SearchAnswer& answer, std::size_t top);

/// "best of 4,320 designs, 312 of them fit: step 12.3 s, ..." and its layout; or why nothing is feasible.
[[nodiscard]] std::string winner_text(const model::Plan& plan, const study::SearchAnswer& answer);

}  // namespace windtunnel::report
