#include "windtunnel/compute/log_space_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::compute {
namespace {

constexpr double moved_by = 32.0;  ///< a coordinate with zeros, before its logarithm
constexpr double rough_part_of_scale = 0.25;

/// Lower Cholesky factor of a symmetric positive definite matrix, in place.
void factorise(std::vector<double>& matrix, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        double* row = &matrix[i * n];
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = &matrix[j * n];
            double sum = row[j];
            for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
            row[j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / other[j];
        }
    }
}

/// L^-1, row by row, lower.
std::vector<double> inverse_of_lower(const std::vector<double>& lower, std::size_t n) {
    std::vector<double> inverse(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        double* row = &inverse[i * n];
        for (std::size_t k = 0; k < i; ++k) {
            const double factor = lower[i * n + k];
            const double* other = &inverse[k * n];
            for (std::size_t j = 0; j <= k; ++j) row[j] -= factor * other[j];
        }
        for (std::size_t j = 0; j < i; ++j) row[j] /= lower[i * n + i];
        row[i] = 1.0 / lower[i * n + i];
    }
    return inverse;
}

}  // namespace

std::vector<double> fit_terms(std::span<const MeasuredPoint> points, int skip, std::span<const double> start) {
    constexpr int most_rounds = 400;
    const std::size_t width = points.empty() ? 0 : points.front().terms.size();
    std::vector<double> scale(width, 0.0), gram(width * width, 0.0), right(width, 0.0);
    for (std::size_t p = 0; p < points.size(); ++p) {
        if (static_cast<int>(p) == skip) continue;
        for (std::size_t i = 0; i < width; ++i) {
            const double a = points[p].terms[i] / points[p].seconds;
            right[i] += a;
            for (std::size_t j = 0; j <= i; ++j) gram[i * width + j] += a * points[p].terms[j] / points[p].seconds;
        }
    }
    for (std::size_t i = 0; i < width; ++i) scale[i] = gram[i * width + i] > 0.0 ? std::sqrt(gram[i * width + i]) : 0.0;
    const auto correlation = [&](std::size_t i, std::size_t j) {
        const double g = i >= j ? gram[i * width + j] : gram[j * width + i];
        return g / (scale[i] * scale[j]);
    };
    std::vector<double> scaled(width, 0.0);
    for (std::size_t i = 0; i < width && i < start.size(); ++i) scaled[i] = start[i] * scale[i];
    for (int round = 0; round < most_rounds; ++round) {
        double change = 0.0, size = 0.0;
        for (std::size_t i = 0; i < width; ++i) {
            if (!(scale[i] > 0.0)) continue;
            double slope = right[i] / scale[i];
            for (std::size_t j = 0; j < width; ++j)
                if (scale[j] > 0.0) slope -= correlation(i, j) * scaled[j];
            const double moved = std::max(0.0, scaled[i] + slope);
            change = std::max(change, std::abs(moved - scaled[i]));
            size = std::max(size, moved);
            scaled[i] = moved;
        }
        if (change <= 1e-9 * size) break;
    }
    for (std::size_t i = 0; i < width; ++i) scaled[i] = scale[i] > 0.0 ? scaled[i] / scale[i] : 0.0;
    return scaled;
}

