#pragma once
/// Numbers of working members of independent classes, all together.
#include <cstdint>
#include <vector>

namespace windtunnel::avail {

/// Probability of k successes of n, for all k. Ratios from the most likely k outwards, normalised: each entry keeps its
/// relative accuracy. Source: any text on probability.
[[nodiscard]] std::vector<double> binomial(std::int64_t n, double p);

/// Calls visit(numbers, probability) for every combination of numbers; `law[c][k]` = probability of k in class c.
template <class Visit>
void for_all_numbers(const std::vector<std::vector<double>>& law, const Visit& visit) {
    std::vector<double> number(law.size(), 0.0);
    std::vector<std::size_t> at(law.size(), 0);
    while (true) {
        double probability = 1.0;
        for (std::size_t c = 0; c < at.size(); ++c) {
            probability *= law[c][at[c]];
            number[c] = static_cast<double>(at[c]);
        }
        visit(number, probability);
        std::size_t c = 0;
        while (c < at.size() && ++at[c] == law[c].size()) at[c++] = 0;
        if (c == at.size()) return;
    }
}

}  // namespace windtunnel::avail
