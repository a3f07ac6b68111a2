#pragma once
/// Reader of the outputs of another tool (inputs/measurements/cross_check).
#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/cross_check.hpp"

namespace windtunnel::input {

/// Of a JSON text with `systems` and `configurations`; what is wrong joins the findings.
[[nodiscard]] model::CrossChecks parse_cross_checks(const std::string& text, const std::string& path,
                                                    std::vector<base::Finding>& findings);

}  // namespace windtunnel::input
