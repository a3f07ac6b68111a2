#include "windtunnel/base/incomplete_gamma.hpp"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace windtunnel::base {

namespace {

/// ln Gamma(x) without the global sign that std::lgamma writes: kernels run on many threads.
double log_gamma(double x) noexcept {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

double series(double shape, double x) noexcept {
    double term = 1.0 / shape, sum = term;
    for (int n = 1; n < 100'000 && term > sum * 1e-17; ++n) sum += term *= x / (shape + n);
    return sum;
}

/// Continued fraction of the upper function, evaluated forwards (Lentz).
double fraction(double shape, double x) noexcept {
    double b = x + 1.0 - shape, c = 1e300, d = 1.0 / b, value = d;
    for (int n = 1; n < 100'000; ++n) {
        const double a = n * (shape - n);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        value *= c * d;
        if (std::abs(c * d - 1.0) < 1e-16) break;
    }
    return value;
}

}  // namespace

double gamma_p(double shape, double x) noexcept {
    if (!(x > 0.0)) return 0.0;
    if (std::isinf(x)) return 1.0;
    const double front = std::exp(shape * std::log(x) - x - log_gamma(shape));
    return x < shape + 1.0 ? front * series(shape, x) : 1.0 - front * fraction(shape, x);
}

double gamma_p_inverse(double shape, double probability) noexcept {
    if (!(probability > 0.0)) return 0.0;
    if (probability >= 1.0) return std::numeric_limits<double>::infinity();
    // Start: first term of the series, exact for small probabilities and below the root always.
    double low = std::exp((std::log(probability) + log_gamma(shape + 1.0)) / shape);
    double high = std::max(2.0 * low, shape + 1.0);
    while (gamma_p(shape, high) < probability) low = high, high *= 2.0;
    double x = low;
    for (int step = 0; step < 200; ++step) {
        const double error = gamma_p(shape, x) - probability;
        if (error < 0.0)
            low = x;
        else
            high = x;
        const double density = std::exp((shape - 1.0) * std::log(x) - x - log_gamma(shape));
        double next = x - error / density;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - x) <= 4e-16 * x || high - low <= 4e-16 * high) return next;
        x = next;
    }
    return x;
}

}  // namespace windtunnel::base
