#pragma once
/// The known name nearest to a misspelt one: for options, commands and keys.
#include <span>
#include <string>
#include <string_view>

namespace windtunnel::base {

/// Number of inserted, deleted, replaced or swapped neighbouring letters between two words.
/// Source: Damerau, Communications of the ACM 7(3), 1964 (optimal string alignment).
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The nearest of the known names, the first one of equals; empty when there are none. Names over 200 letters are cut.
[[nodiscard]] std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace windtunnel::base
