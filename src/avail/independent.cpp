#include "windtunnel/avail/independent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/avail/binomial_states.hpp"
#include "windtunnel/avail/quadrature.hpp"
#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

constexpr double most_states = 1e6;
const model::TimeLaw* repair_of(const model::ChainComponent& component) {
    return component.repair ? &*component.repair : nullptr;
}

}  // namespace

std::string why_not_independent(const model::Chain& chain) {
    std::vector<std::uint8_t> belongs(chain.transitions.size(), 0);
    double states = 1.0;
    for (const model::ChainComponent& component : chain.components) {
        if (!component.independent) return fmt::format("members of {} depend on other things", component.name);
        belongs[component.failure] = 1;
        if (component.repair_transition) belongs[*component.repair_transition] = 1;
        states *= static_cast<double>(component.count + 1);
    }
    for (std::size_t i = 0; i < belongs.size(); ++i)
        if (belongs[i] == 0) return fmt::format("\"{}\" is no failure or repair of a class", chain.transitions[i].name);
    if (chain.components.size() != chain.variables.size()) return "there are variables beside the components";
    if (states > most_states) return fmt::format("{:.1e} states", states);
    return {};
}

IndependentAnswer IndependentMembers::availability(const model::ChainComponent& component,
                                                   std::optional<double> time) const {
    if (!time) {
        if (!component.repair) return {0.0, 0.0, {}};
        const double up = mean(component.life), down = mean(*component.repair);
        return {up / (up + down), 1e-15, {}};
    }
    if (!component.repair) return {survival(component.life, *time), 1e-13, {}};
    const RenewalAnswer at = renewal_at(component.life, repair_of(component), *time);
    return {at.availability, at.error, {}};
}

template <class Visit>
void IndependentMembers::for_all_states(const std::vector<double>& up, const Visit& visit) const {
    std::vector<std::vector<double>> law;
    for (std::size_t c = 0; c < up.size(); ++c) law.push_back(binomial(chain_.components[c].count, up[c]));
    std::vector<double> state(up.size(), 0.0);
    for_all_numbers(law, [&](const std::vector<double>& number, double probability) {
        for (std::size_t c = 0; c < number.size(); ++c) state[chain_.components[c].variable] = number[c];
        visit(state, probability);
    });
}

double IndependentMembers::expected(const model::StateFunction& reward, const std::vector<double>& up) const {
    if (!reward) return 0.0;
    double sum = 0.0;
    for_all_states(up, [&](const std::vector<double>& state, double probability) {
        if (probability > 0.0) sum += probability * reward(state);
    });
    return sum;
}

IndependentAnswer IndependentMembers::events(const model::ChainReward& reward, double time) const {
    IndependentAnswer answer;
    for (const model::ChainComponent& component : chain_.components) {
        const auto per_event = [&](std::size_t transition) {
            double value = NAN;
            if (transition >= reward.per_event.size() || !reward.per_event[transition]) return 0.0;
            for_all_states(std::vector<double>(chain_.components.size(), 0.5),
                           [&](const std::vector<double>& state, double) {
                               const double here = reward.per_event[transition](state);
                               if (std::isnan(value)) value = here;
                               if (here != value) answer.reason = "a reward of an event changes with the state";
                           });
            return value;
        };
        const double failing = per_event(component.failure);
        const double mending = component.repair_transition ? per_event(*component.repair_transition) : 0.0;
        if (failing == 0.0 && mending == 0.0) continue;
        const RenewalAnswer at = renewal_at(component.life, repair_of(component), time);
        answer.value += static_cast<double>(component.count) * (failing * at.failures + mending * at.repairs);
        answer.error = std::max(answer.error, at.error);
    }
    return answer;
}

IndependentAnswer IndependentMembers::integrated(const model::ChainReward& reward, double time) const {
    if (!reward.per_time) return {};
    std::vector<double> sums;
    constexpr std::size_t most = 4096;
    std::size_t first = 64;
    for (const model::ChainComponent& component : chain_.components)
        first = std::max(first, fitting_steps(component.life, repair_of(component), time, 64));
    for (std::size_t n = first;
         n <= most && (sums.size() < 4 || std::abs(sums.back() - sums.end()[-2]) > 1e-10 * std::abs(sums.back()));
         n *= 2) {
        std::vector<RenewalPath> paths;
        for (const model::ChainComponent& component : chain_.components)
            paths.push_back(renewal_path(component.life, repair_of(component), time, n));
        double sum = 0.0;
        std::vector<double> up(paths.size());
        for (std::size_t k = 0; k <= n; ++k) {
            for (std::size_t c = 0; c < up.size(); ++c)
                up[c] = std::clamp(1.0 + paths[c].repairs[k] - paths[c].failures[k], 0.0, 1.0);
            sum += expected(reward.per_time, up) * (k == 0 || k == n ? 0.5 : 1.0);
        }
        sums.push_back(sum * time / static_cast<double>(n));
    }
    if (sums.size() < 3) return {sums.empty() ? 0.0 : sums.back(), 1e-2, {}};
    const double a = sums.end()[-3], b = sums.end()[-2], c = sums.back();
    const bool smooth = std::abs(c - b) < std::abs(b - a) && std::abs(c - b) > 1e-15 * std::abs(c);
    const double best = smooth ? c - (c - b) * (c - b) / ((c - b) - (b - a)) : c;
    return {best, std::abs(best - c) / std::max(std::abs(best), 1e-300), {}};
}

