#pragma once
/// The one layout that `train` and `avail` use.
#include "windtunnel/model/plan.hpp"

namespace windtunnel::study {

/// `[train.published]`, else the only point of the layout space. Throws base::InputError that names the open axes, or
/// says that the plan has no [train] section.
[[nodiscard]] model::Layout chosen_layout(const model::Plan& plan);

}  // namespace windtunnel::study
