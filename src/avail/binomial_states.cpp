#include "windtunnel/avail/binomial_states.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::avail {

std::vector<double> binomial(std::int64_t n, double p) {
    std::vector<double> all(static_cast<std::size_t>(n) + 1, 0.0);
    if (p <= 0.0 || p >= 1.0) {
        all[p <= 0.0 ? 0 : static_cast<std::size_t>(n)] = 1.0;
        return all;
    }
    const auto mode =
        static_cast<std::size_t>(std::min(std::floor((static_cast<double>(n) + 1.0) * p), static_cast<double>(n)));
    const double odds = p / (1.0 - p);
    all[mode] = 1.0;
    for (std::size_t k = mode; k-- > 0;)
        all[k] = all[k + 1] * static_cast<double>(k + 1) / (static_cast<double>(all.size() - 1 - k) * odds);
    for (std::size_t k = mode + 1; k < all.size(); ++k)
        all[k] = all[k - 1] * static_cast<double>(all.size() - k) * odds / static_cast<double>(k);
    double sum = 0.0;
    for (const double one : all) sum += one;
    for (double& one : all) one /= sum;
    return all;
}

}  // namespace windtunnel::avail
