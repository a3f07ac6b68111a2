#include "windtunnel/comm/link.hpp"

namespace windtunnel::comm {

Links links_of(const model::Accelerator& accelerator, const model::Efficiency& efficiency) noexcept {
    return {{accelerator.scale_up.bandwidth * efficiency.scale_up, accelerator.scale_up.latency},
            {accelerator.scale_out.bandwidth * efficiency.scale_out, accelerator.scale_out.latency},
            accelerator.scale_up_domain};
}

Seconds transfer_time(Bytes message, const Link& link) noexcept {
    return message > Bytes{0.0} ? link.latency + message / link.bandwidth : Seconds{0.0};
}

}  // namespace windtunnel::comm
