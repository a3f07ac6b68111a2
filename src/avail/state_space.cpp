#include "windtunnel/avail/state_space.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace windtunnel::avail {
namespace {

constexpr double most_transitions_per_state = 16.0;

/// Why a transition from a state is wrong, once per transition.
class Faults {
public:
    Faults(const model::Chain& chain, std::vector<base::Finding>& findings) : chain_{chain}, findings_{findings} {}

    void add(const model::FilePlace& place, std::string message, std::string expected,
             const std::vector<double>* state = nullptr) {
        if (state != nullptr) message += " in state " + state_text(chain_, *state);
        findings_.push_back(
            {place.file, place.line, place.column, place.field, std::move(message), std::move(expected)});
    }

private:
    const model::Chain& chain_;
    std::vector<base::Finding>& findings_;
};

}  // namespace

std::string state_text(const model::Chain& chain, const std::vector<double>& values) {
    constexpr std::size_t most_shown = 24;
    std::string text;
    for (std::size_t i = 0; i < std::min(values.size(), most_shown); ++i)
        text += fmt::format("{}{}={}", i == 0 ? "" : ", ", chain.variables[i].name, values[i]);
    return values.size() > most_shown ? text + ", ..." : text;
}

PackedStates::PackedStates(const std::vector<model::ChainVariable>& variables) {
    std::size_t word = 0;
    unsigned used = 0;
    for (const model::ChainVariable& variable : variables) {
        const auto range = static_cast<std::uint64_t>(variable.most - variable.least);
        const unsigned bits = std::max(1, static_cast<int>(std::bit_width(range)));
        if (used + bits > 64) {
            ++word;
            used = 0;
        }
        fields_.push_back(
            {word, used, (bits == 64 ? 0 : std::uint64_t{1} << bits) - 1, static_cast<double>(variable.least)});
        used += bits;
    }
    num_words_ = word + 1;
    packed_.resize(num_words_);
    slots_.assign(1024, 0);
}

void PackedStates::read(std::size_t state, std::vector<double>& values) const {
    const std::uint64_t* words = words_.data() + state * num_words_;
    for (std::size_t i = 0; i < fields_.size(); ++i)
        values[i] =
            fields_[i].least + static_cast<double>((words[fields_[i].word] >> fields_[i].shift) & fields_[i].mask);
}

std::uint64_t PackedStates::hash(const std::uint64_t* words) const noexcept {
    std::uint64_t sum = 0x9E37'79B9'7F4A'7C15;
    for (std::size_t i = 0; i < num_words_; ++i) {
        sum = (sum ^ words[i]) * 0xBF58'476D'1CE4'E5B9;
        sum ^= sum >> 29;
    }
    sum *= 0x94D0'49BB'1331'11EB;
    return sum ^ (sum >> 32);
}

void PackedStates::grow() {
    std::vector<std::uint32_t> larger(slots_.size() * 2, 0);
    const std::uint64_t mask = larger.size() - 1;
    for (std::size_t state = 0; state < size(); ++state) {
        std::uint64_t slot = hash(words_.data() + state * num_words_) & mask;
        while (larger[slot] != 0) slot = (slot + 1) & mask;
        larger[slot] = static_cast<std::uint32_t>(state + 1);
    }
    slots_ = std::move(larger);
}

std::uint32_t PackedStates::find_or_add(const std::vector<double>& values) {
    std::fill(packed_.begin(), packed_.end(), 0);
    for (std::size_t i = 0; i < fields_.size(); ++i)
        packed_[fields_[i].word] |= static_cast<std::uint64_t>(values[i] - fields_[i].least) << fields_[i].shift;
    if ((size() + 1) * 2 > slots_.size()) grow();
    const std::uint64_t mask = slots_.size() - 1;
    for (std::uint64_t slot = hash(packed_.data()) & mask;; slot = (slot + 1) & mask) {
        if (slots_[slot] == 0) {
            words_.insert(words_.end(), packed_.begin(), packed_.end());
            slots_[slot] = static_cast<std::uint32_t>(size());
            return slots_[slot] - 1;
        }
        if (std::equal(packed_.begin(), packed_.end(),
                       words_.begin() + static_cast<std::ptrdiff_t>((slots_[slot] - 1) * num_words_)))
            return slots_[slot] - 1;
    }
}

