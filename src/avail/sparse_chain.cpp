#include "windtunnel/avail/sparse_chain.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel::avail {

double SparseChain::exit_rate(std::size_t state) const noexcept {
    double sum = 0.0;
    for (std::uint64_t at = first[state]; at < first[state + 1]; ++at) sum += rate[at];
    return sum;
}

void SparseChain::add_state(std::span<const std::uint32_t> targets, std::span<const double> rates) {
    const auto self = static_cast<std::uint32_t>(num_states());
    const auto begin = static_cast<std::ptrdiff_t>(target.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] == self || rates[i] <= 0.0) continue;
        const auto found = std::find(target.begin() + begin, target.end(), targets[i]);
        if (found != target.end()) {
            rate[static_cast<std::size_t>(found - target.begin())] += rates[i];
        } else {
            target.push_back(targets[i]);
            rate.push_back(rates[i]);
        }
    }
    first.push_back(target.size());
}

Incoming incoming(const SparseChain& chain) {
    const std::size_t n = chain.num_states();
    Incoming result;
    result.first.assign(n + 1, 0);
    result.source.resize(chain.num_transitions());
    result.rate.resize(chain.num_transitions());
    for (const std::uint32_t to : chain.target) ++result.first[to + 1];
    std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
    std::vector<std::uint64_t> next{result.first.begin(), result.first.end() - 1};
    for (std::size_t from = 0; from < n; ++from)
        for (std::uint64_t at = chain.first[from]; at < chain.first[from + 1]; ++at) {
            const std::uint64_t place = next[chain.target[at]]++;
            result.source[place] = static_cast<std::uint32_t>(from);
            result.rate[place] = chain.rate[at];
        }
    return result;
}

Classes closed_classes(const SparseChain& chain) {
    // Tarjan's walk with a stack of its own; `low` is the smallest number that a state reaches.
    constexpr std::uint32_t unseen = Classes::transient;
    const std::size_t n = chain.num_states();
    Classes classes;
    classes.of.assign(n, Classes::transient);
    std::vector<std::uint32_t> number(n, unseen), low(n, 0), path, open;
    std::vector<std::uint64_t> next{chain.first.begin(), chain.first.end() - 1};
    std::vector<std::uint8_t> is_open(n, 0), leaves(n, 0);  // leaves: a component is left from here
    std::uint32_t count = 0;
    for (std::size_t root = 0; root < n; ++root) {
        if (number[root] != unseen) continue;
        path.push_back(static_cast<std::uint32_t>(root));
        while (!path.empty()) {
            const std::uint32_t state = path.back();
            if (number[state] == unseen) {
                number[state] = low[state] = count++;
                open.push_back(state);
                is_open[state] = 1;
            }
            bool deeper = false;
            while (next[state] < chain.first[state + 1]) {
                const std::uint32_t to = chain.target[next[state]];
                if (number[to] == unseen) {
                    path.push_back(to);
                    deeper = true;
                    break;
                }
                if (is_open[to] != 0)
                    low[state] = std::min(low[state], low[to]);
                else
                    leaves[state] = 1;
                ++next[state];
            }
            if (deeper) continue;
            path.pop_back();
            if (low[state] != number[state]) continue;
            auto begin = open.end();
            bool closed = true;
            do {
                --begin;
                closed = closed && leaves[*begin] == 0;
            } while (*begin != state);
            if (closed) {
                for (auto at = begin; at != open.end(); ++at) classes.of[*at] = classes.num_closed;
                classes.sizes.push_back(static_cast<std::uint32_t>(open.end() - begin));
                ++classes.num_closed;
            }
            for (auto at = begin; at != open.end(); ++at) is_open[*at] = 0;
            open.erase(begin, open.end());
        }
    }
    return classes;
}

}  // namespace windtunnel::avail
