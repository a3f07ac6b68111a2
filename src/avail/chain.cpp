#include "windtunnel/avail/chain.hpp"

namespace windtunnel::avail {

std::vector<double> steady_state(const Generator& generator) {
    const std::size_t n = generator.num_states();
    std::vector<double> rates(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) rates[i * n + j] = generator.rate(i, j).value();
    std::vector<double> leaving(n);  // rate out of a state to the states before it, when it was removed
    for (std::size_t k = n; k-- > 1;) {
        for (std::size_t j = 0; j < k; ++j) leaving[k] += rates[k * n + j];
        for (std::size_t i = 0; i < k; ++i) {
            const double share = rates[i * n + k] / leaving[k];
            for (std::size_t j = 0; j < k; ++j)
                if (i != j) rates[i * n + j] += share * rates[k * n + j];
        }
    }
    std::vector<double> weight(n);
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        weight[k] = k == 0 ? 1.0 : 0.0;
        for (std::size_t i = 0; i < k; ++i) weight[k] += weight[i] * rates[i * n + k] / leaving[k];
        sum += weight[k];
    }
    for (double& one : weight) one /= sum;
    return weight;
}

}  // namespace windtunnel::avail