LogSpaceModel::LogSpaceModel(std::vector<MeasuredPoint> points, LogSpaceSettings settings)
    : points_{std::move(points)}, settings_{std::move(settings)} {
    base::expects(!points_.empty(), "a model of measured times has at least one");
    width_ = points_.front().at.size();
    settings_.scales.resize(width_, 3.0);
    offsets_.assign(width_, 0.0);
    least_.assign(width_, std::numeric_limits<double>::infinity());
    greatest_.assign(width_, -std::numeric_limits<double>::infinity());
    least_time_ = std::numeric_limits<double>::infinity();
    for (const MeasuredPoint& point : points_) {
        base::expects(
            point.at.size() == width_ && point.terms.size() == points_.front().terms.size() && point.seconds > 0.0,
            "points have equally many coordinates and a time");
        least_time_ = std::min(least_time_, point.seconds);
        for (std::size_t c = 0; c < width_; ++c) {
            least_[c] = std::min(least_[c], point.at[c]);
            greatest_[c] = std::max(greatest_[c], point.at[c]);
            if (!(point.at[c] > 0.0)) offsets_[c] = moved_by;
        }
    }
    factors_ = fit_terms(points_, -1, {});
    const std::size_t n = points_.size();
    coordinates_.reserve(n * width_);
    for (const MeasuredPoint& point : points_)
        for (const double x : coordinates(point.at)) coordinates_.push_back(x);
    lower_.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j)
            lower_[i * n + j] = likeness(&coordinates_[i * width_], &coordinates_[j * width_]);
        lower_[i * n + i] = 1.0 + settings_.noise;
    }
    factorise(lower_, n);
    weights_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {  // L u = deviations
        double sum = std::log(points_[i].seconds) - log_trend(factors_, points_[i].terms);
        for (std::size_t j = 0; j < i; ++j) sum -= lower_[i * n + j] * weights_[j];
        weights_[i] = sum / lower_[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {  // L^T w = u
        double sum = weights_[i];
        for (std::size_t j = i + 1; j < n; ++j) sum -= lower_[j * n + i] * weights_[j];
        weights_[i] = sum / lower_[i * n + i];
    }
}

std::vector<double> LogSpaceModel::coordinates(std::span<const double> at) const {
    std::vector<double> scaled(width_);
    for (std::size_t c = 0; c < width_; ++c)
        scaled[c] = std::log2(std::max(at[c] + offsets_[c], 1e-12)) / settings_.scales[c];
    return scaled;
}

double LogSpaceModel::likeness(const double* x, const double* y) const {
    double square = 0.0;
    for (std::size_t c = 0; c < width_; ++c) square += (x[c] - y[c]) * (x[c] - y[c]);
    const double distance = std::sqrt(square), root_three = std::sqrt(3.0) * distance;
    const double smooth = (1.0 + root_three) * std::exp(-root_three);
    if (!(settings_.roughness > 0.0)) return smooth;
    return (1.0 - settings_.roughness) * smooth + settings_.roughness * std::exp(-distance / rough_part_of_scale);
}

double LogSpaceModel::log_trend(std::span<const double> factors, std::span<const double> terms) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < factors.size(); ++i) sum += factors[i] * terms[i];
    return std::log(std::max(sum, 1e-3 * least_time_));
}

Seconds LogSpaceModel::trend(std::span<const double> terms) const {
    return Seconds{std::exp(log_trend(factors_, terms))};
}

Seconds LogSpaceModel::time(std::span<const double> at, std::span<const double> terms) const {
    const std::vector<double> x = coordinates(at);
    double deviation = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i)
        deviation += weights_[i] * likeness(x.data(), &coordinates_[i * width_]);
    return Seconds{std::exp(log_trend(factors_, terms) + deviation)};
}

bool LogSpaceModel::covers(std::span<const double> at) const {
    for (std::size_t c = 0; c < width_; ++c)
        if (at[c] < least_[c] || at[c] > greatest_[c]) return false;
    return true;
}

std::vector<Seconds> LogSpaceModel::left_out() const {
    const std::size_t n = points_.size();
    std::vector<Seconds> times(n);
    const std::vector<double> inverse = inverse_of_lower(lower_, n);
    std::vector<double> row(n), deviation(n);
    for (std::size_t i = 0; i < n; ++i) {
        // Row i of covariance^-1 = L^-T L^-1: sum over k >= max(i, j) of inverse(k, i) inverse(k, j).
        std::fill(row.begin(), row.end(), 0.0);
        for (std::size_t k = i; k < n; ++k) {
            const double factor = inverse[k * n + i];
            const double* other = &inverse[k * n];
            for (std::size_t j = 0; j <= k; ++j) row[j] += factor * other[j];
        }
        const std::vector<double> factors = fit_terms(points_, static_cast<int>(i), factors_);
        double sum = 0.0;  // of the others: the point's own deviation cancels
        for (std::size_t j = 0; j < n; ++j) {
            if (j == i) continue;
            sum += row[j] * (std::log(points_[j].seconds) - log_trend(factors, points_[j].terms));
        }
        times[i] = Seconds{std::exp(log_trend(factors, points_[i].terms) - sum / row[i])};
    }
    return times;
}

}  // namespace windtunnel::compute
