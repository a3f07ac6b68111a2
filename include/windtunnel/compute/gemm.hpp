#pragma once
/// Matrix products.
#include "windtunnel/compute/card.hpp"

namespace windtunnel::compute {

/// C (m x n) = A (m x k) B (k x n), dimensions of one card.
struct Gemm {
    double m = 0.0, n = 0.0, k = 0.0;
    [[nodiscard]] constexpr Flops flops() const noexcept { return Flops{2.0 * m * n * k}; }
};

/// Fraction of peak that a product reaches while it is bound by compute.
///
/// Model:   plateau x k/(k + s) x mn/(mn + s^2): a fixed start-up along k, and tiles that do not fill the card when the
///          result is small. s = half_size: at k = s half of the plateau is lost.
/// Inputs:  dimensions > 0. Returns: fraction in (0, 1].
/// Limits:  no tile or wave rounding; the three dimensions of other operators on the card play no part.
/// Source:  shape derived here; plateau and s are fitted to published step times.
[[nodiscard]] double gemm_efficiency(const Gemm& gemm, const Card& card) noexcept;

/// Time of a product, without the launch.
///
/// Model:   the larger of compute time and memory time (each matrix once: inputs in the product's precision, result 16
/// bit). Inputs:  dimensions >= 0; an empty product takes no time. Returns: time, >= 0. Limits:  no cache reuse between
/// products. Source: roofline, Williams et al., CACM 52(4), 2009.
[[nodiscard]] Seconds gemm_time(const Gemm& gemm, const Card& card) noexcept;

/// `groups` equal products in one kernel (experts).
///
/// Model:   compute at `grouped` of the efficiency of one product with all rows together along m but weights apart in
///          memory: every group's weights are read.
/// Inputs:  groups >= 0, `each` may have a fraction of a row. Returns: time, >= 0. Limits: balanced groups.
/// Source:  derived here.
[[nodiscard]] Seconds grouped_gemm_time(double groups, const Gemm& each, const Card& card) noexcept;

/// Reading and writing memory once, for everything that is not a product.
[[nodiscard]] Seconds streaming_time(Bytes bytes, const Card& card) noexcept;

}  // namespace windtunnel::compute
