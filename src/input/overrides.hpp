#pragma once
/// Values of the command line put into the tree of a plan.
#include <vector>

#include "windtunnel/input/node.hpp"
#include "windtunnel/input/read.hpp"

namespace windtunnel::input {

void apply_override(Node& root, const Override& change, std::vector<base::Finding>& findings);

}  // namespace windtunnel::input
