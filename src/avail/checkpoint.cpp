#include "windtunnel/avail/checkpoint.hpp"

#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::avail {

Seconds young_interval(Seconds write, Seconds mtbf) noexcept {
    return Seconds{std::sqrt(2.0 * write.value() * mtbf.value())};
}

Seconds daly_interval(Seconds write, Seconds mtbf) noexcept {
    if (std::isinf(mtbf.value())) return mtbf;
    if (write >= 2.0 * mtbf) return mtbf;
    const double ratio = write / (2.0 * mtbf);
    return young_interval(write, mtbf) * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - write;
}

double first_order_overhead(Seconds interval, Seconds write, Seconds mtbf) noexcept {
    return write / interval + interval / (2.0 * mtbf);
}

Seconds expected_segment_time(Seconds work, Seconds write, Seconds mtbf, Seconds mean_restart) noexcept {
    base::expects(mtbf.value() > 0.0, "a positive mean time between failures");
    if (std::isinf(mtbf.value())) return work + write;
    return std::expm1((work + write) / mtbf) * (mtbf + mean_restart);
}

Seconds restart_duration(Seconds mean, double survival, Seconds mtbf, RestartFailures failures) noexcept {
    if (failures == RestartFailures::excluded || std::isinf(mtbf.value())) return mean;
    return mtbf * (1.0 / survival - 1.0);
}

}  // namespace windtunnel::avail
