#include "windtunnel/calibrate/least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::calibrate {
namespace {

constexpr std::uint32_t start_purpose = 0x0CA1'0001, resample_purpose = 0x0CA1'0002;
constexpr double difference = 2e-3;

double rho(double residual, double scale) noexcept {
    return scale > 0.0 ? std::sqrt(residual * residual + scale * scale) - scale : 0.5 * residual * residual;
}

double loss_of(const Problem& problem, std::span<const double> residuals) {
    double sum = 0.0;
    for (std::size_t i = 0; i < residuals.size(); ++i) sum += problem.weights[i] * rho(residuals[i], problem.scale);
    return sum;
}

double penalty_of(const Problem& problem, std::span<const double> point) {
    double sum = 0.0;
    for (std::size_t j = 0; j < point.size(); ++j) {
        const double distance = std::log(point[j] / problem.values[j].prior) / problem.values[j].width;
        sum += distance * distance;
    }
    return problem.strength * sum;
}

/// Solves A x = b for a symmetric positive matrix, row by row in `matrix`; false where a pivot is lost.
bool solve_linear(std::vector<double> matrix, std::vector<double>& right) {
    const std::size_t n = right.size();
    for (std::size_t k = 0; k < n; ++k) {
        double pivot = matrix[k * n + k];
        for (std::size_t m = 0; m < k; ++m) pivot -= matrix[k * n + m] * matrix[k * n + m];
        if (!(pivot > 0.0)) return false;
        matrix[k * n + k] = std::sqrt(pivot);
        for (std::size_t i = k + 1; i < n; ++i) {
            double sum = matrix[i * n + k];
            for (std::size_t m = 0; m < k; ++m) sum -= matrix[i * n + m] * matrix[k * n + m];
            matrix[i * n + k] = sum / matrix[k * n + k];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t m = 0; m < i; ++m) right[i] -= matrix[i * n + m] * right[m];
        right[i] /= matrix[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t m = i + 1; m < n; ++m) right[i] -= matrix[m * n + i] * right[m];
        right[i] /= matrix[i * n + i];
    }
    return true;
}

/// Gradient and curvature of the objective in ln x.
struct Slope {
    std::vector<double> gradient, curvature;
};

Slope slope_of(const Problem& problem, std::span<const double> point, std::span<const double> residuals) {
    const std::size_t n = point.size();
    const std::vector<double> jacobian = sensitivities(problem, point, residuals);
    Slope slope{std::vector<double>(n), std::vector<double>(n * n)};
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double r = residuals[i];
        const double weight =
            problem.weights[i] * (problem.scale > 0.0 ? 1.0 / std::sqrt(r * r + problem.scale * problem.scale) : 1.0);
        for (std::size_t j = 0; j < n; ++j) {
            slope.gradient[j] += weight * r * jacobian[i * n + j];
            for (std::size_t k = 0; k <= j; ++k)
                slope.curvature[j * n + k] += weight * jacobian[i * n + j] * jacobian[i * n + k];
        }
    }
    for (std::size_t j = 0; j < n; ++j) {
        const FreeValue& value = problem.values[j];
        const double stiffness = 2.0 * problem.strength / (value.width * value.width);
        slope.gradient[j] += stiffness * std::log(point[j] / value.prior);
        slope.curvature[j * n + j] += stiffness;
    }
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < j; ++k) slope.curvature[k * n + j] = slope.curvature[j * n + k];
    return slope;
}

/// The point after one damped step; values at a bound that the slope pushes outwards stay.
std::vector<double> stepped(const Problem& problem, const std::vector<double>& point, const Slope& slope,
                            double damping) {
    std::vector<std::size_t> moving;
    for (std::size_t j = 0; j < point.size(); ++j) {
        const bool low = point[j] <= problem.values[j].lower && slope.gradient[j] > 0.0;
        const bool high = point[j] >= problem.values[j].upper && slope.gradient[j] < 0.0;
        if (!low && !high) moving.push_back(j);
    }
    const std::size_t n = moving.size(), all = point.size();
    std::vector<double> matrix(n * n), step(n);
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) matrix[a * n + b] = slope.curvature[moving[a] * all + moving[b]];
        matrix[a * n + a] *= 1.0 + damping;
        matrix[a * n + a] += 1e-12;
        step[a] = -slope.gradient[moving[a]];
    }
    std::vector<double> next = point;
    if (!solve_linear(std::move(matrix), step)) return next;
    constexpr double longest = 0.7;  // a factor of two
    for (std::size_t a = 0; a < n; ++a) {
        const FreeValue& value = problem.values[moving[a]];
        next[moving[a]] =
            std::clamp(point[moving[a]] * std::exp(std::clamp(step[a], -longest, longest)), value.lower, value.upper);
    }
    return next;
}

}  // namespace

