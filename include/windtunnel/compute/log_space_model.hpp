#pragma once
/// Times between measured ones: a trend of known terms, and what deviates from it, alike among neighbours in log space.
#include <span>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::compute {

/// One measured point.
struct MeasuredPoint {
    std::vector<double> at;     ///< coordinates, any unit, > 0 except where an offset is given
    std::vector<double> terms;  ///< value of each cost term, >= 0
    double seconds = 0.0;       ///< > 0
};

struct LogSpaceSettings {
    std::vector<double> scales;  ///< doublings of each coordinate over which deviations stay alike, > 0
    double noise = 1e-3;         ///< part of the deviation that is a point's own, relative to its variance, > 0
    double roughness = 0.0;      ///< part that is alike over a quarter of the scales only, [0, 1)
};

/// Model:   log time = log(sum of c_i x term_i) + deviation. c_i >= 0 minimise the squared relative error. Deviations
///          are a Gaussian process of the logarithms of the coordinates: Matern 3/2 in the distance in units of the
///          scales (an exponential of a quarter of them for the rough part) and independent noise. A coordinate that is
///          somewhere 0 is moved by 32 before its logarithm is taken. Far from all points the deviation fades and the
///          trend is left: traffic and work at the rates that the points show, and a start-up.
/// Inputs:  >= 1 point, all with equally many coordinates and terms.
/// Returns: time(at, terms) > 0. `covers` says whether `at` lies between the least and the greatest measured value of
///          every coordinate. `left_out()` gives for each point what the others say about it, trend included.
/// Limits:  O(n^3) once, O(n) a time; n up to about two thousand points.
/// Source:  Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, eq. 2.25, 4.17, 5.12 (left out);
///          non-negative least squares by coordinate descent: Franc et al., CAIP 2005.
class LogSpaceModel {
public:
    LogSpaceModel(std::vector<MeasuredPoint> points, LogSpaceSettings settings);

    [[nodiscard]] Seconds time(std::span<const double> at, std::span<const double> terms) const;
    [[nodiscard]] Seconds trend(std::span<const double> terms) const;
    [[nodiscard]] bool covers(std::span<const double> at) const;
    [[nodiscard]] std::vector<Seconds> left_out() const;
    [[nodiscard]] std::span<const double> factors() const noexcept { return factors_; }
    [[nodiscard]] std::size_t num_points() const noexcept { return points_.size(); }

private:
    [[nodiscard]] std::vector<double> coordinates(std::span<const double> at) const;
    [[nodiscard]] double likeness(const double* x, const double* y) const;
    [[nodiscard]] double log_trend(std::span<const double> factors, std::span<const double> terms) const;

    std::vector<MeasuredPoint> points_;
    LogSpaceSettings settings_;
    std::size_t width_ = 0;
    std::vector<double> offsets_, least_, greatest_;
    std::vector<double> coordinates_;  ///< of all points, row by row, in units of the scales
    double least_time_ = 0.0;
    std::vector<double> factors_;
    std::vector<double> lower_;    ///< Cholesky factor of the covariance, row by row
    std::vector<double> weights_;  ///< covariance^-1 x deviations
};

/// Factors >= 0 of the terms with the least sum of squares of (sum / time - 1). `skip` (or -1): a point left out;
/// `start`: where the search begins.
[[nodiscard]] std::vector<double> fit_terms(std::span<const MeasuredPoint> points, int skip,
                                            std::span<const double> start);

}  // namespace windtunnel::compute
