#pragma once
/// Distribution functions and test statistics for the tests of random variates.
#include <algorithm>
#include <cmath>
#include <vector>

namespace windtunnel::test {

/// Standard normal distribution function.
inline double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Regularised lower incomplete gamma function: distribution function of gamma(shape, 1).
/// Series below shape + 1, else the continued fraction in Lentz's form (any text on numerical analysis).
inline double gamma_cdf(double shape, double x) {
    if (x <= 0.0) return 0.0;
    const double front = std::exp(shape * std::log(x) - x - std::lgamma(shape));
    if (x < shape + 1.0) {
        double term = 1.0 / shape, sum = term;
        for (double a = shape + 1.0; term > sum * 1e-16; a += 1.0) sum += term *= x / a;
        return front * sum;
    }
    double b = x + 1.0 - shape, c = 1e300, d = 1.0 / b, fraction = d;
    for (int i = 1; i < 10'000; ++i) {
        const double a = -i * (i - shape);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        fraction *= d * c;
        if (std::abs(d * c - 1.0) < 1e-15) break;
    }
    return 1.0 - front * fraction;
}

/// Kolmogorov-Smirnov: sqrt(n) x largest distance between the sample and the distribution function.
/// Above 2.2 in fewer than one of 8,000 samples of the law itself (2 exp(-2 x 2.2^2)).
template <class Cdf>
double kolmogorov_smirnov(std::vector<double> sample, const Cdf& cdf) {
    std::sort(sample.begin(), sample.end());
    const auto n = static_cast<double>(sample.size());
    double distance = 0.0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double at = cdf(sample[i]);
        distance = std::max({distance, static_cast<double>(i + 1) / n - at, at - static_cast<double>(i) / n});
    }
    return std::sqrt(n) * distance;
}
inline constexpr double kolmogorov_smirnov_limit = 2.2;

}  // namespace windtunnel::test
