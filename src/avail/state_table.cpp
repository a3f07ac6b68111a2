#include "windtunnel/avail/state_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::avail {

StateTable::StateTable(const model::Chain& chain)
    : chain_{chain},
      num_rewards_{chain.rewards.size()},
      num_measures_{chain.measures.size()},
      states_{chain.variables},
      now_(chain.variables.size()),
      after_(chain.variables.size()),
      events_(num_rewards_) {
    for (std::size_t i = 0; i < now_.size(); ++i) now_[i] = static_cast<double>(chain.variables[i].initial);
    (void)states_.find_or_add(now_);
    rows_.resize(1);
    rewards_.resize(num_rewards_);
    marks_.resize(num_measures_);
}

void StateTable::fail(const model::FilePlace& place, const std::string& message, const std::string& expected) const {
    throw base::InputError{{{place.file, place.line, place.column, place.field,
                             message + " in state " + state_text(chain_, now_), expected}}};
}

void StateTable::work_out(std::uint32_t state) {
    states_.read(state, now_);
    find_options(state);
    if (states_.size() > static_cast<std::size_t>(chain_.most_states))
        fail(chain_.place, fmt::format("paths came across more than {} states, the last one", chain_.most_states),
             "fewer states, or a larger chain.most_states (about 500 bytes a state)");
    rows_.resize(states_.size());
    rewards_.resize(states_.size() * num_rewards_);
    marks_.resize(states_.size() * num_measures_);
    double leaving = 0.0;
    Row& row = rows_[state];
    for (std::uint32_t i = row.first; i < row.first + row.count; ++i) leaving += rates_[i];
    row.mean_time = leaving > 0.0 ? 1.0 / leaving : std::numeric_limits<double>::infinity();
    row.known = true;
    make_aliases(row);
    for (std::size_t r = 0; r < num_rewards_; ++r) {
        const model::StateFunction& per_time = chain_.rewards[r].per_time;
        const double reward = events_[r] + (per_time ? per_time(now_) : 0.0);
        if (!std::isfinite(reward))
            fail(chain_.rewards[r].place, fmt::format("the reward is {}", reward), "a finite number");
        rewards_[state * num_rewards_ + r] = reward;
    }
    for (std::size_t m = 0; m < num_measures_; ++m) {
        const model::ChainMeasure& measure = chain_.measures[m];
        const bool target = measure.target && measure.target(now_) != 0.0;
        const bool avoid = measure.avoid && measure.avoid(now_) != 0.0;
        marks_[state * num_measures_ + m] = target ? 1 : avoid ? 2 : 0;
    }
}

void StateTable::find_options(std::uint32_t state) {
    std::fill(events_.begin(), events_.end(), 0.0);
    rows_[state].first = static_cast<std::uint32_t>(targets_.size());
    for (std::size_t index = 0; index < chain_.transitions.size(); ++index) {
        const model::ChainTransition& transition = chain_.transitions[index];
        if (transition.guard && transition.guard(now_) == 0.0) continue;
        const double rate = transition.rate(now_);
        if (!(rate >= 0.0) || !std::isfinite(rate))
            fail(transition.rate_place, fmt::format("the rate is {}", rate), "a finite number, 0 or more");
        if (rate == 0.0) continue;
        const bool moves = update(transition);
        for (std::size_t r = 0; r < num_rewards_; ++r) {
            const auto& per_event = chain_.rewards[r].per_event;
            if (index < per_event.size() && per_event[index]) events_[r] += rate * per_event[index](now_);
        }
        if (!moves) continue;
        targets_.push_back(states_.find_or_add(after_));
        rates_.push_back(rate);
        transitions_.push_back(static_cast<std::uint32_t>(index));
    }
    rows_[state].count = static_cast<std::uint32_t>(targets_.size()) - rows_[state].first;
}

bool StateTable::update(const model::ChainTransition& transition) {
    after_ = now_;
    for (const model::ChainUpdate& change : transition.updates) {
        const model::ChainVariable& variable = chain_.variables[change.variable];
        const double raw = change.value(now_), value = std::round(raw);
        if (!(std::abs(value - raw) <= 1e-9) || value < static_cast<double>(variable.least) ||
            value > static_cast<double>(variable.most))
            fail(change.place, fmt::format("{} becomes {}", variable.name, raw),
                 fmt::format("an integer from {} to {}, or a guard that excludes the state", variable.least,
                             variable.most));
        after_[change.variable] = value;
    }
    return after_ != now_;
}

void StateTable::make_aliases(const Row& row) {
    options_.resize(targets_.size());
    const std::uint32_t n = row.count;
    std::vector<double> share(n);
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t i = 0; i < n; ++i) {
        share[i] = rates_[row.first + i] * row.mean_time * n;
        (share[i] < 1.0 ? small : large).push_back(i);
        options_[row.first + i] = {~std::uint64_t{0}, targets_[row.first + i], targets_[row.first + i]};
    }
    while (!small.empty() && !large.empty()) {
        const std::uint32_t less = small.back(), more = large.back();
        small.pop_back();
        options_[row.first + less].threshold = static_cast<std::uint64_t>(std::ldexp(share[less], 64));
        options_[row.first + less].other = targets_[row.first + more];
        share[more] -= 1.0 - share[less];
        if (share[more] < 1.0) {
            large.pop_back();
            small.push_back(more);
        }
    }
}

}  // namespace windtunnel::avail
