#pragma once
/// Weighted least squares on logarithms, in a box, with priors.
///
/// Model:   minimises  sum_i w_i rho(r_i(x)) + strength sum_j (ln(x_j / prior_j) / width_j)^2,  r = ln(predicted /
///          measured). rho(r) = sqrt(r^2 + s^2) - s, so that one bad row pulls like its distance; s = 0: r^2 / 2.
/// Inputs:  every x_j > 0, so that signs are kept; bounds. Returns: a point in the box, never worse than the start.
/// Limits:  a local minimum: start from several points. Derivatives by differences, 0.2 % of a value.
/// Source:  Levenberg, 1944; Marquardt, 1963; weights by iteration: Holland and Welsch, 1977; the box by projection:
///          Bertsekas, 1982.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace windtunnel::calibrate {

struct FreeValue {
    double prior = 1.0;
    double lower = 0.0, upper = 0.0;  ///< 0 < lower <= prior <= upper
    double width = 1.0;               ///< standard deviation of ln(value / prior)
};

struct Problem {
    std::vector<FreeValue> values;
    /// r_i of every row at a point.
    std::function<std::vector<double>(std::span<const double>)> residuals;
    std::vector<double> weights;  ///< >= 0, one a row
    double scale = 0.01;          ///< s
    double strength = 0.02;       ///< of the priors
    int max_iterations = 40;
};

struct Solution {
    std::vector<double> values;
    double objective = 0.0;  ///< with the priors
    double loss = 0.0;       ///< without them
};

[[nodiscard]] Solution solve(const Problem& problem, std::vector<double> start);

/// d r_i / d ln x_j at a point, row by row; `base`: the residuals there.
[[nodiscard]] std::vector<double> sensitivities(const Problem& problem, std::span<const double> point,
                                                std::span<const double> base);

/// A random point: each value its prior times exp(width x normal), in the box. Start 0 is the prior itself.
[[nodiscard]] std::vector<double> start_point(const Problem& problem, std::uint64_t seed, std::uint64_t number);

/// How often each of n rows stands in the resample of that number: n draws with replacement.
/// Source: Efron, The Annals of Statistics 7(1), 1979.
[[nodiscard]] std::vector<double> resampled_weights(std::size_t num_rows, std::uint64_t seed, std::uint64_t number);

/// Smallest and largest of the values that hold 95 % between them, by nearest rank; `values` is not empty.
struct Interval {
    double low = 0.0, high = 0.0;
};
[[nodiscard]] Interval percentile_interval(std::vector<double> values);

/// Exponentially weighted mean of residuals in order, and its standard deviation if they were independent about 0.
/// Source: Roberts, Technometrics 1(3), 1959, weight 0.2.
struct Drift {
    double mean = 0.0, sigma = 0.0;
    [[nodiscard]] bool is_large() const noexcept { return mean > 3.0 * sigma || mean < -3.0 * sigma; }
};
[[nodiscard]] Drift drift_of(std::span<const double> residuals);

}  // namespace windtunnel::calibrate
