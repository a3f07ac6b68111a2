#pragma once
/// Means, variances and covariance of pairs, mergeable, and what follows for the ratio of their means.
#include <cmath>
#include <cstdint>

#include "windtunnel/base/pack.hpp"

namespace windtunnel::avail {

/// Merging in a fixed order gives fixed bits.
/// Source: Chan, Golub, LeVeque, The American Statistician 37(3), 1983.
struct PairMoments {
    std::uint64_t count = 0;
    double mean_x = 0.0, mean_y = 0.0;
    double xx = 0.0, xy = 0.0, yy = 0.0;  ///< sums of products of deviations

    friend bool operator==(const PairMoments&, const PairMoments&) = default;

    void add(double x, double y) noexcept {
        ++count;
        const double share = 1.0 / static_cast<double>(count);
        const double step_x = x - mean_x, step_y = y - mean_y;
        mean_x += step_x * share;
        mean_y += step_y * share;
        xx += step_x * (x - mean_x);
        yy += step_y * (y - mean_y);
        xy += step_x * (y - mean_y);
    }
    void merge(const PairMoments& other) noexcept {
        if (other.count == 0) return;
        const auto here = static_cast<double>(count), there = static_cast<double>(other.count);
        const double total = here + there, both = here * there / total;
        const double step_x = other.mean_x - mean_x, step_y = other.mean_y - mean_y;
        mean_x += step_x * (there / total);
        mean_y += step_y * (there / total);
        xx += other.xx + step_x * step_x * both;
        yy += other.yy + step_y * step_y * both;
        xy += other.xy + step_x * step_y * both;
        count += other.count;
    }
    /// mean_x / mean_y.
    [[nodiscard]] double ratio() const noexcept { return mean_x / mean_y; }
    /// Of the ratio, by the delta method: to first order in the scatter of the means. 0 for fewer than two pairs.
    /// Source: Crane and Lemoine, An Introduction to the Regenerative Method, 1977, section 2.
    [[nodiscard]] double standard_error() const noexcept {
        if (count < 2) return 0.0;
        const double r = ratio(), n = static_cast<double>(count);
        const double squares = xx - 2.0 * r * xy + r * r * yy;
        return squares > 0.0 ? std::sqrt(squares / (n * (n - 1.0))) / std::abs(mean_y) : 0.0;
    }
    void pack(base::Packer& packer) const {
        packer.put(count);
        for (const double value : {mean_x, mean_y, xx, xy, yy}) packer.put(value);
    }
    [[nodiscard]] static PairMoments unpack(base::Unpacker& unpacker) {
        PairMoments pair;
        pair.count = unpacker.get<std::uint64_t>();
        for (double* value : {&pair.mean_x, &pair.mean_y, &pair.xx, &pair.xy, &pair.yy})
            *value = unpacker.get<double>();
        return pair;
    }
};

}  // namespace windtunnel::avail
