#pragma once
/// Count, mean, variance and range of numbers, in one pass, mergeable.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "windtunnel/base/pack.hpp"

namespace windtunnel::base {

/// Merging in a fixed order gives fixed bits; another order differs by rounding only.
/// Source: Welford, Technometrics 4(3), 1962 (one more number); Chan, Golub, LeVeque, 1979 (merge).
struct Moments {
    std::uint64_t count = 0;
    double mean = 0.0;
    double sum_of_squares = 0.0;  ///< of deviations from the mean
    double minimum = std::numeric_limits<double>::infinity();
    double maximum = -std::numeric_limits<double>::infinity();

    friend bool operator==(const Moments&, const Moments&) = default;

    void add(double value) noexcept {
        ++count;
        const double step = value - mean;
        mean += step / static_cast<double>(count);
        sum_of_squares += step * (value - mean);
        minimum = std::min(minimum, value);
        maximum = std::max(maximum, value);
    }
    void merge(const Moments& other) noexcept {
        if (other.count == 0) return;
        if (count == 0) {
            *this = other;
            return;
        }
        const auto here = static_cast<double>(count), there = static_cast<double>(other.count);
        const double step = other.mean - mean, total = here + there;
        mean += step * (there / total);
        sum_of_squares += other.sum_of_squares + step * step * (here * there / total);
        count += other.count;
        minimum = std::min(minimum, other.minimum);
        maximum = std::max(maximum, other.maximum);
    }
    /// Of a sample: divides by count - 1. 0 for fewer than two numbers.
    [[nodiscard]] double variance() const noexcept {
        return count < 2 ? 0.0 : sum_of_squares / static_cast<double>(count - 1);
    }
    [[nodiscard]] double standard_deviation() const noexcept { return std::sqrt(variance()); }
    /// Of the mean. 0 for fewer than two numbers: it is not known then.
    [[nodiscard]] double standard_error() const noexcept {
        return count < 2 ? 0.0 : std::sqrt(variance() / static_cast<double>(count));
    }
    void pack(Packer& packer) const {
        packer.put(count);
        for (const double value : {mean, sum_of_squares, minimum, maximum}) packer.put(value);
    }
    [[nodiscard]] static Moments unpack(Unpacker& unpacker) {
        Moments moments;
        moments.count = unpacker.get<std::uint64_t>();
        for (double* value : {&moments.mean, &moments.sum_of_squares, &moments.minimum, &moments.maximum})
            *value = unpacker.get<double>();
        return moments;
    }
};

}  // namespace windtunnel::base
