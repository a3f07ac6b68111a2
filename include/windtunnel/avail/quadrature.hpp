#pragma once
/// Integrals of smooth functions, also with a singular end, and rules with fixed points.
#include <functional>
#include <vector>

namespace windtunnel::avail {

using RealFunction = std::function<double(double)>;

/// Integral from a to b (finite, a <= b).
/// Model:   the substitution tanh(sinh) turns it into a sum of equidistant terms that fall off doubly exponentially;
///          the step is halved until two sums agree to 1e-13.
/// Limits:  f smooth inside (a, b); at the ends it may have a power or a logarithm.
/// Source:  Takahasi and Mori, Publications of the RIMS 9, 1974.
[[nodiscard]] double integral(const RealFunction& f, double a, double b);

/// Integral from a to infinity of a function that falls off on the scale `scale`: the substitution exp(sinh).
[[nodiscard]] double integral_to_infinity(const RealFunction& f, double a, double scale);

/// Points and weights of Gauss and Legendre on (-1, 1): exact for polynomials up to degree 2n - 1.
/// Model:   Newton steps on the Legendre polynomial from Chebyshev points.
/// Source:  any text on numerical analysis.
struct GaussRule {
    std::vector<double> point, weight;
};
[[nodiscard]] GaussRule gauss_legendre(int n);

}  // namespace windtunnel::avail
