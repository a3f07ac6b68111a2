#pragma once
#include <string>

#include "windtunnel/model/plan.hpp"

namespace windtunnel::app {

/// The one layout that `train` and `avail` use: [train.published], or the space where it is one point. Throws
/// base::InputError that names the open axes.
[[nodiscard]] model::Layout layout_of(const model::Plan& plan, const std::string& command);

/// Whether layout_of() gives one.
[[nodiscard]] bool has_one_layout(const model::Plan& plan);

}  // namespace windtunnel::app
