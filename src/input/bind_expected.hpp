#pragma once
/// Known answers of the chains of a file.
#include <vector>

#include "binders.hpp"

namespace windtunnel::input {

/// Puts `[expected]` of the file into its chains: by variant where there are any.
void bind_expected(const Values& file, std::vector<model::Chain>& chains, Findings& findings);

}  // namespace windtunnel::input
