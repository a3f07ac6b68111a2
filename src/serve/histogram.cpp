#include "windtunnel/serve/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace windtunnel::serve {
namespace {

constexpr int mantissa_bits = 52, bucket_bits = 10;
constexpr double smallest = 0x1p-30, largest = 0x1p33;
constexpr std::uint64_t smallest_bits = std::bit_cast<std::uint64_t>(smallest) >> (mantissa_bits - bucket_bits);
constexpr std::size_t num_buckets = (63u << static_cast<unsigned>(bucket_bits)) + 2;
constexpr std::size_t spare_buckets = 512;  // to both sides when the range grows

/// 0 holds zero and what is below a nanosecond.
std::size_t bucket_of(double seconds) noexcept {
    if (!(seconds >= smallest)) return 0;
    const double value = std::min(seconds, largest);
    return 1 + static_cast<std::size_t>((std::bit_cast<std::uint64_t>(value) >> (mantissa_bits - bucket_bits)) -
                                        smallest_bits);
}

double lower_edge(std::size_t bucket) noexcept {
    if (bucket == 0) return 0.0;
    return std::bit_cast<double>((static_cast<std::uint64_t>(bucket - 1) + smallest_bits)
                                 << (mantissa_bits - bucket_bits));
}

}  // namespace

double Histogram::middle(std::size_t bucket) const noexcept {
    return bucket == 0 ? 0.0 : std::min(0.5 * (lower_edge(bucket) + lower_edge(bucket + 1)), maximum_);
}

void Histogram::grow(std::size_t bucket) {
    const std::size_t low = counts_.empty() ? bucket : std::min(first_, bucket);
    const std::size_t high = counts_.empty() ? bucket + 1 : std::max(first_ + counts_.size(), bucket + 1);
    const std::size_t first = low > spare_buckets ? low - spare_buckets : 0;
    std::vector<std::uint64_t> counts(std::min(high + spare_buckets, num_buckets) - first, 0);
    std::copy(counts_.begin(), counts_.end(),
              counts.begin() + static_cast<std::ptrdiff_t>(counts_.empty() ? 0 : first_ - first));
    counts_ = std::move(counts);
    first_ = first;
}

void Histogram::put(std::size_t bucket, std::uint64_t times) {
    if (bucket - first_ >= counts_.size()) grow(bucket);  // also when bucket < first_: the difference wraps
    counts_[bucket - first_] += times;
}

void Histogram::add(double seconds, std::uint64_t times) noexcept {
    if (times == 0) return;
    put(bucket_of(seconds), times);
    count_ += times;
    sum_ += seconds * static_cast<double>(times);
    maximum_ = std::max(maximum_, seconds);
}

void Histogram::add_line(double first, double step, std::uint64_t count, std::uint64_t times) noexcept {
    if (count == 0 || times == 0) return;
    const auto numbers = static_cast<double>(count);
    const double last = first + step * (numbers - 1.0);
    const std::size_t first_bucket = bucket_of(first), last_bucket = bucket_of(last);
    std::uint64_t done = 0;
    for (std::size_t bucket = first_bucket; bucket < last_bucket && done < count; ++bucket) {
        const double below = std::ceil((lower_edge(bucket + 1) - first) / step);  // numbers below the next bucket
        const auto upto = static_cast<std::uint64_t>(std::clamp(below, static_cast<double>(done), numbers));
        if (upto > done) put(bucket, (upto - done) * times);
        done = upto;
    }
    if (done < count) put(last_bucket, (count - done) * times);
    count_ += count * times;
    sum_ += static_cast<double>(times) * numbers * 0.5 * (first + last);
    maximum_ = std::max({maximum_, first, last});
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
        if (other.counts_[i] > 0) put(other.first_ + i, other.counts_[i]);
    count_ += other.count_;
    sum_ += other.sum_;
    maximum_ = std::max(maximum_, other.maximum_);
}

double Histogram::quantile(double fraction) const noexcept {
    const auto rank =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_))));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        below += counts_[i];
        if (below < rank) continue;
        return middle(first_ + i);
    }
    return maximum_;
}

double Histogram::share_up_to(double seconds) const noexcept {
    if (count_ == 0) return 0.0;
    const std::size_t bucket = bucket_of(seconds);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts_.size() && first_ + i <= bucket; ++i) below += counts_[i];
    return static_cast<double>(below) / static_cast<double>(count_);
}

void Histogram::pack(base::Packer& packer) const {
    std::vector<std::uint32_t> buckets;
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0) continue;
        buckets.push_back(static_cast<std::uint32_t>(first_ + i));
        counts.push_back(counts_[i]);
    }
    packer.put(buckets);
    packer.put(counts);
    packer.put(sum_);
    packer.put(maximum_);
}

Histogram Histogram::unpack(base::Unpacker& unpacker) {
    Histogram histogram;
    const auto buckets = unpacker.get_vector<std::uint32_t>();
    const auto counts = unpacker.get_vector<std::uint64_t>();
    if (buckets.size() != counts.size()) throw base::PackError{"histogram: buckets without counts"};
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        if (buckets[i] >= num_buckets) throw base::PackError{"histogram: no such bucket"};
        histogram.put(buckets[i], counts[i]);
        histogram.count_ += counts[i];
    }
    histogram.sum_ = unpacker.get<double>();
    histogram.maximum_ = unpacker.get<double>();
    return histogram;
}

}  // namespace windtunnel::serve
