#include "windtunnel/avail/importance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/avail/binomial_states.hpp"
#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"

namespace windtunnel::avail {
namespace {

using model::MeasureKind;

/// The classes of the chain with what a measure asks of them.
class System {
public:
    System(const model::Chain& chain, const model::ChainMeasure& of) : chain_{chain}, of_{of} {
        const IndependentMembers members{chain};
        for (const model::ChainComponent& component : chain.components) {
            const IndependentAnswer up =
                members.availability(component, of.kind == MeasureKind::transient ? of.time : std::nullopt);
            up_.push_back(up.value);
            error_ = std::max(error_, up.error);
            law_.push_back(binomial(component.count, up.value));
        }
    }
    [[nodiscard]] double error() const noexcept { return error_; }
    [[nodiscard]] double up(std::size_t c) const { return up_[c]; }
    [[nodiscard]] bool is_binary() const noexcept { return is_binary_; }

    /// Probability that the system fails, with the law of class c replaced.
    double fails(std::size_t c, const std::vector<double>* instead) {
        std::vector<std::vector<double>> law = law_;
        if (instead != nullptr) law[c] = *instead;
        double sum = 0.0;
        for_all_numbers(law, [&](const std::vector<double>& number, double probability) {
            if (probability > 0.0 && !works(number)) sum += probability;
        });
        return sum;
    }

    /// One member of class c works (or not), the others as they are.
    double fails_given(std::size_t c, bool member_works) {
        const std::vector<double> others = binomial(chain_.components[c].count - 1, up_[c]);
        std::vector<double> law(others.size() + 1, 0.0);
        for (std::size_t k = 0; k < others.size(); ++k) law[k + (member_works ? 1 : 0)] = others[k];
        return fails(c, &law);
    }

