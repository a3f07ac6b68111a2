#include "windtunnel/avail/stationary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace windtunnel::avail {
namespace {

constexpr double most_elimination_operations = 3e8;
constexpr std::size_t most_elimination_states = 30'000;

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
    const double rounding = std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(n));
    double factor = 0.1;  // by which a sweep reduces the change, as long as that can be seen above rounding
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
        if (changes.back() > 8.0 * rounding)
            factor = std::clamp(std::pow(changes.back() / before, 1.0 / lag), 0.1, 1.0 - 1e-12);
        result.error = std::max(changes.back(), rounding) * factor / (1.0 - factor);
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
