#pragma once
/// How probable it is to come to a rare target from the states around the way to it: what biased paths follow.
#include <cstdint>
#include <limits>
#include <vector>

#include "windtunnel/avail/state_table.hpp"

namespace windtunnel::avail {

/// What ends a path towards a target.
struct RareTarget {
    enum class By { target, deviation } by = By::target;
    std::size_t measure = 0;                                ///< whose target and avoided states count
    std::size_t reward = 0;                                 ///< deviation: states whose reward is not that of the start
    double time = std::numeric_limits<double>::infinity();  ///< the target must be reached by then
    bool cycle = false;                                     ///< a return to the start ends the path

    /// 1: there; 2: ended without; 0: neither. The state is known; `away`: the start has been left.
    [[nodiscard]] int mark(const StateTable& table, std::uint32_t state, bool away) const noexcept;
};

/// Estimates of the probability to reach the target.
///
/// Model:   The states that paths from the start come to, most probable path first, until paths are 10^4 times less
///          probable than the first one to the target. A jump has the probability rate / (exit rate or 1/time, the
///          larger one). value(s) = sum over jumps of probability x value of where it leads, 1 in the target, 0 at the
///          start (a new attempt) and in states outside; steps_left(s): jumps on the most probable way from s.
/// Limits:  20,000 states. Estimates guide paths; what the paths say is without bias whatever these are.
/// Source:  Reijsbergen, de Boer, Scheinhardt, Juneja, Path-ZVA, ACM TOMACS 28(3), 2018; L'Ecuyer and Tuffin,
///          Annals of Operations Research 189, 2011.
class Guide {
public:
    Guide(StateTable& table, const RareTarget& target);

    /// 0: outside, or no way is known.
    [[nodiscard]] double value(std::uint32_t state) const noexcept {
        return state < value_.size() ? value_[state] : 0.0;
    }
    /// Probability to end without success before the start is seen again.
    [[nodiscard]] double failure(std::uint32_t state) const noexcept {
        return state < failure_.size() ? failure_[state] : 0.0;
    }
    /// Of the start: one attempt; and as many as it takes until the path ends.
    [[nodiscard]] double attempt() const noexcept { return attempt_; }
    [[nodiscard]] double in_the_end() const noexcept { return in_the_end_; }
    [[nodiscard]] std::uint32_t steps_left(std::uint32_t state) const noexcept {
        return state < steps_.size() ? steps_[state] : most_steps;
    }
    static constexpr std::uint32_t most_steps = 0xFFFF'FFFF;

private:
    void explore(StateTable& table, const RareTarget& target);
    void count_steps(const StateTable& table);
    /// Probability to come to the marked states without passing the start, by state; the start: after leaving it.
    void estimate(const StateTable& table, std::uint8_t mark, std::vector<double>& value) const;
    [[nodiscard]] double probability(const StateTable::Row& row, double rate) const noexcept;

    double time_;
    std::vector<std::uint32_t> found_;  ///< states looked at, most probable first
    std::vector<std::uint8_t> mark_;    ///< by state: 0 outside, 1 inside, 2 target, 3 ended without
    std::vector<double> value_, failure_;
    std::vector<std::uint32_t> steps_;
    double attempt_ = 0.0, in_the_end_ = 0.0;
};

}  // namespace windtunnel::avail
