#include "windtunnel/comm/link.hpp"

#include <algorithm>

namespace windtunnel::comm {

Links links_of(const model::Accelerator& accelerator, const model::Efficiency& efficiency) noexcept {
    Links links{{accelerator.scale_up.bandwidth * efficiency.scale_up, accelerator.scale_up.latency},
                {accelerator.scale_out.bandwidth * efficiency.scale_out, accelerator.scale_out.latency},
                accelerator.scale_up_domain,
                accelerator.scale_up.algorithm,
                accelerator.scale_out.algorithm};
    const model::NetworkTier& outer = accelerator.scale_out;
    if (outer.leaf_cards > 0)
        links.fabric = {std::max(1, outer.leaf_cards / std::max(1, accelerator.scale_up_domain)),
                        outer.oversubscription};
    links.shared_port = outer.shared_port;
    return links;
}

Seconds transfer_time(Bytes message, const Link& link) noexcept {
    return message > Bytes{0.0} ? link.latency + message / link.bandwidth : Seconds{0.0};
}

}  // namespace windtunnel::comm
