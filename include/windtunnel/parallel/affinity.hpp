#pragma once
/// The cores that a process may use.
#include <cstdint>
#include <string>
#include <vector>

namespace windtunnel::parallel {

/// Core numbers of the affinity mask of this process, ascending; never empty.
[[nodiscard]] std::vector<int> cores_of_process();

/// {0, 1, 2, 5} gives "0-2,5".
[[nodiscard]] std::string core_list(const std::vector<int>& cores);

}  // namespace windtunnel::parallel
