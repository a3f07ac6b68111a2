#pragma once
/// The operators of a step as CSV or JSON.
#include <string>
#include <vector>

#include "windtunnel/train/stage_operators.hpp"

namespace windtunnel::report {

/// One line an operator, with a head line.
[[nodiscard]] std::string operators_csv(const std::vector<train::StageOperator>& operators);
/// {"operators": [...]}, the same columns as keys.
[[nodiscard]] std::string operators_json(const std::vector<train::StageOperator>& operators);

}  // namespace windtunnel::report
