#pragma once
/// Rare targets of a chain: biased paths with weights, and paths that split on their way.
#include <cstdint>
#include <optional>

#include "windtunnel/avail/guide.hpp"
#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// One estimate of what the measure needs of its target, without bias.
struct RareValue {
    double value = 0.0;
    double ratio = 0.0;    ///< importance sampling: likelihood ratio of the whole path
    bool complete = true;  ///< false: given up
    std::uint64_t events = 0;
};

/// What is rare in a measure, and how its paths are drawn.
///
/// Model:   probability: that the target is reached. mean_time: that it is reached in a cycle, a path from the start
///          back to it; the measure is the mean length of cycles that end at the target over that. steady_state and
///          frequency: what a cycle collects in states whose reward is not that of the start, and entries; the measure
///          is that over the mean length of cycles.
///          Importance sampling: a jump is chosen with probability proportional to its own times the guide's value of
///          where it leads, with one part in twenty as it is; where the guide knows nothing, rare jumps together get
///          one half, in equal parts (balanced failure biasing). With a time, each jump is forced before it. Behind the
///          target paths go on unbiased.
///          Splitting: the fewest jumps left on the most probable way are the level. From each level a fixed number of
///          paths starts in states where it was entered; the product of the shares that enter the next one.
/// Inputs:  a chain without clocks.
/// Source:  Shahabuddin, Management Science 40(3), 1994; Goyal et al., IEEE Transactions on Computers 41(1), 1992;
///          Garvels, The Splitting Method in Rare Event Simulation, 2000 (fixed effort).
class RareSampler {
public:
    /// Empty for measures that have no rare target of their own.
    [[nodiscard]] static std::optional<RareSampler> of(StateTable& table, std::size_t measure);

    /// Rough probability of the target, of one attempt or by the time; 0: no way is known.
    [[nodiscard]] double estimate(const StateTable& table) const;
    [[nodiscard]] RareValue importance(StateTable& table, const base::RandomStream& stream) const;
    [[nodiscard]] RareValue splitting(StateTable& table, const base::RandomStream& stream) const;
    /// Length of a cycle of its own; for mean_time until the target. Infinite: it did not end.
    [[nodiscard]] double cycle_time(StateTable& table, const base::RandomStream& stream) const;
    [[nodiscard]] bool needs_cycles() const noexcept { return target_.cycle; }
    [[nodiscard]] model::MeasureKind kind() const noexcept { return kind_; }

private:
    RareSampler(StateTable& table, const RareTarget& target, model::MeasureKind kind)
        : target_{target}, kind_{kind}, guide_{table, target} {}

    /// Value of being in a state with so much time left.
    [[nodiscard]] double promise(const StateTable& table, std::uint32_t state, double left) const noexcept;
    /// What a path collects from the target back to the start; `word` by word from `words`.
    template <class Words>
    [[nodiscard]] double behind_target(StateTable& table, Words& words, std::uint32_t state, RareValue& result) const;

    RareTarget target_;
    model::MeasureKind kind_;
    Guide guide_;
};

}  // namespace windtunnel::avail
