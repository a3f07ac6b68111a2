#pragma once
/// Names of the algorithms that carry out collectives; comm/algorithms.hpp says what each does.
#include <array>
#include <cstddef>
#include <string_view>

namespace windtunnel::model {

/// `automatic`: the cheapest for each message and group.
enum class CollectiveAlgorithm {
    ring,
    tree,
    halving_doubling,
    nhr,
    nb,
    pairwise,
    full_mesh,
    one_shot,
    in_network,
    automatic
};
inline constexpr int num_collective_algorithms = 10;
inline constexpr std::array<std::string_view, num_collective_algorithms> collective_algorithm_names{
    "ring", "tree", "halving_doubling", "nhr", "nb", "pairwise", "full_mesh", "one_shot", "in_network", "automatic"};

[[nodiscard]] constexpr std::string_view name_of(CollectiveAlgorithm algorithm) noexcept {
    return collective_algorithm_names[static_cast<std::size_t>(algorithm)];
}

}  // namespace windtunnel::model
