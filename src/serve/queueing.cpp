#include "windtunnel/serve/queueing.hpp"

namespace windtunnel::serve {

double erlang_b(int servers, double load) noexcept {
    double blocked = 1.0;
    for (int c = 1; c <= servers; ++c) blocked = load * blocked / (c + load * blocked);
    return blocked;
}

double erlang_c(int servers, double load) noexcept {
    const double blocked = erlang_b(servers, load);
    return servers * blocked / (servers - load * (1.0 - blocked));
}

double mmc_wait(int servers, double load) noexcept {
    return erlang_c(servers, load) / (servers - load);
}

double md1_wait(double load) noexcept {
    return load / (2.0 * (1.0 - load));
}

}  // namespace windtunnel::serve
