#include "windtunnel/serve/trace_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "windtunnel/base/incomplete_gamma.hpp"
#include "windtunnel/serve/load.hpp"

namespace windtunnel::serve {
namespace {

using Distribution = std::function<double(double)>;

double normal_below(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// Logarithmic derivative of the gamma function. Source: Abramowitz and Stegun, 6.3.5 and 6.3.18.
double digamma(double x) {
    double sum = 0.0;
    for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
    const double square = 1.0 / (x * x);
    return sum + std::log(x) - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
}

/// Shape of the gamma law with this log(mean) - mean of logarithms, by bisection.
double gamma_shape(double gap) {
    double low = 1e-3, high = 1e6;
    for (int i = 0; i < 100; ++i) {
        const double middle = std::sqrt(low * high);
        (std::log(middle) - digamma(middle) > gap ? low : high) = middle;
    }
    return std::sqrt(low * high);
}

/// Largest distance to the distribution function; a value stands for all within `half` around it.
double distance(const Histogram& histogram, const Distribution& below, double half) {
    double most = 0.0;
    std::uint64_t seen = 0;
    const auto count = static_cast<double>(histogram.count());
    histogram.visit([&](double value, std::uint64_t times) {
        const double before = static_cast<double>(seen) / count;
        seen += times;
        const double after = static_cast<double>(seen) / count;
        const double low = below(std::max(0.0, value - half)), high = below(value + half);
        most = std::max({most, std::abs(before - low), std::abs(after - high)});
    });
    return most;
}

Distribution weibull_below(double shape, double scale) {
    return [=](double x) { return -std::expm1(-std::pow(x / scale, shape)); };
}

void sort_by_distance(std::vector<FittedLaw>& laws) {
    std::stable_sort(laws.begin(), laws.end(),
                     [](const FittedLaw& a, const FittedLaw& b) { return a.distance < b.distance; });
}

std::vector<FittedLaw> fit_gaps(const base::Moments& gaps, const Histogram& histogram) {
    std::vector<FittedLaw> laws;
    const double mean = gaps.mean;
    if (gaps.count < 2 || !(mean > 0.0)) return laws;
    const double variation = std::max(1e-3, gaps.standard_deviation() / mean);
    laws.push_back({"poisson", mean, 1.0, 1.0,
                    distance(
                        histogram, [=](double x) { return -std::expm1(-x / mean); }, 0.0)});
    const double shape = 1.0 / (variation * variation), scale = mean / shape;
    laws.push_back({"gamma", mean, variation, shape,
                    distance(
                        histogram, [=](double x) { return base::gamma_p(shape, x / scale); }, 0.0)});
    const double bend = weibull_shape(variation);
    laws.push_back({"weibull", mean, variation, bend,
                    distance(histogram, weibull_below(bend, mean / std::tgamma(1.0 + 1.0 / bend)), 0.0)});
    sort_by_distance(laws);
    return laws;
}

std::vector<FittedLaw> fit_lengths(const base::Moments& plain, const base::Moments& logarithm,
                                   const Histogram& histogram) {
    std::vector<FittedLaw> laws;
    if (plain.count == 0) return laws;
    const double deviation = logarithm.standard_deviation();
    if (!(deviation > 1e-9)) {
        laws.push_back({"fixed", plain.mean, 0.0, 1.0, 0.0});
        return laws;
    }
    constexpr double half = 0.5;
    const double middle = logarithm.mean;
    laws.push_back(
        {"lognormal", std::exp(middle + 0.5 * deviation * deviation), std::sqrt(std::expm1(deviation * deviation)), 1.0,
         distance(
             histogram, [=](double x) { return x <= 0.0 ? 0.0 : normal_below((std::log(x) - middle) / deviation); },
             half)});
    const double shape = gamma_shape(std::max(1e-9, std::log(plain.mean) - middle)), scale = plain.mean / shape;
    laws.push_back({"gamma", plain.mean, 1.0 / std::sqrt(shape), shape,
                    distance(
                        histogram, [=](double x) { return base::gamma_p(shape, x / scale); }, half)});
    // The logarithm of a Weibull variate has variance pi^2 / (6 shape^2) and mean log(scale) - 0.5772 / shape.
    const double bend = std::numbers::pi / (std::sqrt(6.0) * deviation);
    const double wide = std::exp(middle + std::numbers::egamma / bend);
    const double mean = wide * std::tgamma(1.0 + 1.0 / bend);
    const double second = wide * wide * std::tgamma(1.0 + 2.0 / bend);
    laws.push_back({"weibull", mean, std::sqrt(std::max(0.0, second / (mean * mean) - 1.0)), bend,
                    distance(histogram, weibull_below(bend, wide), half)});
    sort_by_distance(laws);
    return laws;
}

}  // namespace

double TraceFit::correlation() const noexcept {
    const double spread = input.standard_deviation() * output.standard_deviation();
    return spread > 0.0 ? (mean_of_products - input.mean * output.mean) / spread : 0.0;
}

void TraceStatistics::Lengths::add(double tokens) {
    plain.add(tokens);
    logarithm.add(std::log(tokens));
    histogram.add(tokens);
}

void TraceStatistics::add(const model::TraceRow& row) {
    if (input_.plain.count > 0) {
        gaps_.add(row.arrival_s - last_s_);
        gap_histogram_.add(row.arrival_s - last_s_);
    }
    last_s_ = row.arrival_s;
    input_.add(row.input_tokens);
    output_.add(row.output_tokens);
    products_.add(static_cast<double>(row.input_tokens) * row.output_tokens);
}

TraceFit TraceStatistics::fit() const {
    TraceFit fit;
    fit.rows = static_cast<std::int64_t>(input_.plain.count);
    fit.span_s = last_s_;
    fit.gaps_s = gaps_;
    fit.input = input_.plain;
    fit.output = output_.plain;
    fit.mean_of_products = products_.mean;
    fit.arrivals = fit_gaps(gaps_, gap_histogram_);
    fit.inputs = fit_lengths(input_.plain, input_.logarithm, input_.histogram);
    fit.outputs = fit_lengths(output_.plain, output_.logarithm, output_.histogram);
    constexpr double one_in_twenty = 1.358;
    fit.critical = fit.rows > 0 ? one_in_twenty / std::sqrt(static_cast<double>(fit.rows)) : 0.0;
    return fit;
}

}  // namespace windtunnel::serve
