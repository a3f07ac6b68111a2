#pragma once
/// TOML text to a tree of nodes.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/input/node.hpp"

namespace windtunnel::input {

/// The root table; empty when the text is no TOML (one finding, with line and column, is added).
[[nodiscard]] std::optional<Node> parse_toml(const std::string& text, const std::string& file,
                                             std::vector<base::Finding>& findings);

/// A value as --set gives it: TOML where it parses as one value, else the text itself. `option` names its origin.
[[nodiscard]] Node parse_override_value(const std::string& value, const std::string& option);

}  // namespace windtunnel::input
