#include "windtunnel/search/measures.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/errors.hpp"

namespace windtunnel::search {

std::string to_text(Measure measure) {
    switch (measure) {
        case Measure::tokens_per_second:
            return "tokens_per_second";
        case Measure::step_time:
            return "step_time";
        case Measure::cost:
            return "cost";
        case Measure::energy:
            return "energy";
        case Measure::time_to_tokens:
            return "time_to_tokens";
        case Measure::memory:
            return "memory";
        case Measure::cards:
            return "cards";
    }
    return "";
}

std::optional<Measure> measure_of(std::string_view name) {
    for (const Measure measure : {Measure::tokens_per_second, Measure::step_time, Measure::cost, Measure::energy,
                                  Measure::time_to_tokens, Measure::memory, Measure::cards})
        if (to_text(measure) == name) return measure;
    return std::nullopt;
}

Measure measure_of(model::Objective objective) noexcept {
    switch (objective) {
        case model::Objective::tokens_per_second:
            return Measure::tokens_per_second;
        case model::Objective::step_time:
            return Measure::step_time;
        case model::Objective::cost:
            return Measure::cost;
        case model::Objective::energy:
            return Measure::energy;
        case model::Objective::time_to_tokens:
            return Measure::time_to_tokens;
    }
    return Measure::tokens_per_second;
}

double Valuation::tokens_per_second(const model::Layout& layout, Seconds step_time) const noexcept {
    return static_cast<double>(layout.global_batch_size) * tokens_per_sequence / step_time.value();
}

Seconds Valuation::time_to_tokens(const model::Layout& layout, Seconds step_time) const noexcept {
    return step_time * std::ceil(tokens / (static_cast<double>(layout.global_batch_size) * tokens_per_sequence));
}

Watts Valuation::power(const model::Layout& layout) const noexcept {
    return card_power * (pue * layout.cards);
}

Joules Valuation::energy(const model::Layout& layout, Seconds step_time) const noexcept {
    return power(layout) * time_to_tokens(layout, step_time);
}

Usd Valuation::cost(const model::Layout& layout, Seconds step_time) const noexcept {
    const int used_nodes = (layout.cards + cards_per_node - 1) / cards_per_node;
    const UsdPerSecond rate =
        card * static_cast<double>(layout.cards) +
        spare_node * static_cast<double>(reserved_nodes.value_or(std::max(0, cluster_nodes - used_nodes)));
    return rate * time_to_tokens(layout, step_time) + energy_price * energy(layout, step_time);
}

double Valuation::score(Measure measure, const model::Layout& layout, Seconds step_time, Bytes memory) const noexcept {
    switch (measure) {
        case Measure::tokens_per_second:
            return step_time.value() / (static_cast<double>(layout.global_batch_size) * tokens_per_sequence);
        case Measure::step_time:
            return step_time.value();
        case Measure::cost:
            return cost(layout, step_time).value();
        case Measure::energy:
            return energy(layout, step_time).value();
        case Measure::time_to_tokens:
            return time_to_tokens(layout, step_time).value();
        case Measure::memory:
            return memory.value();
        case Measure::cards:
            return layout.cards;
    }
    return 0.0;
}

Valuation valuation_of(const model::Plan& plan) {
    base::expects(plan.training.has_value(), "the plan has a [train] section");
    Valuation valuation;
    valuation.tokens_per_sequence = plan.training->sequence_length;
    valuation.tokens = plan.training->tokens;
    valuation.card = plan.cost.card;
    valuation.spare_node = plan.cost.spare_node;
    valuation.energy_price = plan.cost.energy;
    valuation.card_power = plan.cluster.accelerator.power;
    valuation.pue = plan.cost.pue;
    valuation.cluster_nodes = plan.cluster.num_nodes;
    valuation.reserved_nodes = plan.recovery.spare_nodes;
    valuation.cards_per_node = plan.cluster.cards_per_node();
    return valuation;
}

void check_measure(const model::Plan& plan, Measure measure, const std::string& asked_by) {
    std::vector<base::Finding> findings;
    const auto need = [&](bool there, const char* key, const char* example) {
        if (!there)
            findings.push_back(
                {"", 0, 0, asked_by, to_text(measure) + " needs " + key + ", which is not given", example});
    };
    const bool money = measure == Measure::cost, energy = measure == Measure::energy;
    if (money || energy || measure == Measure::time_to_tokens)
        need(plan.training && plan.training->tokens > 0.0, "train.tokens",
             "for example train.tokens = 1_000_000_000_000");
    if (money) need(plan.cost.card.value() > 0.0, "cost.card_hour", "for example cost.card_hour = \"2 USD/h\"");
    if (energy || (money && plan.cost.energy.value() > 0.0))
        need(plan.cluster.accelerator.power.value() > 0.0, "the accelerator's power", "for example power = \"700 W\"");
    if (!findings.empty()) throw base::InputError{std::move(findings)};
}

}  // namespace windtunnel::search