StateSpace explore(const model::Chain& chain) {
    StateSpace space{{}, PackedStates{chain.variables}, {}, {}, {}, {}};
    Faults faults{chain, space.findings};
    const std::size_t num_variables = chain.variables.size();
    std::vector<double> now(num_variables), after(num_variables);
    for (std::size_t i = 0; i < num_variables; ++i) now[i] = static_cast<double>(chain.variables[i].initial);
    space.chain.initial = space.states.find_or_add(now);
    space.rewards.resize(chain.rewards.size());
    space.target.resize(chain.measures.size());
    space.avoid.resize(chain.measures.size());
    const auto most_states = static_cast<std::size_t>(chain.most_states);
    std::vector<std::uint32_t> targets;
    std::vector<double> rates, events(chain.rewards.size());
    std::vector<std::uint8_t> wrong(chain.transitions.size(), 0);
    for (std::size_t state = 0; state < space.states.size(); ++state) {
        space.states.read(state, now);
        targets.clear();
        rates.clear();
        std::fill(events.begin(), events.end(), 0.0);
        for (std::size_t index = 0; index < chain.transitions.size(); ++index) {
            const model::ChainTransition& transition = chain.transitions[index];
            if (transition.clock) {
                if (wrong[index] == 0) faults.add(transition.place, "has a law of its own", "a rate");
                wrong[index] = 1;
            }
            if (wrong[index] != 0 || (transition.guard && transition.guard(now) == 0.0)) continue;
            const double rate = transition.rate(now);
            if (!(rate >= 0.0) || !std::isfinite(rate)) {
                faults.add(transition.rate_place, fmt::format("the rate is {}", rate), "a finite number, 0 or more",
                           &now);
                wrong[index] = 1;
                continue;
            }
            if (rate == 0.0) continue;
            after = now;
            for (const model::ChainUpdate& update : transition.updates) {
                const model::ChainVariable& variable = chain.variables[update.variable];
                const double value = std::round(update.value(now)), raw = update.value(now);
                if (!(std::abs(value - raw) <= 1e-9) || value < static_cast<double>(variable.least) ||
                    value > static_cast<double>(variable.most)) {
                    faults.add(update.place, fmt::format("{} becomes {}", variable.name, raw),
                               fmt::format("an integer from {} to {}, or a guard that excludes the state",
                                           variable.least, variable.most),
                               &now);
                    wrong[index] = 1;
                    break;
                }
                after[update.variable] = value;
            }
            if (wrong[index] != 0) continue;
            targets.push_back(space.states.find_or_add(after));
            rates.push_back(rate);
            for (std::size_t r = 0; r < chain.rewards.size(); ++r)
                if (index < chain.rewards[r].per_event.size() && chain.rewards[r].per_event[index])
                    events[r] += rate * chain.rewards[r].per_event[index](now);
        }
        space.chain.add_state(targets, rates);
        for (std::size_t r = 0; r < chain.rewards.size(); ++r) {
            const double reward = events[r] + (chain.rewards[r].per_time ? chain.rewards[r].per_time(now) : 0.0);
            if (!std::isfinite(reward)) {
                faults.add(chain.rewards[r].place, fmt::format("the reward is {}", reward), "a finite number", &now);
                return space;
            }
            space.rewards[r].push_back(reward);
        }
        for (std::size_t m = 0; m < chain.measures.size(); ++m) {
            const model::ChainMeasure& measure = chain.measures[m];
            if (measure.target) space.target[m].push_back(measure.target(now) != 0.0 ? 1 : 0);
            if (measure.avoid) space.avoid[m].push_back(measure.avoid(now) != 0.0 ? 1 : 0);
        }
        const bool too_many = space.states.size() > most_states;
        if (too_many || static_cast<double>(space.chain.num_transitions()) >
                            most_transitions_per_state * static_cast<double>(most_states)) {
            faults.add(chain.place,
                       fmt::format("more than {} {} can be reached; the last one: {}", chain.most_states,
                                   too_many ? "states" : "transitions over 16", state_text(chain, after)),
                       "tighter bounds or guards, or a larger chain.most_states (about 200 bytes a state)");
            return space;
        }
    }
    return space;
}

}  // namespace windtunnel::avail
