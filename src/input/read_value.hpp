#pragma once
/// One node to one value, by its key.
#include "windtunnel/input/values.hpp"

namespace windtunnel::input {

/// Reads `node` into `value`. On a finding `value.bad` is set and the rest of the value keeps what it had.
void read_value(const Node& node, const Key& key, const std::string& field, Value& value,
                std::vector<base::Finding>& findings);

/// The table of a random time, or a fixed time as text.
void read_law(const Node& node, const std::string& field, Value& value, std::vector<base::Finding>& findings);

/// No more findings than these are collected from one reading.
inline constexpr std::size_t most_findings = 200;

}  // namespace windtunnel::input
