#include "windtunnel/avail/two_state.hpp"

#include <cmath>

namespace windtunnel::avail {

double steady_availability(Seconds mean_up, Seconds mean_down) noexcept {
    return mean_up / (mean_up + mean_down);
}

double transient_availability(Seconds mean_up, Seconds mean_down, Seconds time) noexcept {
    const double up = steady_availability(mean_up, mean_down);
    return up + (1.0 - up) * std::exp(-(time / mean_up + time / mean_down));
}

double interval_availability(Seconds mean_up, Seconds mean_down, Seconds time) noexcept {
    const double up = steady_availability(mean_up, mean_down), decays = time / mean_up + time / mean_down;
    return decays == 0.0 ? 1.0 : up + (1.0 - up) * -std::expm1(-decays) / decays;
}

}  // namespace windtunnel::avail
