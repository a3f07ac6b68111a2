#include "windtunnel/avail/exact_engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "windtunnel/avail/clocks.hpp"
#include "windtunnel/avail/fixed_times.hpp"
#include "windtunnel/avail/independent.hpp"
#include "windtunnel/avail/markov_measures.hpp"
#include "windtunnel/avail/stationary.hpp"
#include "windtunnel/avail/steps.hpp"

namespace windtunnel::avail {
namespace {

using model::Chain;
using model::ChainMeasure;
using enum model::MeasureKind;
using Wanted = std::vector<std::uint8_t>;

bool is_timed(const ChainMeasure& measure) {
    return measure.kind == transient || measure.kind == accumulated || measure.kind == time_averaged ||
           measure.kind == variance || (measure.kind == probability && measure.time);
}

class Engines {
public:
    Engines(const Chain& chain, const Wanted& wanted, ChainAnswer& answer)
        : chain_{chain}, plain_{with_exponential_clocks_as_rates(chain)}, wanted_{wanted}, answer_{answer} {}

    void run() {
        by_steps();
        if (has_fixed_times(chain_)) by_history();
        if (none_left()) return;
        if (!plain_.has_clocks()) {
            by_rates(plain_, {});
        } else {
            const auto long_run_kind = [](const ChainMeasure& one) {
                return one.kind == steady_state || one.kind == frequency;
            };
            const auto passage_kind = [](const ChainMeasure& one) {
                return one.kind == mean_time || one.kind == reward_until || (one.kind == probability && !one.time);
            };
            take_group(long_run_kind, {&rates_of_equal_means, &semi_markov_rates, &with_phases}, false);
            take_group(passage_kind, {&semi_markov_rates, &with_phases}, true);
            take_group(is_timed, {&with_phases}, true);
        }
        for (std::size_t m = 0; m < wanted_.size() && answer_.findings.empty(); ++m)
            if (wanted_[m] != 0)
                fault(m, fmt::format("cannot be solved exactly{}{}", why_.empty() ? "" : ": ", why_),
                      "other laws or measures, or sampled paths (without --exact)");
    }

private:
    using Conversion = RateChain (*)(const Chain&);

    [[nodiscard]] bool none_left() const {
        return std::none_of(wanted_.begin(), wanted_.end(), [](std::uint8_t one) { return one != 0; });
    }
    void fault(std::size_t m, std::string message, std::string expected) {
        const model::FilePlace& place = chain_.measures[m].place;
        answer_.findings.push_back(
            {place.file, place.line, place.column, place.field, std::move(message), std::move(expected)});
    }
    void because(const std::string& reason) {
        if (why_.find(reason) == std::string::npos) why_ += (why_.empty() ? "" : "; ") + reason;
    }

    /// All that is wanted, of a chain of rates. With clocks converted (`conflict` given) false and a reason when the
    /// conversion does not hold.
    bool by_rates(const Chain& chain, const std::shared_ptr<std::string>& conflict, const Wanted* only = nullptr) {
        Wanted now = only != nullptr ? *only : wanted_;
        for (std::size_t m = 0; m < now.size(); ++m)
            if (chain_.measures[m].kind == time_of_event) now[m] = 0;
        const StateSpace space = explore(chain);
        if (conflict && !conflict->empty()) {
            because(*conflict);
            return false;
        }
        answer_.num_states = space.states.size();
        answer_.num_transitions = space.chain.num_transitions();
        ChainAnswer found = answer_;
        found.findings = space.findings;
        if (found.findings.empty()) answer_markov(chain, space, now, found);
        if (conflict && !found.findings.empty()) {
            because(found.findings.front().message);
            return false;
        }
        answer_ = std::move(found);
        for (std::size_t m = 0; m < now.size(); ++m)
            if (now[m] != 0) wanted_[m] = 0;
        return true;
    }

    template <class Fits>
    void take_group(const Fits& fits, const std::vector<Conversion>& conversions, bool independent) {
        Wanted group(wanted_.size(), 0);
        for (std::size_t m = 0; m < group.size(); ++m) group[m] = wanted_[m] != 0 && fits(chain_.measures[m]) ? 1 : 0;
        if (std::find(group.begin(), group.end(), 1) == group.end()) return;
        if (independent && why_not_independent(chain_).empty()) {
            const IndependentMembers members{chain_};
            for (std::size_t m = 0; m < group.size(); ++m) {
                if (group[m] == 0) continue;
                const IndependentAnswer found = members.answer(chain_.measures[m]);
                if (!found.reason.empty()) {
                    because(found.reason);
                    continue;
                }
                answer_.measures[m].value = found.value;
                answer_.measures[m].error = found.error;
                answer_.measures[m].method = "independent members";
                wanted_[m] = group[m] = 0;
            }
            if (std::find(group.begin(), group.end(), 1) == group.end()) return;
        }
        for (const Conversion convert : conversions) {
            const RateChain converted = convert(plain_);
            if (!converted.reason.empty()) {
                because(converted.reason);
                continue;
            }
            if (by_rates(converted.chain, converted.conflict, &group)) return;
        }
    }

