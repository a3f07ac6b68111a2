#pragma once
/// What the ranges of constants do to a value: shares of its variance, and elementary effects.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace windtunnel::avail {

/// A value at a point of the ranges; empty: it cannot be computed there.
using RangedFunction = std::function<std::optional<double>(std::span<const double> point)>;

struct Box {
    std::vector<double> least, most;
    [[nodiscard]] std::size_t size() const noexcept { return least.size(); }
};

struct VarianceShares {
    double mean = 0.0, variance = 0.0;
    std::vector<double> first_order;   ///< Var(E(f | x_i)) / Var(f)
    std::vector<double> total_effect;  ///< E(Var(f | all but x_i)) / Var(f)
    double error = 0.0;                ///< estimated, of the shares
    std::string method;
    std::string problem;
};

/// Independent, uniform inputs.
///
/// Model:   up to 4 inputs: Gauss-Legendre points in each direction, doubled until the shares agree to 1e-11 or the
///          grid has `most_points`; the sums over the grid are the decomposition of the polynomial that meets it.
///          More inputs, or no agreement: quasi-random points (Halton), first order by Saltelli's and total by Jansen's
///          estimator, error from the two halves.
/// Limits:  (inputs + 2) x samples values for the second way.
/// Source:  Sobol, Mathematics and Computers in Simulation 55, 2001; Saltelli et al., Comput. Phys. Commun. 181, 2010;
///          Jansen, Comput. Phys. Commun. 117, 1999.
[[nodiscard]] VarianceShares variance_shares(const RangedFunction& f, const Box& box, std::int64_t samples,
                                             double most_points = 4e5);

/// The second way alone.
[[nodiscard]] VarianceShares sampled_shares(const RangedFunction& f, const Box& box, std::int64_t samples);

struct ElementaryEffects {
    std::vector<double> mean_absolute;  ///< of the change over the whole range of one input
    std::vector<double> spread;         ///< standard deviation of the change
    std::string problem;
};

/// Model:   r trajectories on a grid of four levels; each moves every input once, by 2/3 of its range, in an order of
///          its own; the change is scaled to the whole range.
/// Source:  Morris, Technometrics 33(2), 1991; Campolongo et al., Environ. Modelling and Software 22, 2007.
[[nodiscard]] ElementaryEffects elementary_effects(const RangedFunction& f, const Box& box, std::int64_t trajectories,
                                                   std::uint64_t seed = 1);

}  // namespace windtunnel::avail
