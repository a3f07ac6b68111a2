#include "windtunnel/comm/collectives.hpp"

#include <algorithm>

#include "windtunnel/comm/algorithms.hpp"
#include "windtunnel/comm/contention.hpp"

namespace windtunnel::comm {
namespace {

/// One tier by its algorithm, all_gather or all_reduce; what the algorithm does not do is done by the ring.
Seconds tier_time(Operation operation, CollectiveAlgorithm algorithm, Bytes message, int size,
                  const Link& link) noexcept {
    if (algorithm == CollectiveAlgorithm::ring && operation == Operation::all_gather)
        return ring_all_gather_time(message, size, link);
    if (const auto time = flat_time(operation, algorithm, message, size, link)) return *time;
    return operation == Operation::all_reduce ? ring_all_reduce_time(message, size, link)
                                              : ring_all_gather_time(message, size, link);
}

/// The outer link as a collective of that group gets it; `automatic` is judged by what each algorithm would get.
Seconds outside_time(Operation operation, Bytes message, const topology::GroupPlacement& group,
                     const Links& links) noexcept {
    using enum CollectiveAlgorithm;
    const auto time = [&](CollectiveAlgorithm algorithm) {
        Link link = links.outside;
        if (links.fabric.leaf_domains > 0)
            link.bandwidth = link.bandwidth / leaf_slowdown(algorithm, group, links.fabric);
        return tier_time(operation, algorithm, message, group.num_domains, link);
    };
    if (links.outside_algorithm != automatic) return time(links.outside_algorithm);
    Seconds least = time(ring);
    for (const CollectiveAlgorithm algorithm : {tree, halving_doubling, nhr, nb, pairwise, one_shot})
        least = std::min(least, time(algorithm));
    return least;
}

}  // namespace

Seconds ring_all_gather_time(Bytes message, int group_size, const Link& link) noexcept {
    if (group_size <= 1 || !(message > Bytes{0.0})) return Seconds{0.0};
    const double steps = group_size - 1;
    return steps * (link.latency + message / static_cast<double>(group_size) / link.bandwidth);
}

Seconds ring_all_reduce_time(Bytes message, int group_size, const Link& link) noexcept {
    return 2.0 * ring_all_gather_time(message, group_size, link);
}

Seconds all_gather_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    if (group.inside_one_domain())
        return tier_time(Operation::all_gather, links.inside_algorithm, message, group.size, links.inside);
    const Bytes of_my_counterparts = message / static_cast<double>(group.per_domain);
    return outside_time(Operation::all_gather, of_my_counterparts, group, links) +
           tier_time(Operation::all_gather, links.inside_algorithm, message, group.per_domain, links.inside);
}

Seconds all_reduce_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    const bool rings =
        links.inside_algorithm == CollectiveAlgorithm::ring && links.outside_algorithm == CollectiveAlgorithm::ring;
    if (rings) return 2.0 * all_gather_time(message, group, links);
    if (group.inside_one_domain())
        return tier_time(Operation::all_reduce, links.inside_algorithm, message, group.size, links.inside);
    const Bytes share = message / static_cast<double>(group.per_domain);
    return 2.0 * tier_time(Operation::all_gather, links.inside_algorithm, message, group.per_domain, links.inside) +
           outside_time(Operation::all_reduce, share, group, links);
}

Seconds all_to_all_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    const double size = group.size, inside = group.per_domain;
    const Seconds near = transfer_time(message * ((inside - 1.0) / size), links.inside);
    Link port = links.outside;
    if (links.fabric.leaf_domains > 0)  // every distance at once
        port.bandwidth = port.bandwidth / leaf_slowdown(CollectiveAlgorithm::full_mesh, group, links.fabric);
    const Seconds far = transfer_time(message * ((size - inside) / size), port);
    return std::max(near, far);
}

}  // namespace windtunnel::comm