    void by_history() {
        double horizon = 0.0;
        bool timed = false;
        for (std::size_t m = 0; m < wanted_.size(); ++m)
            timed = timed || (wanted_[m] != 0 && chain_.measures[m].kind == time_of_event);
        for (std::size_t m = 0; m < wanted_.size(); ++m) {
            const ChainMeasure& measure = chain_.measures[m];
            const bool fits = measure.kind == transient || measure.kind == accumulated || measure.kind == time_averaged;
            if (wanted_[m] == 0 || !fits) continue;
            horizon = std::max(horizon, *measure.time);
            const FixedHistory history = fixed_history(chain_, *measure.time);
            if (!history.problem.empty()) {
                fault(m, history.problem, "a shorter time, or guards that exclude it");
                continue;
            }
            MeasureAnswer& result = answer_.measures[m];
            result.value =
                measure.kind == transient ? history.at_end[*measure.reward] : history.collected[*measure.reward];
            if (measure.kind == time_averaged) result.value /= *measure.time;
            result.error = 1e-15;
            result.method = fmt::format("one history, {} events", history.events.size());
            wanted_[m] = 0;
        }
        if (timed) events_of_history(std::max(horizon, 1.0));
    }

    void events_of_history(double horizon) {
        for (int doubling = 0; doubling < 60; ++doubling, horizon *= 2.0) {
            const FixedHistory history = fixed_history(chain_, horizon);
            bool all = true;
            for (std::size_t m = 0; m < wanted_.size(); ++m) {
                const ChainMeasure& measure = chain_.measures[m];
                if (wanted_[m] == 0 || measure.kind != time_of_event) continue;
                std::uint64_t count = 0;
                for (const FixedHistory::Event& event : history.events) {
                    if (std::find(measure.events.begin(), measure.events.end(), event.transition) ==
                        measure.events.end())
                        continue;
                    if (++count < measure.number) continue;
                    answer_.measures[m].value = event.time;
                    answer_.measures[m].error = 1e-15;
                    answer_.measures[m].method = "one history";
                    wanted_[m] = 0;
                    break;
                }
                all = all && wanted_[m] == 0;
            }
            if (all) return;
            if (!history.problem.empty()) {
                because(history.problem);
                return;
            }
        }
        because("the event does not happen so often");
    }

    void by_steps() {
        std::optional<StateSpace> space;
        for (std::size_t m = 0; m < wanted_.size(); ++m) {
            const ChainMeasure& measure = chain_.measures[m];
            if (wanted_[m] == 0 || measure.step_mode == model::StepMode::none) continue;
            if (plain_.has_clocks())
                return fault(m, "discrete time needs rates: a transition has a law of its own", "rate");
            if (!space) space = explore(plain_);
            answer_.findings.insert(answer_.findings.end(), space->findings.begin(), space->findings.end());
            if (!answer_.findings.empty()) return;
            answer_.num_states = space->states.size();
            answer_.num_transitions = space->chain.num_transitions();
            const StepChain steps = step_chain(space->chain, measure.step, measure.step_mode);
            if (!steps.problem.empty()) return fault(m, steps.problem, "a shorter step");
            one_by_steps(m, *space, steps);
            wanted_[m] = 0;
            if (!answer_.findings.empty()) return;
        }
    }

    void one_by_steps(std::size_t m, const StateSpace& space, const StepChain& steps) {
        const ChainMeasure& measure = chain_.measures[m];
        MeasureAnswer& result = answer_.measures[m];
        const std::vector<double>& reward = space.rewards[*measure.reward];
        if (measure.kind == steady_state) {
            const auto mean_reward = [&](const SparseChain& chain) {
                const Stationary found = long_run(chain, closed_classes(chain));
                double sum = 0.0;
                for (std::size_t i = 0; i < found.share.size(); ++i) sum += found.share[i] * reward[i];
                result.error = found.error;
                return sum;
            };
            const double without = mean_reward(space.chain);
            result.value = mean_reward(steps.chain);
            result.method = fmt::format("steps of {:.6g}, bias {:+.2e}", measure.step, result.value - without);
            return;
        }
        const double number = std::round(*measure.time / measure.step);
        if (std::abs(number * measure.step - *measure.time) > 1e-9 * *measure.time)
            return fault(m, fmt::format("the time is {:.9g} steps", *measure.time / measure.step),
                         "a whole number of steps");
        const StepAnswer found = number > 1e9 ? StepAnswer{{}, {}, false}
                                              : walk_steps(space.chain, steps, measure.step_mode, measure.step,
                                                           static_cast<std::uint64_t>(number), {&reward});
        if (!found.complete) return fault(m, fmt::format("{:.3g} steps are too many", number), "a longer step");
        result.value = measure.kind == transient ? found.at_end[0] : found.accumulated[0];
        if (measure.kind == time_averaged) result.value /= *measure.time;
        result.error = 1e-12;
        result.method = fmt::format("{:.0f} steps of {:.6g}", number, measure.step);
    }

    const Chain& chain_;
    Chain plain_;
    Wanted wanted_;
    ChainAnswer& answer_;
    std::string why_;
};

}  // namespace

void solve_chain(const Chain& chain, const std::vector<std::uint8_t>& wanted, ChainAnswer& answer) {
    Engines{chain, wanted, answer}.run();
}

Chain rates_for_shares(const Chain& chain) {
    Chain plain = with_exponential_clocks_as_rates(chain);
    if (!plain.has_clocks()) return plain;
    const RateChain phases = with_phases(plain);
    return phases.reason.empty() ? phases.chain : plain;
}

}  // namespace windtunnel::avail
