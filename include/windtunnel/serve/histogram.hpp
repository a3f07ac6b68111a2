#pragma once
/// Counts of positive times in buckets of equal relative width, with O(1) per number: a bucket is the exponent and the
/// first bits of the mantissa.
///
/// Model:   1,024 buckets an octave; a quantile is off by at most 0.05 %. The counts do not depend on order.
/// Limits:  1 ns to 2^33 s; what lies outside goes to the ends. Zero has a bucket of its own.
/// Source:  derived here.
#include <cstdint>
#include <vector>

#include "windtunnel/base/pack.hpp"

namespace windtunnel::serve {

class Histogram {
public:
    static constexpr double relative_error = 0.5 / 1024.0;

    void add(double seconds, std::uint64_t times = 1) noexcept;
    /// `count` numbers first, first + step, ..., each `times` times.
    void add_line(double first, double step, std::uint64_t count, std::uint64_t times) noexcept;
    void merge(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Smallest number with at least ceil(fraction x count) numbers up to it, to 0.05 %. Needs count() > 0.
    [[nodiscard]] double quantile(double fraction) const noexcept;
    [[nodiscard]] double mean() const noexcept { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
    [[nodiscard]] double sum() const noexcept { return sum_; }
    [[nodiscard]] double maximum() const noexcept { return maximum_; }
    /// Share of the numbers up to `seconds`, to the width of a bucket.
    [[nodiscard]] double share_up_to(double seconds) const noexcept;

    /// `see(value, times)` for every occupied bucket, in ascending order; the value is its middle.
    template <class See>
    void visit(const See& see) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] > 0) see(middle(first_ + i), counts_[i]);
    }

    void pack(base::Packer& packer) const;
    [[nodiscard]] static Histogram unpack(base::Unpacker& unpacker);

private:
    [[nodiscard]] double middle(std::size_t bucket) const noexcept;
    void grow(std::size_t bucket);
    void put(std::size_t bucket, std::uint64_t times);

    std::vector<std::uint64_t> counts_;  ///< of buckets from `first_` on
    std::size_t first_ = 0;
    std::uint64_t count_ = 0;
    double sum_ = 0.0, maximum_ = 0.0;
};

}  // namespace windtunnel::serve
