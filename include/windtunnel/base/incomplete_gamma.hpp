#pragma once
/// The regularised incomplete gamma function and its inverse: distribution function of the gamma law.

namespace windtunnel::base {

/// P(shape, x): probability that a gamma(shape, 1) variate is at most x. Relative error about 1e-13; shape > 0.
/// Source: Abramowitz and Stegun, 6.5.29 (series) and 6.5.31 (continued fraction).
[[nodiscard]] double gamma_p(double shape, double x) noexcept;

/// The x with P(shape, x) = probability; 0 <= probability <= 1 (1 gives infinity). Newton steps inside a bracket.
[[nodiscard]] double gamma_p_inverse(double shape, double probability) noexcept;

}  // namespace windtunnel::base