std::vector<double> sensitivities(const Problem& problem, std::span<const double> point, std::span<const double> base) {
    const std::size_t n = point.size();
    std::vector<double> result(base.size() * n);
    std::vector<double> moved{point.begin(), point.end()};
    for (std::size_t j = 0; j < n; ++j) {
        // Away from the nearer bound.
        const double up = point[j] * std::exp(difference) <= problem.values[j].upper ? difference : -difference;
        moved[j] = point[j] * std::exp(up);
        const std::vector<double> there = problem.residuals(moved);
        moved[j] = point[j];
        for (std::size_t i = 0; i < base.size(); ++i) result[i * n + j] = (there[i] - base[i]) / up;
    }
    return result;
}

Solution solve(const Problem& problem, std::vector<double> point) {
    base::expects(point.size() == problem.values.size(), "a start for each value");
    std::vector<double> residuals = problem.residuals(point);
    base::expects(residuals.size() == problem.weights.size(), "a weight for each row");
    Solution best{point, 0.0, loss_of(problem, residuals)};
    best.objective = best.loss + penalty_of(problem, point);
    double damping = 1e-2;
    constexpr double least_damping = 1e-6, most_damping = 1e6;
    for (int iteration = 0; iteration < problem.max_iterations && !point.empty(); ++iteration) {
        const Slope slope = slope_of(problem, best.values, residuals);
        bool better = false;
        double gain = 0.0;
        while (!better && damping < most_damping) {
            point = stepped(problem, best.values, slope, damping);
            if (point == best.values) break;
            std::vector<double> there = problem.residuals(point);
            const double loss = loss_of(problem, there);
            const double objective = loss + penalty_of(problem, point);
            if (objective < best.objective) {
                better = true;
                gain = best.objective - objective;
                best = {point, objective, loss};
                residuals = std::move(there);
                damping = std::max(least_damping, damping * 0.3);
            } else {
                damping *= 5.0;
            }
        }
        if (!better || gain < 1e-7 * (1.0 + best.objective)) break;
    }
    return best;
}

std::vector<double> start_point(const Problem& problem, std::uint64_t seed, std::uint64_t number) {
    std::vector<double> point;
    base::Draws draws{{seed, start_purpose, number}};
    for (const FreeValue& value : problem.values) {
        const double far = number == 0 ? 0.0 : value.width * base::normal(draws);
        point.push_back(std::clamp(value.prior * std::exp(far), value.lower, value.upper));
    }
    return point;
}

std::vector<double> resampled_weights(std::size_t num_rows, std::uint64_t seed, std::uint64_t number) {
    std::vector<double> weights(num_rows);
    base::Draws draws{{seed, resample_purpose, number}};
    for (std::size_t draw = 0; draw < num_rows; ++draw) {
        const auto row = static_cast<std::size_t>(draws.uniform() * static_cast<double>(num_rows));
        weights[std::min(row, num_rows - 1)] += 1.0;
    }
    return weights;
}

Interval percentile_interval(std::vector<double> values) {
    base::expects(!values.empty(), "an interval needs values");
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    const auto rank = [&](double share) {
        return std::min(values.size() - 1, static_cast<std::size_t>(std::max(0.0, std::ceil(share * count) - 1.0)));
    };
    return {values[rank(0.025)], values[rank(0.975)]};
}

Drift drift_of(std::span<const double> residuals) {
    constexpr double weight = 0.2;
    Drift drift;
    double squares = 0.0, shrink = 1.0;
    for (const double residual : residuals) {
        drift.mean += weight * (residual - drift.mean);
        squares += residual * residual;
        shrink *= (1.0 - weight) * (1.0 - weight);
    }
    if (residuals.empty()) return drift;
    const double variance = squares / static_cast<double>(residuals.size());
    drift.sigma = std::sqrt(variance * weight / (2.0 - weight) * (1.0 - shrink));
    return drift;
}

}  // namespace windtunnel::calibrate
