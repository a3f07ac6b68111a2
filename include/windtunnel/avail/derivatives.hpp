#pragma once
/// How the long run of a chain changes with a constant of its file.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"

namespace windtunnel::avail {

/// d/dx of a value from the values at x - 2h, x - h, x + h, x + 2h: exact for polynomials up to degree 4.
/// Source: any text on numerical differentiation.
[[nodiscard]] double five_point(double minus2, double minus1, double plus1, double plus2, double h) noexcept;

/// h that five_point takes at x.
[[nodiscard]] double difference_step(double x) noexcept;

/// The solution of Q h = g - r, h[0] = 0: what a start in a state gains over the long run.
/// Model:   elimination with pivots up to 1,200 states, beyond it sweeps until no entry moves by more than 1e-12 of the
///          largest; empty where they do not get there.
/// Source:  Puterman, Markov Decision Processes, 1994, chapter 8 (bias of a chain with rewards).
[[nodiscard]] std::optional<std::vector<double>> bias(const SparseChain& chain, const std::vector<double>& reward,
                                                      double long_run_reward);

/// Derivatives of one steady-state reward by many constants from one solution of the adjoint equations.
///
/// Model:   g = pi r; dg = pi (dr + dQ h). dQ and dr by five_point of each rate and reward at its own state.
/// Limits:  a change of the constant must leave the states and transitions as they are: empty otherwise.
/// Source:  Trivedi and Bobbio 2017, section 9.6 (sensitivity of Markov chains).
class LongRunDerivatives {
public:
    LongRunDerivatives(const model::Chain& chain, std::size_t measure);
    [[nodiscard]] bool ready() const noexcept { return bias_.has_value(); }
    [[nodiscard]] double value() const noexcept { return value_; }
    [[nodiscard]] std::optional<double> by(std::size_t constant) const;

private:
    const model::Chain& chain_;
    std::size_t reward_;
    StateSpace space_;
    std::vector<double> share_;
    std::optional<std::vector<double>> bias_;
    double value_ = 0.0;
};

}  // namespace windtunnel::avail
