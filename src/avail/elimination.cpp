#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "windtunnel/avail/stationary.hpp"

namespace windtunnel::avail {
namespace {

/// Transitions of one state while others are eliminated: sorted by target.
struct Arc {
    std::uint32_t to;
    double rate;
};

/// Removes states one after the other; what is left stays a chain with the same shares.
class Elimination {
public:
    explicit Elimination(const SparseChain& chain) : out_(chain.num_states()), in_(chain.num_states()) {
        for (std::size_t from = 0; from < chain.num_states(); ++from) {
            for (std::uint64_t at = chain.first[from]; at < chain.first[from + 1]; ++at) {
                out_[from].push_back({chain.target[at], chain.rate[at]});
                in_[chain.target[at]].push_back(static_cast<std::uint32_t>(from));
            }
            std::sort(out_[from].begin(), out_[from].end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
        }
    }

    [[nodiscard]] double degree(std::uint32_t state) const {
        return static_cast<double>(out_[state].size()) * static_cast<double>(in_[state].size());
    }

    /// Takes a state out; `feeders` are the states before it with rate / (rate out of the state).
    void remove(std::uint32_t state, std::vector<Arc>& feeders, std::vector<std::uint32_t>& touched) {
        double leaving = 0.0;
        for (const Arc& arc : out_[state]) leaving += arc.rate;
        feeders.clear();
        for (const std::uint32_t from : in_[state]) {
            auto& row = out_[from];
            const auto own = std::lower_bound(row.begin(), row.end(), state,
                                              [](const Arc& arc, std::uint32_t to) { return arc.to < to; });
            const double share = own->rate / leaving;
            feeders.push_back({from, share});
            merge(from, state, share);
        }
        touched.assign(in_[state].begin(), in_[state].end());
        for (const Arc& arc : out_[state]) {
            auto& sources = in_[arc.to];
            sources.erase(std::find(sources.begin(), sources.end(), state));
            touched.push_back(arc.to);
        }
        operations_ += degree(state) + static_cast<double>(out_[state].size());
        std::vector<Arc>{}.swap(out_[state]);
        std::vector<std::uint32_t>{}.swap(in_[state]);
    }
    [[nodiscard]] double operations() const noexcept { return operations_; }

private:
    /// Row `from` without its arc to `state`, plus share x the row of `state`.
    void merge(std::uint32_t from, std::uint32_t state, double share) {
        const auto& row = out_[from];
        const auto& added = out_[state];
        merged_.clear();
        auto a = row.begin();
        auto b = added.begin();
        while (a != row.end() || b != added.end()) {
            if (b == added.end() || (a != row.end() && a->to < b->to)) {
                if (a->to != state) merged_.push_back(*a);
                ++a;
            } else if (a == row.end() || b->to < a->to) {
                if (b->to != from) {
                    merged_.push_back({b->to, share * b->rate});
                    in_[b->to].push_back(from);
                }
                ++b;
            } else {
                merged_.push_back({a->to, a->rate + share * b->rate});
                ++a;
                ++b;
            }
        }
        operations_ += static_cast<double>(row.size());
        out_[from].assign(merged_.begin(), merged_.end());
    }

    std::vector<std::vector<Arc>> out_;
    std::vector<std::vector<std::uint32_t>> in_;
    std::vector<Arc> merged_;
    double operations_ = 0.0;
};

void normalise(std::vector<double>& share) {
    double sum = 0.0;
    for (const double one : share) sum += one;
    for (double& one : share) one /= sum;
}

}  // namespace

double imbalance(const SparseChain& chain, const std::vector<double>& share) {
    std::vector<double> inflow(chain.num_states(), 0.0);
    for (std::size_t from = 0; from < chain.num_states(); ++from)
        for (std::uint64_t at = chain.first[from]; at < chain.first[from + 1]; ++at)
            inflow[chain.target[at]] += share[from] * chain.rate[at];
    double worst = 0.0;
    for (std::size_t state = 0; state < chain.num_states(); ++state) {
        const double outflow = share[state] * chain.exit_rate(state);
        if (outflow > std::numeric_limits<double>::min())
            worst = std::max(worst, std::abs(inflow[state] - outflow) / outflow);
    }
    return worst;
}

std::optional<Stationary> stationary_by_elimination(const SparseChain& chain, double most_operations) {
    const auto n = static_cast<std::uint32_t>(chain.num_states());
    Elimination elimination{chain};
    using Entry = std::pair<double, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;  // entries may be out of date
    for (std::uint32_t state = 0; state < n; ++state) queue.emplace(elimination.degree(state), state);
    std::vector<std::uint8_t> removed(n, 0);
    std::vector<std::uint32_t> order, touched;
    std::vector<std::vector<Arc>> feeders;
    while (order.size() + 1 < n) {
        const auto [degree, state] = queue.top();
        queue.pop();
        if (removed[state] != 0 || degree != elimination.degree(state)) continue;
        removed[state] = 1;
        order.push_back(state);
        elimination.remove(state, feeders.emplace_back(), touched);
        if (elimination.operations() > most_operations) return std::nullopt;
        for (const std::uint32_t other : touched) queue.emplace(elimination.degree(other), other);
    }
    Stationary result;
    result.share.assign(n, 0.0);
    const auto last = std::find(removed.begin(), removed.end(), std::uint8_t{0}) - removed.begin();
    result.share[static_cast<std::size_t>(last)] = 1.0;
    for (std::size_t i = order.size(); i-- > 0;) {
        double weight = 0.0;
        for (const Arc& feeder : feeders[i]) weight += result.share[feeder.to] * feeder.rate;
        result.share[order[i]] = weight;
        if (weight > 1e200) normalise(result.share);
    }
    normalise(result.share);
    result.residual = imbalance(chain, result.share);
    result.error = std::numeric_limits<double>::epsilon() * static_cast<double>(n);
    return result;
}

}  // namespace windtunnel::avail
