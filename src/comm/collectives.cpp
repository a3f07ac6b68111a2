#include "windtunnel/comm/collectives.hpp"

#include <algorithm>

namespace windtunnel::comm {

Seconds ring_all_gather_time(Bytes message, int group_size, const Link& link) noexcept {
    if (group_size <= 1 || !(message > Bytes{0.0})) return Seconds{0.0};
    const double steps = group_size - 1;
    return steps * (link.latency + message / static_cast<double>(group_size) / link.bandwidth);
}

Seconds ring_all_reduce_time(Bytes message, int group_size, const Link& link) noexcept {
    return 2.0 * ring_all_gather_time(message, group_size, link);
}

Seconds all_gather_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    if (group.inside_one_domain()) return ring_all_gather_time(message, group.size, links.inside);
    const Bytes of_my_counterparts = message / static_cast<double>(group.per_domain);
    return ring_all_gather_time(of_my_counterparts, group.num_domains, links.outside) +
           ring_all_gather_time(message, group.per_domain, links.inside);
}

Seconds all_reduce_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    return 2.0 * all_gather_time(message, group, links);
}

Seconds all_to_all_time(Bytes message, const topology::GroupPlacement& group, const Links& links) noexcept {
    const double size = group.size, inside = group.per_domain;
    const Seconds near = transfer_time(message * ((inside - 1.0) / size), links.inside);
    const Seconds far = transfer_time(message * ((size - inside) / size), links.outside);
    return std::max(near, far);
}

}  // namespace windtunnel::comm
