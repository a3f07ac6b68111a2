#pragma once
/// A Markov chain in continuous time with few transitions per state.
#include <cstdint>
#include <span>
#include <vector>

namespace windtunnel::avail {

/// Transitions by state of origin; rates per unit of time, > 0; no transition from a state to itself, none twice.
struct SparseChain {
    std::vector<std::uint64_t> first{0};  ///< transitions of state s: first[s] .. first[s + 1]
    std::vector<std::uint32_t> target;
    std::vector<double> rate;
    std::uint32_t initial = 0;

    [[nodiscard]] std::size_t num_states() const noexcept { return first.size() - 1; }
    [[nodiscard]] std::size_t num_transitions() const noexcept { return target.size(); }
    /// Sum of the rates out of a state.
    [[nodiscard]] double exit_rate(std::size_t state) const noexcept;
    /// Adds a state with its transitions; equal targets are summed, those to the state itself dropped.
    void add_state(std::span<const std::uint32_t> targets, std::span<const double> rates);
};

/// The same transitions by state of destination.
struct Incoming {
    std::vector<std::uint64_t> first;
    std::vector<std::uint32_t> source;
    std::vector<double> rate;
};
[[nodiscard]] Incoming incoming(const SparseChain& chain);

/// Which states can be left for good and which cannot.
///
/// Model:   strongly connected components of the graph of transitions; a component that nothing leaves is closed.
/// Source:  Tarjan, SIAM Journal on Computing 1(2), 1972.
struct Classes {
    std::vector<std::uint32_t> of;  ///< closed class of each state; `transient` for the others
    std::uint32_t num_closed = 0;
    std::vector<std::uint32_t> sizes;  ///< of the closed classes
    static constexpr std::uint32_t transient = 0xFFFF'FFFF;
};
[[nodiscard]] Classes closed_classes(const SparseChain& chain);

}  // namespace windtunnel::avail