    /// A failed minimal cut holds a member of class c: some part of what has failed fails the system, and not without
    /// one member of c.
    double fails_with_cut(std::size_t c) {
        std::vector<std::size_t> stride(law_.size(), 1);
        for (std::size_t i = 1; i < stride.size(); ++i) stride[i] = stride[i - 1] * law_[i - 1].size();
        const std::size_t total = stride.back() * law_.back().size();
        std::vector<std::uint8_t> failed(total, 0), holds(total, 0);
        double sum = 0.0;
        const auto index = [&](const std::vector<double>& number) {
            std::size_t at = 0;
            for (std::size_t i = 0; i < number.size(); ++i) at += static_cast<std::size_t>(number[i]) * stride[i];
            return at;
        };
        for_all_numbers(
            law_, [&](const std::vector<double>& number, double) { failed[index(number)] = works(number) ? 0 : 1; });
        // Fewer failures have larger numbers: from the largest index down every part of a state comes before it.
        for (std::size_t at = total; at-- > 0;) {
            for (std::size_t i = 0; i < stride.size(); ++i) {
                const std::size_t number = (at / stride[i]) % law_[i].size();
                if (number + 1 == law_[i].size()) continue;
                if (holds[at + stride[i]] != 0) holds[at] = 1;
                if (i == c && failed[at] != 0 && failed[at + stride[i]] == 0) holds[at] = 1;
            }
        }
        for_all_numbers(law_, [&](const std::vector<double>& number, double probability) {
            if (holds[index(number)] != 0) sum += probability;
        });
        return sum;
    }

private:
    bool works(const std::vector<double>& number) {
        std::vector<double> state(number.size());
        for (std::size_t i = 0; i < number.size(); ++i) state[chain_.components[i].variable] = number[i];
        const double reward = chain_.rewards[*of_.reward].per_time(state);
        if (reward != 0.0 && reward != 1.0) is_binary_ = false;
        return reward != 0.0;
    }
    const model::Chain& chain_;
    const model::ChainMeasure& of_;
    std::vector<double> up_;
    std::vector<std::vector<double>> law_;
    double error_ = 0.0;
    bool is_binary_ = true;
};

}  // namespace

IndependentAnswer importance(const model::Chain& chain, const model::ChainMeasure& of, MeasureKind kind,
                             const std::string& component) {
    const std::string obstacle = why_not_independent(chain);
    if (!obstacle.empty()) return {0.0, 0.0, obstacle};
    const bool fits = of.kind == MeasureKind::steady_state || of.kind == MeasureKind::transient;
    if (!fits || !of.reward || !chain.rewards[*of.reward].per_time)
        return {0.0, 0.0, fmt::format("{} is no share of time in the long run or at a time", of.name)};
    std::size_t c = 0;
    while (c < chain.components.size() && chain.components[c].name != component) ++c;
    if (c == chain.components.size()) return {0.0, 0.0, fmt::format("{} is no component", component)};
    System system{chain, of};
    const double with = system.fails_given(c, true), without = system.fails_given(c, false);
    const double fails = system.fails(c, nullptr);
    IndependentAnswer answer{0.0, system.error() + 1e-14, {}};
    switch (kind) {
        case MeasureKind::birnbaum:
            answer.value = without - with;
            break;
        case MeasureKind::criticality:
            answer.value = (without - with) * (1.0 - system.up(c)) / fails;
            break;
        case MeasureKind::improvement: {
            const std::vector<double> perfect = binomial(chain.components[c].count, 1.0);
            answer.value = fails - system.fails(c, &perfect);
            break;
        }
        case MeasureKind::fussell_vesely:
            answer.value = system.fails_with_cut(c) / fails;
            break;
        case MeasureKind::risk_achievement:
            answer.value = without / fails;
            break;
        case MeasureKind::risk_reduction:
            answer.value = fails / with;
            break;
        default:
            answer.reason = "no importance";
    }
    if (!system.is_binary()) answer.reason = fmt::format("{} is neither 0 nor 1 in some state", of.name);
    return answer;
}

IndependentAnswer downtime_share(const model::Chain& chain, const model::ChainMeasure& of, const std::string& cause) {
    if (!of.reward || !chain.rewards[*of.reward].per_time || of.kind != MeasureKind::steady_state)
        return {0.0, 0.0, fmt::format("{} is no share of time in the long run", of.name)};
    if (chain.has_clocks()) return {0.0, 0.0, "a transition has a law without phases"};
    const model::StateFunction& works = chain.rewards[*of.reward].per_time;
    const StateSpace space = explore(chain);
    if (!space.findings.empty()) return {0.0, 0.0, space.findings.front().text()};
    const Classes classes = closed_classes(space.chain);
    if (classes.num_closed != 1) return {0.0, 0.0, "several groups of states cannot be left"};
    const Stationary steady = long_run(space.chain, classes);
    const std::size_t n = space.chain.num_states();
    std::vector<std::uint8_t> up(n, 0);
    std::vector<double> state(chain.variables.size()), time(n, 0.0);
    for (std::size_t s = 0; s < n; ++s) {
        space.states.read(s, state);
        up[s] = works(state) != 0.0 ? 1 : 0;
    }
    double change = 1.0, largest = 0.0;  // mean time until up: sweeps from below, monotone
    for (int sweep = 0; sweep < 200'000 && change > 1e-15 * largest; ++sweep) {
        change = 0.0;
        for (std::size_t s = n; s-- > 0;) {
            if (up[s] != 0) continue;
            double sum = 1.0, leaving = 0.0;
            for (std::uint64_t at = space.chain.first[s]; at < space.chain.first[s + 1]; ++at) {
                sum += space.chain.rate[at] * time[space.chain.target[at]];
                leaving += space.chain.rate[at];
            }
            if (leaving == 0.0) return {0.0, 0.0, "the system may stay down for good"};
            change = std::max(change, sum / leaving - time[s]);
            time[s] = sum / leaving;
            largest = std::max(largest, time[s]);
        }
    }
    PackedStates find = space.states;
    double mine = 0.0, all = 0.0;
    bool known = false;
    for (std::size_t s = 0; s < n; ++s) {
        if (up[s] == 0) continue;
        space.states.read(s, state);
        for (const model::ChainTransition& transition : chain.transitions) {
            const bool own = transition.name == cause || transition.name == cause + "_failure";
            known = known || own;
            if (transition.guard && transition.guard(state) == 0.0) continue;
            const double rate = transition.rate(state);
            if (rate <= 0.0) continue;
            std::vector<double> after = state;
            for (const model::ChainUpdate& update : transition.updates)
                after[update.variable] = std::round(update.value(state));
            const std::size_t to = find.find_or_add(after);
            if (up[to] != 0) continue;
            all += steady.share[s] * rate * time[to];
            if (own) mine += steady.share[s] * rate * time[to];
        }
    }
    if (!known) return {0.0, 0.0, fmt::format("{} is no component and no transition", cause)};
    return {all > 0.0 ? mine / all : 0.0, steady.error + 1e-12, {}};
}

IndependentAnswer level_availability(const model::Chain& chain, const std::string& name, std::optional<double> time) {
    const IndependentMembers members{chain};
    std::vector<double> works;
    double error = 0.0;
    for (const model::ChainLevel& level : chain.levels) {
        double all = 1.0;
        for (const model::ChainLevel::Member& member : level.members) {
            double one = 1.0;
            if (member.is_level) {
                one = works[member.index];
            } else {
                const model::ChainComponent& component = chain.components[member.index];
                if (!component.independent)
                    return {0.0, 0.0, fmt::format("members of {} depend on other things", component.name)};
                const IndependentAnswer up = members.availability(component, time);
                one = up.value;
                error = std::max(error, up.error);
            }
            const std::vector<double> law = binomial(member.copies, one);
            double tail = 0.0;
            for (std::size_t k = static_cast<std::size_t>(member.needed); k < law.size(); ++k) tail += law[k];
            all *= tail;
        }
        works.push_back(all);
        if (level.name == name) return {all, error + 1e-14, {}};
    }
    return {0.0, 0.0, fmt::format("{} is no level", name)};
}

}  // namespace windtunnel::avail
