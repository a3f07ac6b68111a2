#include "windtunnel/avail/guide.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace windtunnel::avail {
namespace {

constexpr std::size_t most_states = 20'000;
constexpr double margin = 9.3;  // ln 10^4
constexpr int most_sweeps = 200;
constexpr double settled = 1e-3;  // change of an estimate, relative
constexpr double infinite = std::numeric_limits<double>::infinity();
enum Mark : std::uint8_t { outside, inside, reached, ended };

/// A state, and minus the logarithm of a probability.
struct Entry {
    double cost;
    std::uint32_t state;
    friend bool operator>(const Entry& a, const Entry& b) noexcept {
        return a.cost != b.cost ? a.cost > b.cost : a.state > b.state;
    }
};
using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

}  // namespace

int RareTarget::mark(const StateTable& table, std::uint32_t state, bool away) const noexcept {
    if (cycle && away && state == StateTable::initial()) return 2;
    if (by == By::target) return table.is_target(state, measure) ? 1 : table.is_avoided(state, measure) ? 2 : 0;
    const double usual = table.reward(StateTable::initial(), reward);
    return std::abs(table.reward(state, reward) - usual) > 1e-12 * (1.0 + std::abs(usual)) ? 1 : 0;
}

Guide::Guide(StateTable& table, const RareTarget& target) : time_{target.time} {
    explore(table, target);
    count_steps(table);
    estimate(table, reached, value_);
    failure_.assign(mark_.size(), 0.0);
    estimate(table, ended, failure_);
    const std::uint32_t start = StateTable::initial();
    attempt_ = value_[start];
    in_the_end_ = attempt_ > 0.0 ? attempt_ / std::min(1.0, attempt_ + failure_[start]) : 0.0;
}

double Guide::probability(const StateTable::Row& row, double rate) const noexcept {
    return rate * std::min(row.mean_time, time_);
}

void Guide::explore(StateTable& table, const RareTarget& target) {
    std::vector<double> cost;
    Queue open;
    double most = infinite;
    open.push({0.0, StateTable::initial()});
    cost.resize(1, 0.0);
    while (!open.empty() && found_.size() < most_states) {
        const Entry at = open.top();
        open.pop();
        if (at.cost > most) break;
        if (at.cost > cost[at.state]) continue;
        const StateTable::Row row = table.row(at.state);
        mark_.resize(table.num_found(), outside);
        cost.resize(table.num_found(), infinite);
        if (mark_[at.state] != outside) continue;
        found_.push_back(at.state);
        const int kind = target.mark(table, at.state, false);
        mark_[at.state] = kind == 1 ? reached : kind == 2 || row.count == 0 ? ended : inside;
        if (kind == 1) most = std::min(most, at.cost + margin);
        if (mark_[at.state] != inside) continue;
        for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
            const double further = at.cost - std::log(probability(row, table.rate(i)));
            const std::uint32_t to = table.target(i);
            if (further >= cost[to]) continue;
            cost[to] = further;
            open.push({further, to});
        }
    }
    mark_.resize(table.num_found(), outside);
}

void Guide::count_steps(const StateTable& table) {
    // Jumps on the most probable way, from the target backwards.
    struct Edge {
        std::uint32_t from, to;
        double cost;
    };
    std::vector<Edge> edges;
    for (const std::uint32_t state : found_) {
        if (mark_[state] != inside) continue;
        const StateTable::Row row = table.known_row(state);
        for (std::uint32_t i = row.first; i < row.first + row.count; ++i)
            if (mark_[table.target(i)] == inside || mark_[table.target(i)] == reached)
                edges.push_back({state, table.target(i), -std::log(probability(row, table.rate(i)))});
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
    steps_.assign(mark_.size(), most_steps);
    std::vector<double> cost(mark_.size(), infinite);
    Queue open;
    for (const std::uint32_t state : found_)
        if (mark_[state] == reached) {
            cost[state] = 0.0;
            steps_[state] = 0;
            open.push({0.0, state});
        }
    while (!open.empty()) {
        const Entry at = open.top();
        open.pop();
        if (at.cost > cost[at.state]) continue;
        auto edge = std::lower_bound(edges.begin(), edges.end(), at.state,
                                     [](const Edge& one, std::uint32_t to) { return one.to < to; });
        for (; edge != edges.end() && edge->to == at.state; ++edge) {
            if (at.cost + edge->cost >= cost[edge->from]) continue;
            cost[edge->from] = at.cost + edge->cost;
            steps_[edge->from] = steps_[at.state] + 1;
            open.push({cost[edge->from], edge->from});
        }
    }
    value_.assign(mark_.size(), 0.0);
    for (const std::uint32_t state : found_) value_[state] = std::exp(-cost[state]);
}

void Guide::estimate(const StateTable& table, std::uint8_t mark, std::vector<double>& value) const {
    const auto one_step = [&](std::uint32_t state) {
        const StateTable::Row row = table.known_row(state);
        double sum = 0.0;
        for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
            const std::uint32_t to = table.target(i);
            if (to != StateTable::initial()) sum += probability(row, table.rate(i)) * value[to];
        }
        return std::min(sum, 1.0);
    };
    for (const std::uint32_t state : found_)
        if (mark_[state] == mark) value[state] = 1.0;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {  // states found late are near the target
        double change = 0.0;
        for (auto state = found_.rbegin(); state != found_.rend(); ++state) {
            if (mark_[*state] != inside || *state == StateTable::initial()) continue;
            const double better = one_step(*state);
            if (better > 0.0) change = std::max(change, std::abs(better - value[*state]) / better);
            value[*state] = better;
        }
        if (change < settled) break;
    }
    if (mark_[StateTable::initial()] == inside) value[StateTable::initial()] = one_step(StateTable::initial());
}

}  // namespace windtunnel::avail
