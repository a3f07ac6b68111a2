#pragma once
/// Random variates from uniform draws, and the normal quantile. Our own, so that every compiler and library gives the
/// same sequence of draws.
#include "windtunnel/base/philox.hpp"

namespace windtunnel::base {

/// Inverse of the standard normal distribution function, relative error about 1e-15. Needs 0 < probability < 1.
/// Source: Wichura, algorithm AS 241 (PPND16), Applied Statistics 37(3), 1988.
[[nodiscard]] double normal_quantile(double probability) noexcept;

/// One draw each, by inversion; mean > 0, shape > 0, scale > 0.
[[nodiscard]] double exponential(Draws& draws, double mean) noexcept;
[[nodiscard]] double weibull(Draws& draws, double shape, double scale) noexcept;
[[nodiscard]] double normal(Draws& draws) noexcept;  ///< mean 0, standard deviation 1
/// `median` and `sigma`, the standard deviation of the logarithm (>= 0).
[[nodiscard]] double lognormal(Draws& draws, double sigma, double median) noexcept;

/// Any shape > 0; a varying number of draws.
/// Source: Marsaglia and Tsang, ACM TOMS 26(3), 2000; shapes below 1 by their boost with a power of a uniform.
[[nodiscard]] double gamma(Draws& draws, double shape, double scale) noexcept;

}  // namespace windtunnel::base
