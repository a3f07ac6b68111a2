#pragma once
/// Steady state of a small Markov chain in continuous time.
#include <cstddef>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::avail {

/// Transition rates, dense, row by row; the diagonal is not used.
class Generator {
public:
    explicit Generator(std::size_t num_states) : num_states_{num_states}, rates_(num_states * num_states) {}
    [[nodiscard]] std::size_t num_states() const noexcept { return num_states_; }
    [[nodiscard]] PerSecond& rate(std::size_t from, std::size_t to) noexcept { return rates_[from * num_states_ + to]; }
    [[nodiscard]] PerSecond rate(std::size_t from, std::size_t to) const noexcept {
        return rates_[from * num_states_ + to];
    }

private:
    std::size_t num_states_;
    std::vector<PerSecond> rates_;
};

/// Long-run share of time in each state.
///
/// Model:   state reduction without subtractions, so each entry keeps its relative accuracy, however rare the state.
/// Inputs:  rates >= 0; every state reaches every other (otherwise some share is not a number).
/// Returns: shares that sum to 1.
/// Limits:  num_states^3 operations.
/// Source:  Grassmann, Taksar, Heyman, Operations Research 33(5), 1985.
[[nodiscard]] std::vector<double> steady_state(const Generator& generator);

}  // namespace windtunnel::avail
