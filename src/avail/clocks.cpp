#include "windtunnel/avail/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

using model::Chain;
using model::ChainTransition;
using model::StateFunction;
using State = std::span<const double>;

bool is_exponential(const model::TimeLaw& law) {
    return law.kind == model::TimeLawKind::exponential ||
           ((law.kind == model::TimeLawKind::weibull || law.kind == model::TimeLawKind::gamma) && law.shape == 1.0);
}

bool possible(const ChainTransition& transition, State state) {
    return !transition.guard || transition.guard(state) != 0.0;
}

double members(const model::TransitionClock& clock, State state) {
    return clock.members ? std::max(clock.members(state), 0.0) : 1.0;
}

StateFunction members_over_mean(const model::TransitionClock& clock) {
    const double rate = 1.0 / mean(clock.law);
    if (!clock.members) return [rate](State) { return rate; };
    return [rate, number = clock.members](State state) { return rate * number(state); };
}

std::vector<double> after(const ChainTransition& transition, State state) {
    std::vector<double> values{state.begin(), state.end()};
    for (const model::ChainUpdate& update : transition.updates) values[update.variable] = update.value(state);
    return values;
}

/// The rate of clock `own` beside the exponential transitions of the state.
class SemiMarkovRate {
public:
    SemiMarkovRate(std::shared_ptr<const std::vector<ChainTransition>> all, std::size_t own,
                   std::shared_ptr<std::string> conflict)
        : all_{std::move(all)}, own_{own}, conflict_{std::move(conflict)} {}

    double operator()(State state) const {
        const ChainTransition& self = (*all_)[own_];
        const double number = members(*self.clock, state);
        if (number == 0.0) return 0.0;
        if (number != 1.0) note(fmt::format("{} clocks run at once", number));
        double others = 0.0;
        for (std::size_t i = 0; i < all_->size(); ++i) {
            const ChainTransition& other = (*all_)[i];
            if (i == own_ || !possible(other, state)) continue;
            if (other.clock && members(*other.clock, state) > 0.0)
                note(fmt::format("\"{}\" runs beside it", other.name));
            const double rate = other.clock ? 0.0 : other.rate(state);
            others += rate;
            if (rate <= 0.0) continue;
            const std::vector<double> next = after(other, state);
            if (possible(self, next) && members(*self.clock, next) > 0.0)
                note(fmt::format("it goes on after \"{}\"", other.name));
            else if (self.clock->memory != model::ClockMemory::lapses)
                note("it keeps its age while it is not possible");
        }
        if (others == 0.0) return 1.0 / mean(self.clock->law);
        const double wins = transform(self.clock->law, others).value;
        return others * wins / (1.0 - wins);
    }

private:
    void note(const std::string& what) const {
        if (conflict_->empty()) *conflict_ = fmt::format("the clock of \"{}\": {}", (*all_)[own_].name, what);
    }
    std::shared_ptr<const std::vector<ChainTransition>> all_;
    std::size_t own_;
    std::shared_ptr<std::string> conflict_;
};

/// Phases that start in the first one: continue[i * n + j] rates, exit rates; empty: none.
struct FirstPhase {
    std::size_t n = 0;
    std::vector<double> rate;  ///< as Phases::rate
};

FirstPhase coxian(const model::TimeLaw& law) {
    std::vector<std::size_t> order(law.time.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return law.time[a] < law.time[b]; });
    std::vector<double> weight, rate;
    for (const std::size_t i : order) {
        if (law.weight[i] == 0.0) continue;
        weight.push_back(law.weight[i]);
        rate.push_back(1.0 / law.time[i]);
    }
    const std::size_t n = weight.size();
    FirstPhase result{n, std::vector<double>(n * n, 0.0)};
    for (std::size_t k = 0; k < n; ++k) {  // a slower phase = this phase, then with a probability itself once more
        double ends = 0.0, left = 0.0;
        for (std::size_t i = k; i < n; ++i) {
            ends += weight[i] * rate[i] / rate[k];
            weight[i] *= 1.0 - rate[i] / rate[k];
            left += weight[i];
        }
        if (k + 1 == n || left <= 0.0) {
            result.rate[k * n + k] = rate[k];
            break;
        }
        result.rate[k * n + k] = rate[k] * ends;
        result.rate[k * n + k + 1] = rate[k] * (1.0 - ends);
        for (std::size_t i = k; i < n; ++i) weight[i] /= left;
    }
    return result;
}

