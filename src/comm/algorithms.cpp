#include "windtunnel/comm/algorithms.hpp"

#include <algorithm>
#include <bit>

namespace windtunnel::comm {
namespace {

using enum CollectiveAlgorithm;

int floor_log2(int n) noexcept {
    return std::bit_width(static_cast<unsigned>(n)) - 1;
}
int ceil_log2(int n) noexcept {
    return n <= 1 ? 0 : floor_log2(n - 1) + 1;
}
bool is_power_of_two(int n) noexcept {
    return std::has_single_bit(static_cast<unsigned>(n));
}

/// All-gather by doubling after the ranks above the power of two have given their blocks to partners, which hand
/// everything back at the end. Blocks of the busiest rank, by round.
Steps folded_doubling(int n) noexcept {
    const int inner_rounds = floor_log2(n), extra = n - (1 << inner_rounds);
    int blocks = 1 + (n - 1);
    for (int round = 0; round < inner_rounds; ++round) blocks += (1 << round) + std::min(1 << round, extra);
    return {inner_rounds + 2, static_cast<double>(blocks) / n, 0.0};
}

std::optional<Steps> gather_steps(CollectiveAlgorithm algorithm, int n) noexcept {
    const double share = static_cast<double>(n - 1) / n;
    switch (algorithm) {
        case ring:
        case pairwise:
            return Steps{n - 1, share, 0.0};
        case nhr:
        case nb:
            return Steps{ceil_log2(n), share, 0.0};
        case halving_doubling:
            return is_power_of_two(n) ? Steps{floor_log2(n), share, 0.0} : folded_doubling(n);
        case full_mesh:
        case in_network:
            return Steps{1, share, 0.0};
        default:
            return std::nullopt;
    }
}

std::optional<Steps> all_reduce_steps(CollectiveAlgorithm algorithm, int n) noexcept {
    switch (algorithm) {
        case tree:
            return Steps{2 * floor_log2(n), 2.0, 1.0};
        case one_shot:
            return Steps{1, n - 1.0, n - 1.0};
        case in_network:
            return Steps{1, 1.0, 0.0};
        case halving_doubling:
            if (!is_power_of_two(n)) {
                const double inner = 1 << floor_log2(n);
                return Steps{2 * floor_log2(n) + 2, 2.0 + 2.0 * (inner - 1.0) / inner, 1.0 + (inner - 1.0) / inner};
            }
            break;
        default:
            break;
    }
    const auto half = gather_steps(algorithm, n);
    if (!half) return std::nullopt;
    return Steps{2 * half->rounds, 2.0 * half->volume, static_cast<double>(n - 1) / n};
}

std::optional<Steps> all_to_all_steps(CollectiveAlgorithm algorithm, int n) noexcept {
    const double share = static_cast<double>(n - 1) / n;
    if (algorithm == pairwise) return Steps{n - 1, share, 0.0};
    if (algorithm == full_mesh) return Steps{1, share, 0.0};
    if (algorithm == ring) return Steps{n - 1, 0.5 * (n - 1), 0.0};
    if (algorithm != nb) return std::nullopt;
    double blocks = 0.0;
    for (int distance = 1; distance < n; ++distance) blocks += std::popcount(static_cast<unsigned>(distance));
    return Steps{ceil_log2(n), blocks / n, 0.0};
}

std::optional<Steps> broadcast_steps(CollectiveAlgorithm algorithm, int n) noexcept {
    if (algorithm == tree) return Steps{ceil_log2(n), static_cast<double>(ceil_log2(n)), 0.0};
    if (algorithm == one_shot) return Steps{1, n - 1.0, 0.0};
    if (algorithm == in_network) return Steps{1, 1.0, 0.0};
    if (algorithm == pairwise) return std::nullopt;
    const auto gather = gather_steps(algorithm, n);
    if (!gather) return std::nullopt;
    const int scatter_rounds = algorithm == full_mesh ? 1 : ceil_log2(n);
    return Steps{scatter_rounds + gather->rounds, static_cast<double>(n - 1) / n + gather->volume, 0.0};
}

}  // namespace

std::optional<Steps> steps(Operation operation, CollectiveAlgorithm algorithm, int n) noexcept {
    if (n <= 1) return Steps{};
    std::optional<Steps> found;
    switch (operation) {
        case Operation::all_gather:
            return gather_steps(algorithm, n);
        case Operation::reduce_scatter:
            found = gather_steps(algorithm, n);
            if (found && algorithm != in_network) found->reduced = found->volume;
            return found;
        case Operation::all_reduce:
            return all_reduce_steps(algorithm, n);
        case Operation::all_to_all:
            return all_to_all_steps(algorithm, n);
        case Operation::broadcast:
            return broadcast_steps(algorithm, n);
    }
    return std::nullopt;
}

std::optional<Seconds> flat_time(Operation operation, CollectiveAlgorithm algorithm, Bytes message, int n,
                                 const Link& link, BytesPerSecond reduction) noexcept {
    if (n <= 1 || !(message > Bytes{0.0})) return Seconds{0.0};
    if (algorithm == automatic) algorithm = cheapest(operation, message, n, link, reduction);
    const auto found = steps(operation, algorithm, n);
    if (!found) return std::nullopt;
    Seconds time = found->rounds * link.latency + message * found->volume / link.bandwidth;
    if (reduction > BytesPerSecond{0.0}) time += message * found->reduced / reduction;
    return time;
}

CollectiveAlgorithm cheapest(Operation operation, Bytes message, int n, const Link& link,
                             BytesPerSecond reduction) noexcept {
    CollectiveAlgorithm best = operation == Operation::all_to_all ? pairwise : ring;
    auto least = flat_time(operation, best, message, n, link, reduction);
    for (const CollectiveAlgorithm algorithm : {ring, tree, halving_doubling, nhr, nb, pairwise, one_shot}) {
        const auto time = flat_time(operation, algorithm, message, n, link, reduction);
        if (time && least && *time < *least) {
            least = time;
            best = algorithm;
        }
    }
    return best;
}

std::optional<Seconds> tiered_time(Operation operation, Bytes message, std::span<const Tier> tiers,
                                   BytesPerSecond reduction) noexcept {
    Seconds total{0.0};
    Bytes seen = message;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
        const Tier& tier = tiers[i];
        const auto part = [&](Operation what) {
            return flat_time(what, tier.algorithm, seen, tier.size, tier.link, reduction);
        };
        std::optional<Seconds> time;
        if (operation == Operation::all_reduce && i + 1 < tiers.size()) {
            const auto scatter = part(Operation::reduce_scatter), gather = part(Operation::all_gather);
            if (scatter && gather) time = *scatter + *gather;
        } else {
            time = part(operation);
        }
        if (!time) return std::nullopt;
        total += *time;
        if (operation != Operation::all_to_all && operation != Operation::broadcast)
            seen = seen / static_cast<double>(std::max(1, tier.size));
    }
    return total;
}

Link sub_mesh(const Link& whole, int members, int mesh_size) noexcept {
    if (mesh_size <= 1) return whole;
    return {whole.bandwidth * (static_cast<double>(members - 1) / (mesh_size - 1)), whole.latency};
}

}  // namespace windtunnel::comm