std::string IndependentMembers::passage_obstacle(const model::ChainMeasure& measure, bool& any_failure) const {
    if (measure.avoid) return "a target with states to avoid";
    bool kept = true, repaired = false;
    any_failure = true;
    for (const model::ChainComponent& component : chain_.components) repaired = repaired || component.repair;
    for_all_states(std::vector<double>(chain_.components.size(), 0.5), [&](const std::vector<double>& state, double) {
        double failed = 0.0;
        for (const model::ChainComponent& component : chain_.components)
            failed += static_cast<double>(component.count) - state[component.variable];
        const bool inside = measure.target(state) != 0.0;
        if (failed == 1.0 && !inside) any_failure = false;
        if (!inside) return;
        for (const model::ChainComponent& component : chain_.components) {
            std::vector<double> next = state;
            if (next[component.variable] == 0.0) continue;
            next[component.variable] -= 1.0;
            kept = kept && measure.target(next) != 0.0;
        }
    });
    if (any_failure || (!repaired && kept)) return {};
    return repaired ? "a first passage of repaired members that takes more than one failure"
                    : "a target that a further failure leaves";
}

IndependentAnswer IndependentMembers::first_passage(const model::ChainMeasure& measure) const {
    bool any_failure = false;
    IndependentAnswer answer;
    answer.reason = passage_obstacle(measure, any_failure);
    if (!answer.reason.empty()) return answer;
    answer.error = 1e-12;
    std::vector<double> start;
    for (const model::ChainVariable& variable : chain_.variables)
        start.push_back(static_cast<double>(variable.initial));
    const auto not_there = [&](double t) {
        if (measure.target(start) != 0.0) return 0.0;
        std::vector<double> up;
        double none = 1.0;
        for (const model::ChainComponent& component : chain_.components) {
            up.push_back(survival(component.life, t));
            none *= std::pow(up.back(), static_cast<double>(component.count));
        }
        if (any_failure) return none;
        return expected([&](std::span<const double> state) { return measure.target(state) != 0.0 ? 0.0 : 1.0; }, up);
    };
    if (measure.kind == model::MeasureKind::probability) {
        if (!measure.time) return {0.0, 0.0, "a probability without a time"};
        std::vector<double> up;
        for (const model::ChainComponent& component : chain_.components)
            up.push_back(survival(component.life, *measure.time));
        // Summed over the target, not 1 - the rest: small probabilities keep their accuracy.
        answer.value =
            any_failure
                ? 1.0 - not_there(*measure.time)
                : expected([&](std::span<const double> state) { return measure.target(state) != 0.0 ? 1.0 : 0.0; }, up);
        return answer;
    }
    std::vector<double> ends{0.0};
    double scale = 0.0;
    for (const model::ChainComponent& component : chain_.components) {
        for (const double one : atoms(component.life)) ends.push_back(one);
        if (component.life.kind == model::TimeLawKind::uniform) {
            ends.push_back(component.life.shape);
            ends.push_back(component.life.scale);
        }
        scale = std::max(scale, mean(component.life));
    }
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) answer.value += integral(not_there, ends[i], ends[i + 1]);
    while (scale > 1e-200 && not_there(ends.back() + scale) < 0.1) scale *= 0.5;
    if (not_there(ends.back()) > 0.0) answer.value += integral_to_infinity(not_there, ends.back(), scale);
    return answer;
}

IndependentAnswer IndependentMembers::answer(const model::ChainMeasure& measure) const {
    using enum model::MeasureKind;
    const std::string obstacle = why_not_independent(chain_);
    if (!obstacle.empty()) return {0.0, 0.0, obstacle};
    if (measure.kind == mean_time || measure.kind == probability) return first_passage(measure);
    if (!measure.time || !measure.reward) return {0.0, 0.0, "a measure of this kind"};
    const model::ChainReward& reward = chain_.rewards[*measure.reward];
    if (measure.kind == transient) {
        if (std::any_of(reward.per_event.begin(), reward.per_event.end(), [](const auto& one) { return bool{one}; }))
            return {0.0, 0.0, "events at a moment"};
        IndependentAnswer result;
        std::vector<double> up;
        for (const model::ChainComponent& component : chain_.components) {
            const IndependentAnswer one = availability(component, measure.time);
            up.push_back(one.value);
            result.error = std::max(result.error, one.error);
        }
        result.value = expected(reward.per_time, up);
        return result;
    }
    if (measure.kind != accumulated && measure.kind != time_averaged) return {0.0, 0.0, "a measure of this kind"};
    IndependentAnswer result = events(reward, *measure.time);
    const IndependentAnswer states = integrated(reward, *measure.time);
    result.value += states.value;
    result.error = std::max(result.error, states.error);
    if (measure.kind == time_averaged) result.value /= *measure.time;
    return result;
}

}  // namespace windtunnel::avail