FirstPhase first_phase(const model::TimeLaw& law) {
    if (law.kind == model::TimeLawKind::hyperexponential) return coxian(law);
    const auto found = phases(law);
    if (!found || found->start[0] < 1.0 - 1e-12) return {};
    return {found->size(), found->rate};
}

}  // namespace

Chain with_exponential_clocks_as_rates(const Chain& chain) {
    Chain result = chain;
    for (ChainTransition& transition : result.transitions) {
        if (!transition.clock || !is_exponential(transition.clock->law)) continue;
        transition.rate = members_over_mean(*transition.clock);
        transition.clock.reset();
    }
    return result;
}

RateChain semi_markov_rates(const Chain& chain) {
    RateChain result{chain, {}};
    const auto all = std::make_shared<const std::vector<ChainTransition>>(chain.transitions);
    for (std::size_t i = 0; i < chain.transitions.size(); ++i) {
        if (!chain.transitions[i].clock) continue;
        if (!(mean(chain.transitions[i].clock->law) > 0.0)) {
            result.reason = fmt::format("\"{}\" takes no time", chain.transitions[i].name);
            return result;
        }
        result.chain.transitions[i].rate = SemiMarkovRate{all, i, result.conflict};
        result.chain.transitions[i].clock.reset();
    }
    return result;
}

RateChain rates_of_equal_means(const Chain& chain) {
    RateChain result{chain, {}};
    std::vector<std::uint8_t> belongs(chain.transitions.size(), 0);
    for (const model::ChainComponent& component : chain.components) {
        if (!component.independent) continue;
        belongs[component.failure] = 1;
        if (component.repair_transition) belongs[*component.repair_transition] = 1;
    }
    for (std::size_t i = 0; i < chain.transitions.size(); ++i) {
        if (belongs[i] == 0)
            result.reason =
                fmt::format("\"{}\" is no failure or repair of independent members", chain.transitions[i].name);
        if (!chain.transitions[i].clock) continue;
        if (!(mean(chain.transitions[i].clock->law) > 0.0))
            result.reason = fmt::format("\"{}\" takes no time", chain.transitions[i].name);
        result.chain.transitions[i].rate = members_over_mean(*chain.transitions[i].clock);
        result.chain.transitions[i].clock.reset();
    }
    return result;
}

