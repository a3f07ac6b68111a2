#pragma once
/// Numbers inside messages: the shortest text that reads back to the same double, and sizes and times for people.
#include <string>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::base {

/// Shortest text that reads back to the same bits: 0.1, 1e+300, inf.
[[nodiscard]] std::string shortest_text(double value);
/// Three significant digits and a binary unit: 4.1 GiB, 512 B.
[[nodiscard]] std::string text_of(Bytes size);
/// Three significant digits: 3.09 h, 12 ms, 9.9 min, 54 d.
[[nodiscard]] std::string text_of(Seconds time);

}  // namespace windtunnel::base
