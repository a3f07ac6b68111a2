#include "windtunnel/avail/quadrature.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace windtunnel::avail {
namespace {

constexpr double half_pi = std::numbers::pi / 2.0;
constexpr double enough = 1e-13;
constexpr int most_halvings = 9;

/// Sum over all t = k x step (odd k alone after the first time) of term(t), outwards until terms vanish.
template <class Term>
double side(const Term& term, double step, double direction, int first, int stride) {
    double sum = 0.0, largest = 0.0;
    int small = 0;
    for (int k = first; k * step < 7.0; k += stride) {
        const double value = term(direction * k * step);
        sum += value;
        largest = std::max(largest, std::abs(value));
        small = std::abs(value) <= 1e-17 * std::max(largest, std::abs(sum)) ? small + 1 : 0;
        if (small > 3 && k * step > 2.5) break;
    }
    return sum;
}

template <class Term>
double doubling(const Term& term) {
    double step = 0.5;
    double sum = term(0.0) + side(term, step, 1.0, 1, 1) + side(term, step, -1.0, 1, 1);
    double before = sum * step;
    for (int i = 0; i < most_halvings; ++i) {
        step *= 0.5;
        sum += side(term, step, 1.0, 1, 2) + side(term, step, -1.0, 1, 2);
        const double now = sum * step;
        if (i > 1 && std::abs(now - before) <= enough * std::abs(now)) return now;
        before = now;
    }
    return before;
}

}  // namespace

double integral(const RealFunction& f, double a, double b) {
    if (!(b > a)) return 0.0;
    const double half = 0.5 * (b - a);
    return doubling([&](double t) {
        const double u = half_pi * std::sinh(t);
        const double cosh_u = std::cosh(u);
        if (!std::isfinite(cosh_u)) return 0.0;
        const double from_end = half / (std::exp(std::abs(u)) * cosh_u);  // distance from the nearer end
        const double x = t < 0.0 ? a + from_end : b - from_end;
        if (x <= a || x >= b) return 0.0;
        const double value = f(x) * half * half_pi * std::cosh(t) / (cosh_u * cosh_u);
        return std::isfinite(value) ? value : 0.0;
    });
}

double integral_to_infinity(const RealFunction& f, double a, double scale) {
    return doubling([&](double t) {
        const double x = scale * std::exp(half_pi * std::sinh(t));
        if (!(x > 0.0) || !std::isfinite(x)) return 0.0;
        const double value = f(a + x) * x * half_pi * std::cosh(t);
        return std::isfinite(value) ? value : 0.0;
    });
}

GaussRule gauss_legendre(int n) {
    GaussRule rule;
    for (int i = 0; i < n; ++i) {
        double x = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1.0;
        for (int step = 0; step < 20; ++step) {
            double last = 1.0, value = x;  // P_0 and P_1
            for (int k = 2; k <= n; ++k) {
                const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * last) / k;
                last = value;
                value = next;
            }
            slope = n * (x * value - last) / (x * x - 1.0);
            const double change = value / slope;
            x -= change;
            if (std::abs(change) < std::numeric_limits<double>::epsilon()) break;
        }
        rule.point.push_back(x);
        rule.weight.push_back(2.0 / ((1.0 - x * x) * slope * slope));
    }
    return rule;
}

}  // namespace windtunnel::avail
