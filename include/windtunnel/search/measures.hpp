#pragma once
/// What designs are compared by. Every measure of a design follows from its layout, its step time and its memory.
#include <optional>
#include <string>
#include <string_view>

#include "windtunnel/model/plan.hpp"

namespace windtunnel::search {

enum class Measure { tokens_per_second, step_time, cost, energy, time_to_tokens, memory, cards };
[[nodiscard]] std::string to_text(Measure measure);
[[nodiscard]] std::optional<Measure> measure_of(std::string_view name);
[[nodiscard]] Measure measure_of(model::Objective objective) noexcept;

/// Prices and sizes that turn a step time into money, energy and time.
struct Valuation {
    double tokens_per_sequence = 0.0;
    double tokens = 0.0;  ///< of the whole run; 0: not given
    UsdPerSecond card;
    UsdPerSecond spare_node;
    UsdPerJoule energy_price;
    Watts card_power;
    double pue = 1.0;
    int cluster_nodes = 0;              ///< that a job may use
    std::optional<int> reserved_nodes;  ///< spares by the plan; empty: what the layout leaves over
    int cards_per_node = 1;

    [[nodiscard]] double tokens_per_second(const model::Layout& layout, Seconds step_time) const noexcept;
    /// Whole steps that cover the tokens of the run, times the step time.
    [[nodiscard]] Seconds time_to_tokens(const model::Layout& layout, Seconds step_time) const noexcept;
    /// Cards at board power, with the building's overhead, over the run.
    [[nodiscard]] Joules energy(const model::Layout& layout, Seconds step_time) const noexcept;
    /// Cards of the job, spare nodes of the cluster, and energy, over the run.
    [[nodiscard]] Usd cost(const model::Layout& layout, Seconds step_time) const noexcept;
    [[nodiscard]] Watts power(const model::Layout& layout) const noexcept;
    /// The measure so that less is better: seconds per token for tokens_per_second, else the value itself.
    [[nodiscard]] double score(Measure measure, const model::Layout& layout, Seconds step_time,
                               Bytes memory) const noexcept;
};
/// Expects plan.training.
[[nodiscard]] Valuation valuation_of(const model::Plan& plan);

/// Throws base::InputError when the plan lacks what the measure needs (`asked_by`: the key that names it).
void check_measure(const model::Plan& plan, Measure measure, const std::string& asked_by);

}  // namespace windtunnel::search