RateChain with_phases(const Chain& chain) {
    RateChain result{chain, {}};
    struct Clock {
        std::size_t transition, first_counter;
        FirstPhase law;
    };
    std::vector<Clock> clocks;
    for (std::size_t i = 0; i < chain.transitions.size(); ++i) {
        const ChainTransition& transition = chain.transitions[i];
        if (!transition.clock) continue;
        FirstPhase law = first_phase(transition.clock->law);
        if (law.n == 0 || transition.clock->memory == model::ClockMemory::runs_on) {
            result.reason = fmt::format("the time of \"{}\" has no exponential phases", transition.name);
            return result;
        }
        double most = 1.0;
        if (transition.clock->members)
            for (const model::ChainVariable& variable : chain.variables)
                most = std::max(most, static_cast<double>(variable.most));
        clocks.push_back({i, result.chain.variables.size(), std::move(law)});
        for (std::size_t k = 1; k < clocks.back().law.n; ++k)
            result.chain.variables.push_back(
                {fmt::format("{}_phase_{}", transition.name, k + 1), 0, static_cast<std::int64_t>(most), 0});
    }
    // Every transition but a clock's own: members that are gone, or lapse, leave the counters.
    const auto conflict = result.conflict;
    const auto refreshed = [conflict](const ChainTransition& cause, const ChainTransition& self, std::size_t first,
                                      std::size_t number, std::size_t k) {
        return [=](State state) {
            const std::vector<double> next = after(cause, state);
            const double now = state[first + k];
            if (now == 0.0) return 0.0;
            if (!possible(self, next)) return self.clock->memory == model::ClockMemory::lapses ? 0.0 : now;
            double later = 0.0;
            for (std::size_t j = 0; j < number; ++j) later += state[first + j];
            if (later > members(*self.clock, next) && conflict->empty())
                *conflict = fmt::format("\"{}\" takes members from the clock of \"{}\"", cause.name, self.name);
            return now;
        };
    };
    std::vector<ChainTransition> all;
    std::vector<std::vector<std::size_t>> made_of(chain.transitions.size());  // new transitions of an old one
    const auto refresh_others = [&](ChainTransition& made, std::size_t cause) {
        for (const Clock& clock : clocks)
            if (clock.transition != cause)
                for (std::size_t k = 0; k + 1 < clock.law.n; ++k)
                    made.updates.push_back({clock.first_counter + k,
                                            refreshed(chain.transitions[cause], chain.transitions[clock.transition],
                                                      clock.first_counter, clock.law.n - 1, k),
                                            made.place});
    };
    for (std::size_t i = 0; i < chain.transitions.size(); ++i) {
        const auto clock =
            std::find_if(clocks.begin(), clocks.end(), [&](const Clock& one) { return one.transition == i; });
        if (clock == clocks.end()) {
            made_of[i].push_back(all.size());
            all.push_back(chain.transitions[i]);
            refresh_others(all.back(), i);
            continue;
        }
        const std::size_t n = clock->law.n, first = clock->first_counter;
        const model::TransitionClock own = *chain.transitions[i].clock;
        const auto in_phase = [own, first, n](std::size_t k) -> StateFunction {
            if (k > 0) return [first, k](State state) { return state[first + k - 1]; };
            return [own, first, n](State state) {
                double later = 0.0;
                for (std::size_t j = 0; j + 1 < n; ++j) later += state[first + j];
                return std::max(members(own, state) - later, 0.0);
            };
        };
        const auto counter = [first](std::size_t k, double by) {
            return [first, k, by](State state) { return state[first + k - 1] + by; };
        };
        for (std::size_t from = 0; from < n; ++from)
            for (std::size_t to = 0; to < n; ++to) {
                const double rate = clock->law.rate[from * n + to];
                if (rate == 0.0) continue;
                ChainTransition made;
                made.name = chain.transitions[i].name;
                made.place = made.rate_place = chain.transitions[i].place;
                made.guard = chain.transitions[i].guard;
                made.rate = [rate, number = in_phase(from)](State state) { return rate * number(state); };
                if (from > 0) made.updates.push_back({from - 1 + first, counter(from, -1.0), made.place});
                if (from != to) {
                    if (to > 0) made.updates.push_back({to - 1 + first, counter(to, 1.0), made.place});
                } else {  // the end: the transition itself
                    made.updates.insert(made.updates.end(), chain.transitions[i].updates.begin(),
                                        chain.transitions[i].updates.end());
                    refresh_others(made, i);
                    made_of[i].push_back(all.size());
                }
                all.push_back(std::move(made));
            }
    }
    for (model::ChainReward& reward : result.chain.rewards) {
        std::vector<StateFunction> events(all.size());
        for (std::size_t i = 0; i < reward.per_event.size(); ++i)
            for (const std::size_t made : made_of[i]) events[made] = reward.per_event[i];
        reward.per_event = std::move(events);
    }
    result.chain.transitions = std::move(all);
    return result;
}

}  // namespace windtunnel::avail
