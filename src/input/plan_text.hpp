#pragma once
/// The canonical text of a plan.
#include "windtunnel/model/plan.hpp"

namespace windtunnel::input {

/// Every resolved value in a fixed order and spelling, no paths: equal texts are equal plans.
[[nodiscard]] std::string resolved_text(const model::Plan& plan);

}  // namespace windtunnel::input
