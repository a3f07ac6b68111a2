#pragma once
/// Quantiles of a stream of numbers in little memory, mergeable, without randomness.
#include <cstdint>
#include <utility>
#include <vector>

#include "windtunnel/base/pack.hpp"

namespace windtunnel::base {

/// A quantile between two order statistics.
struct QuantileInterval {
    double low = 0.0;
    double high = 0.0;
    double coverage =
        0.0;  ///< probability that the true quantile lies inside; below the wish where the sample is small
};

/// Counts in buckets whose borders grow by a constant factor. A quantile is off by at most `relative_error` of its
/// value; minimum and maximum are exact. The state depends on the numbers only, not on their order or on how they were
/// merged. Source: Masson, Rim, Lee, "DDSketch", VLDB 2019.
class QuantileSketch {
public:
    static constexpr double relative_error = 1e-4;

    /// Finite numbers of any sign.
    void add(double value);
    void merge(const QuantileSketch& other);

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t num_buckets() const noexcept { return buckets_.size(); }
    [[nodiscard]] double minimum() const noexcept { return minimum_; }
    [[nodiscard]] double maximum() const noexcept { return maximum_; }

    /// Smallest number with at least ceil(fraction x count) numbers up to it. Needs count() > 0 and 0 <= fraction <= 1.
    [[nodiscard]] double quantile(double fraction) const;

    /// Interval between order statistics, from the binomial distribution: no assumption on the law of the numbers.
    /// Source: any text on nonparametric statistics, for example David and Nagaraja, Order Statistics, 7.1.
    [[nodiscard]] QuantileInterval interval(double fraction, double confidence) const;

    void pack(Packer& packer) const;
    [[nodiscard]] static QuantileSketch unpack(Unpacker& unpacker);

    friend bool operator==(const QuantileSketch&, const QuantileSketch&) = default;

private:
    using Bucket = std::pair<std::int32_t, std::uint64_t>;  ///< signed bucket number, count

    [[nodiscard]] double order_statistic(std::uint64_t rank) const;  ///< rank from 1

    std::uint64_t count_ = 0;
    double minimum_ = 0.0, maximum_ = 0.0;
    std::vector<Bucket> buckets_;  ///< ascending numbers
};

}  // namespace windtunnel::base
