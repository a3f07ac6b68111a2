#include "windtunnel/comm/contention.hpp"

#include <algorithm>

namespace windtunnel::comm {

double crossing_share(const topology::GroupPlacement& group, int distance, const Fabric& fabric) noexcept {
    const double span = static_cast<double>(group.num_domains) * group.domain_stride;
    if (fabric.leaf_domains <= 0 || span <= fabric.leaf_domains) return 0.0;
    const int around = std::min(distance, group.num_domains - distance);
    return std::min(1.0, static_cast<double>(around) * group.domain_stride / fabric.leaf_domains);
}

double leaf_slowdown(CollectiveAlgorithm algorithm, const topology::GroupPlacement& group,
                     const Fabric& fabric) noexcept {
    using enum CollectiveAlgorithm;
    if (fabric.leaf_domains <= 0 || fabric.oversubscription <= 1.0 || group.num_domains <= 1) return 1.0;
    const auto factor = [&](int distance) {
        return std::max(1.0, fabric.oversubscription * crossing_share(group, distance, fabric));
    };
    if (algorithm == ring) return factor(1);
    const int n = group.num_domains;
    double time = 0.0, volume = 0.0;
    if (algorithm == pairwise) {
        for (int distance = 1; distance < n; ++distance) {
            time += factor(distance);
            volume += 1.0;
        }
    } else if (algorithm == full_mesh || algorithm == one_shot || algorithm == in_network) {  // all at once
        double crossing = 0.0;
        for (int distance = 1; distance < n; ++distance) crossing += crossing_share(group, distance, fabric);
        return std::max(1.0, fabric.oversubscription * crossing / (n - 1));
    } else {
        for (int reach = 1; reach < n; reach *= 2) {
            const double moved = algorithm == tree ? 1.0 : std::min(reach, n - reach);
            time += moved * factor(reach);
            volume += moved;
        }
    }
    return volume > 0.0 ? time / volume : 1.0;
}

}  // namespace windtunnel::comm
