#include "windtunnel/avail/fixed_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace windtunnel::avail {
namespace {

constexpr std::size_t most_events = 1'000'000;
constexpr double same_moment = 1e-9;  // relative: times are sums of decimal numbers

class Walk {
public:
    explicit Walk(const model::Chain& chain) : chain_{chain}, ages_(chain.transitions.size()) {
        for (const model::ChainVariable& variable : chain.variables)
            state_.push_back(static_cast<double>(variable.initial));
        look();
    }

    FixedHistory run(double horizon) {
        FixedHistory history;
        history.collected.assign(chain_.rewards.size(), 0.0);
        double now = 0.0;
        while (true) {
            const double wait = next();
            const bool ends = now + wait > horizon * (1.0 + 1e-12);
            collect(history, std::min(wait, horizon - now));
            if (ends) break;
            advance(wait);
            now += wait;
            fire(now, history);
            if (!history.problem.empty() || history.events.size() > most_events) break;
        }
        if (history.events.size() > most_events)
            history.problem = fmt::format("more than {} events before {}", most_events, horizon);
        for (const model::ChainReward& reward : chain_.rewards)
            history.at_end.push_back(reward.per_time ? reward.per_time(state_) : 0.0);
        return history;
    }

private:
    [[nodiscard]] double due(std::size_t i) const { return chain_.transitions[i].clock->law.scale; }

    /// Which transitions are possible, and how many clocks each has.
    void look() {
        possible_.assign(ages_.size(), 0);
        for (std::size_t i = 0; i < ages_.size(); ++i) {
            const model::ChainTransition& transition = chain_.transitions[i];
            possible_[i] = !transition.guard || transition.guard(state_) != 0.0 ? 1 : 0;
            if (possible_[i] == 0) {
                if (transition.clock->memory == model::ClockMemory::lapses) ages_[i].clear();
                continue;
            }
            const double number = transition.clock->members ? std::max(transition.clock->members(state_), 0.0) : 1.0;
            ages_[i].resize(static_cast<std::size_t>(std::min(number, 1e6)), 0.0);
        }
    }

    [[nodiscard]] double next() const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < ages_.size(); ++i)
            if (possible_[i] != 0)
                for (const double age : ages_[i]) least = std::min(least, std::max(due(i) - age, 0.0));
        return least;
    }

    void collect(FixedHistory& history, double time) const {
        for (std::size_t r = 0; r < chain_.rewards.size(); ++r)
            if (chain_.rewards[r].per_time && time > 0.0)
                history.collected[r] += time * chain_.rewards[r].per_time(state_);
    }

    void advance(double time) {
        for (std::size_t i = 0; i < ages_.size(); ++i)
            if (possible_[i] != 0 || chain_.transitions[i].clock->memory == model::ClockMemory::runs_on)
                for (double& age : ages_[i]) age += time;
    }

    void fire(double now, FixedHistory& history) {
        std::vector<std::size_t> together;
        for (std::size_t i = 0; i < ages_.size(); ++i) {
            if (possible_[i] == 0) continue;
            const auto is_due = [&](double age) { return age >= due(i) * (1.0 - same_moment); };
            const auto number = std::count_if(ages_[i].begin(), ages_[i].end(), is_due);
            std::erase_if(ages_[i], is_due);
            together.insert(together.end(), static_cast<std::size_t>(number), i);
        }
        for (const std::size_t i : together) {
            for (std::size_t r = 0; r < chain_.rewards.size(); ++r)
                if (i < chain_.rewards[r].per_event.size() && chain_.rewards[r].per_event[i])
                    history.collected[r] += chain_.rewards[r].per_event[i](state_);
            std::vector<double> after = state_;
            for (const model::ChainUpdate& update : chain_.transitions[i].updates) {
                const model::ChainVariable& variable = chain_.variables[update.variable];
                after[update.variable] = update.value(state_);
                if (!(after[update.variable] >= static_cast<double>(variable.least) &&
                      after[update.variable] <= static_cast<double>(variable.most)))
                    history.problem =
                        fmt::format("{} becomes {} at time {}", variable.name, after[update.variable], now);
            }
            if (!history.problem.empty()) return;
            state_ = after;
            history.events.push_back({now, i});
        }
        look();
    }

    const model::Chain& chain_;
    std::vector<double> state_;
    std::vector<std::vector<double>> ages_;
    std::vector<std::uint8_t> possible_;
};

}  // namespace

bool has_fixed_times(const model::Chain& chain) {
    return !chain.transitions.empty() &&
           std::all_of(chain.transitions.begin(), chain.transitions.end(), [](const model::ChainTransition& one) {
               return one.clock && one.clock->law.kind == model::TimeLawKind::deterministic;
           });
}

FixedHistory fixed_history(const model::Chain& chain, double horizon) {
    return Walk{chain}.run(horizon);
}

}  // namespace windtunnel::avail
