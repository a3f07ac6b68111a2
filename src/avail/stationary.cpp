#include "windtunnel/avail/stationary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace windtunnel::avail {
namespace {

constexpr double most_elimination_operations = 3e8;
constexpr std::size_t most_elimination_states = 30'000;

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

/// Reverse postorder from the initial state, strongest transition last.
std::vector<std::uint32_t> flow_order(const SparseChain& chain) {
    const std::size_t n = chain.num_states();
    std::vector<std::uint32_t> sorted{chain.target}, order, path{chain.initial};
    std::vector<std::pair<double, std::uint32_t>> row;
    for (std::size_t state = 0; state < n; ++state) {
        row.clear();
        for (std::uint64_t at = chain.first[state]; at < chain.first[state + 1]; ++at)
            row.emplace_back(chain.rate[at], chain.target[at]);
        std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < row.size(); ++i) sorted[chain.first[state] + i] = row[i].second;
    }
    std::vector<std::uint64_t> next{chain.first.begin(), chain.first.end() - 1};
    std::vector<std::uint8_t> seen(n, 0);
    seen[chain.initial] = 1;
    while (!path.empty()) {
        const std::uint32_t state = path.back();
        if (next[state] == chain.first[state + 1]) {
            order.push_back(state);
            path.pop_back();
            continue;
        }
        const std::uint32_t to = sorted[next[state]++];
        if (seen[to] == 0) {
            seen[to] = 1;
            path.push_back(to);
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

/// The states that are reached from a root without leaving `inside`; transitions to others lead back to the root.
struct Part {
    SparseChain chain;
    std::vector<std::uint32_t> states;
};
template <class Inside>
Part part_of(const SparseChain& chain, std::uint32_t root, const Inside& inside) {
    Part part;
    std::vector<std::uint32_t> index(chain.num_states(), Classes::transient), targets;
    index[root] = 0;
    part.states.push_back(root);
    for (std::size_t at = 0; at < part.states.size(); ++at) {
        const std::uint32_t state = part.states[at];
        targets.clear();
        for (std::uint64_t arc = chain.first[state]; arc < chain.first[state + 1]; ++arc) {
            const std::uint32_t to = chain.target[arc];
            if (!inside(to)) {
                targets.push_back(0);
                continue;
            }
            if (index[to] == Classes::transient) {
                index[to] = static_cast<std::uint32_t>(part.states.size());
                part.states.push_back(to);
            }
            targets.push_back(index[to]);
        }
        part.chain.add_state(targets, {chain.rate.data() + chain.first[state], targets.size()});
    }
    return part;
}

}  // namespace

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

Stationary stationary_by_sweeps(const SparseChain& chain, int most_sweeps) {
    const std::size_t n = chain.num_states();
    const std::vector<std::uint32_t> order = flow_order(chain);
    std::vector<std::uint32_t> place(n);
    for (std::size_t i = 0; i < n; ++i) place[order[i]] = static_cast<std::uint32_t>(i);
    SparseChain sorted;  // states and transitions in the order of the sweep
    std::vector<std::uint32_t> targets;
    for (const std::uint32_t state : order) {
        targets.clear();
        for (std::uint64_t at = chain.first[state]; at < chain.first[state + 1]; ++at)
            targets.push_back(place[chain.target[at]]);
        sorted.add_state(targets, {chain.rate.data() + chain.first[state], targets.size()});
    }
    Incoming flow = incoming(sorted);
    for (std::size_t state = 0; state < n; ++state) {
        const double exit = sorted.exit_rate(state);
        for (std::uint64_t at = flow.first[state]; at < flow.first[state + 1]; ++at) flow.rate[at] /= exit;
    }
    std::vector<double> share(n, 0.0), changes;
    share[0] = 1.0;  // the initial state leads the order
    Stationary result;
    result.converged = false;
    constexpr std::size_t lag = 8;
    for (int sweep = 0; sweep < most_sweeps && !result.converged; ++sweep) {
        double change = 0.0, sum = sweep == 0 ? 1.0 : 0.0;
        bool steady = sweep > 0;
        for (std::size_t state = sweep == 0 ? 1 : 0; state < n; ++state) {
            double inflow = 0.0;
            for (std::uint64_t at = flow.first[state]; at < flow.first[state + 1]; ++at)
                inflow += share[flow.source[at]] * flow.rate[at];
            const double difference = std::abs(inflow - share[state]);
            change += difference;
            steady = steady && difference <= 1e-10 * inflow;
            share[state] = inflow;
            sum += inflow;
        }
        for (double& one : share) one /= sum;
        changes.push_back(change / sum);
        result.sweeps = sweep + 1;
        if (changes.size() <= lag) continue;
        const double before = changes[changes.size() - 1 - lag];
        const double factor = std::min(before > 0.0 ? std::pow(changes.back() / before, 1.0 / lag) : 0.0, 1.0 - 1e-12);
        result.error = changes.back() * std::max(factor, 0.1) / (1.0 - factor);
        const double rounding = std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(n));
        result.converged = steady && (result.error < 1e-12 || changes.back() < rounding);
    }
    result.share.resize(n);
    for (std::size_t i = 0; i < n; ++i) result.share[order[i]] = share[i];
    result.residual = imbalance(chain, result.share);
    return result;
}

Stationary stationary(const SparseChain& chain) {
    if (chain.num_states() <= most_elimination_states)
        if (auto result = stationary_by_elimination(chain, most_elimination_operations)) return std::move(*result);
    return stationary_by_sweeps(chain);
}

Stationary long_run(const SparseChain& chain, const Classes& classes) {
    if (classes.num_closed == 1 && classes.sizes[0] == chain.num_states()) return stationary(chain);
    std::vector<double> weight(classes.num_closed, 1.0);
    Stationary result;
    result.share.assign(chain.num_states(), 0.0);
    if (classes.num_closed > 1) {
        std::vector<std::uint32_t> marks(chain.num_states());
        for (std::size_t state = 0; state < chain.num_states(); ++state)
            marks[state] = classes.of[state] == Classes::transient ? 0 : classes.of[state] + 1;
        const FirstPassage passage = first_passage(chain, marks);
        result.converged = passage.converged;
        result.error = passage.error;
        for (std::size_t one = 0; one < weight.size(); ++one)
            weight[one] = one + 1 < passage.probability.size() ? passage.probability[one + 1] : 0.0;
    }
    std::vector<std::uint8_t> done(classes.num_closed, 0);
    for (std::uint32_t state = 0; state < chain.num_states(); ++state) {
        const std::uint32_t own = classes.of[state];
        if (own == Classes::transient || done[own] != 0) continue;
        done[own] = 1;
        const Part part = part_of(chain, state, [&](std::uint32_t other) { return classes.of[other] == own; });
        const Stationary inside = stationary(part.chain);
        for (std::size_t i = 0; i < part.states.size(); ++i)
            result.share[part.states[i]] = weight[own] * inside.share[i];
        result.converged = result.converged && inside.converged;
        result.error += weight[own] * inside.error;
        result.residual = std::max(result.residual, inside.residual);
        result.sweeps = std::max(result.sweeps, inside.sweeps);
    }
    return result;
}

FirstPassage first_passage(const SparseChain& chain, const std::vector<std::uint32_t>& marks) {
    FirstPassage result;
    result.time_in.assign(chain.num_states(), 0.0);
    result.probability.assign(1 + *std::max_element(marks.begin(), marks.end()), 0.0);
    if (marks[chain.initial] != 0) {
        result.probability[marks[chain.initial]] = 1.0;
        return result;
    }
    std::vector<std::uint8_t> lost(chain.num_states(), 0);  // the marked states cannot be reached from here
    Part part = part_of(chain, chain.initial, [&](std::uint32_t state) { return marks[state] == 0; });
    const Classes classes = closed_classes(part.chain);
    if (classes.of[0] != Classes::transient) {
        bool ends = false;
        for (const std::uint32_t state : part.states)
            for (std::uint64_t at = chain.first[state]; at < chain.first[state + 1]; ++at)
                ends = ends || marks[chain.target[at]] != 0;
        if (!ends) {
            result.mean_time = std::numeric_limits<double>::infinity();
            result.probability[0] = 1.0;
            return result;
        }
    } else {
        for (std::size_t i = 0; i < part.states.size(); ++i)
            if (classes.of[i] != Classes::transient) lost[part.states[i]] = 1;
        part =
            part_of(chain, chain.initial, [&](std::uint32_t state) { return marks[state] == 0 && lost[state] == 0; });
    }
    const Stationary cycle = stationary(part.chain);
    result.converged = cycle.converged;
    result.error = cycle.error;
    double restarts = 0.0;
    for (std::size_t i = 0; i < part.states.size(); ++i) {
        const std::uint32_t state = part.states[i];
        for (std::uint64_t at = chain.first[state]; at < chain.first[state + 1]; ++at) {
            const std::uint32_t to = chain.target[at];
            if (marks[to] == 0 && lost[to] == 0) continue;
            result.probability[lost[to] != 0 ? 0 : marks[to]] += cycle.share[i] * chain.rate[at];
            restarts += cycle.share[i] * chain.rate[at];
        }
    }
    for (double& one : result.probability) one /= restarts;
    for (std::size_t i = 0; i < part.states.size(); ++i) result.time_in[part.states[i]] = cycle.share[i] / restarts;
    result.mean_time = result.probability[0] > 0.0 ? std::numeric_limits<double>::infinity() : 1.0 / restarts;
    return result;
}

}  // namespace windtunnel::avail
