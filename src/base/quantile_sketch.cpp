#include "windtunnel/base/quantile_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::base {

namespace {

constexpr double growth = (1.0 + QuantileSketch::relative_error) / (1.0 - QuantileSketch::relative_error);
/// Bucket k > 0 holds sizes in (growth^(k - origin - 1), growth^(k - origin)]; -k the same below zero; 0 holds zero.
constexpr std::int32_t origin = 4'000'000;

std::int32_t bucket_of(double value) noexcept {
    if (value == 0.0) return 0;
    const double size = std::max(std::abs(value), std::numeric_limits<double>::min());
    const auto number = origin + static_cast<std::int32_t>(std::ceil(std::log(size) / std::log(growth)));
    return value > 0.0 ? number : -number;
}

double value_of(std::int32_t bucket) noexcept {
    if (bucket == 0) return 0.0;
    const double upper = std::exp((std::abs(bucket) - origin) * std::log(growth));
    return std::copysign(2.0 * upper / (1.0 + growth), static_cast<double>(bucket));
}

double probability_of(std::uint64_t hits, std::uint64_t count, double fraction) noexcept {
    const auto n = static_cast<double>(count), k = static_cast<double>(hits);
    if (fraction <= 0.0) return hits == 0 ? 1.0 : 0.0;
    if (fraction >= 1.0) return hits == count ? 1.0 : 0.0;
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(fraction) +
                    (n - k) * std::log1p(-fraction));
}

}  // namespace

void QuantileSketch::add(double value) {
    expects(std::isfinite(value), "a finite number");
    minimum_ = count_ == 0 ? value : std::min(minimum_, value);
    maximum_ = count_ == 0 ? value : std::max(maximum_, value);
    ++count_;
    const auto number = bucket_of(value);
    const auto at = std::lower_bound(buckets_.begin(), buckets_.end(), number,
                                     [](const Bucket& bucket, std::int32_t wanted) { return bucket.first < wanted; });
    if (at != buckets_.end() && at->first == number)
        ++at->second;
    else
        buckets_.insert(at, {number, 1});
}

void QuantileSketch::merge(const QuantileSketch& other) {
    if (other.count_ == 0) return;
    minimum_ = count_ == 0 ? other.minimum_ : std::min(minimum_, other.minimum_);
    maximum_ = count_ == 0 ? other.maximum_ : std::max(maximum_, other.maximum_);
    count_ += other.count_;
    std::vector<Bucket> merged;
    merged.reserve(buckets_.size() + other.buckets_.size());
    auto a = buckets_.begin();
    auto b = other.buckets_.begin();
    while (a != buckets_.end() || b != other.buckets_.end()) {
        if (b == other.buckets_.end() || (a != buckets_.end() && a->first < b->first)) {
            merged.push_back(*a++);
        } else if (a == buckets_.end() || b->first < a->first) {
            merged.push_back(*b++);
        } else {
            merged.emplace_back(a->first, a->second + b->second);
            ++a, ++b;
        }
    }
    buckets_ = std::move(merged);
}

double QuantileSketch::order_statistic(std::uint64_t rank) const {
    if (rank <= 1) return minimum_;
    if (rank >= count_) return maximum_;
    std::uint64_t below = 0;
    for (const auto& [number, hits] : buckets_) {
        below += hits;
        if (below >= rank) return std::clamp(value_of(number), minimum_, maximum_);
    }
    return maximum_;
}

double QuantileSketch::quantile(double fraction) const {
    expects(count_ > 0 && fraction >= 0.0 && fraction <= 1.0, "a fraction of a sample");
    return order_statistic(static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_))));
}

QuantileInterval QuantileSketch::interval(double fraction, double confidence) const {
    expects(count_ > 0 && fraction >= 0.0 && fraction <= 1.0, "a fraction of a sample");
    // With B binomial(count, fraction): P(order statistic r lies above the quantile) = P(B < r), below it = P(B >= r).
    // Terms further than ten standard deviations from the mode are below rounding.
    const double side = (1.0 - confidence) / 2.0, n = static_cast<double>(count_);
    const double reach = 10.0 * std::sqrt(n * fraction * (1.0 - fraction)) + 20.0;
    const auto first = static_cast<std::uint64_t>(std::max(0.0, std::floor(n * fraction - reach)));
    const auto last = static_cast<std::uint64_t>(std::min(n, std::ceil(n * fraction + reach)));
    std::vector<double> probability;
    for (std::uint64_t hits = first; hits <= last; ++hits)
        probability.push_back(probability_of(hits, count_, fraction));

    std::uint64_t low = first, high = last + 1;  // P(B < first) and P(B > last) are nothing
    for (double below = probability.front(); below <= side && low < last; below += probability[low - first]) ++low;
    for (double above = probability.back(); above <= side && high > low + 1; above += probability[high - 1 - first])
        --high;
    low = std::clamp<std::uint64_t>(low, 1, count_);  // no order statistic further out: the ends of the sample
    high = std::clamp<std::uint64_t>(high, low, count_);
    double coverage = 0.0;
    for (std::uint64_t hits = std::max(low, first); hits < high && hits <= last; ++hits)
        coverage += probability[hits - first];
    return {order_statistic(low), order_statistic(high), std::min(coverage, 1.0)};
}

void QuantileSketch::pack(Packer& packer) const {
    packer.put(count_);
    packer.put(minimum_);
    packer.put(maximum_);
    packer.put(static_cast<std::uint64_t>(buckets_.size()));
    for (const auto& [number, hits] : buckets_) {
        packer.put(number);
        packer.put(hits);
    }
}

QuantileSketch QuantileSketch::unpack(Unpacker& unpacker) {
    QuantileSketch sketch;
    sketch.count_ = unpacker.get<std::uint64_t>();
    sketch.minimum_ = unpacker.get<double>();
    sketch.maximum_ = unpacker.get<double>();
    const auto size = unpacker.get<std::uint64_t>();
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < size; ++at) {  // a wrong size ends in PackError at the end of the bytes
        const auto number = unpacker.get<std::int32_t>();
        const auto hits = unpacker.get<std::uint64_t>();
        if (number < -2 * origin || number > 2 * origin) throw PackError{"quantile sketch: no such bucket"};
        if (at > 0 && number <= sketch.buckets_.back().first) throw PackError{"quantile sketch: buckets out of order"};
        sketch.buckets_.emplace_back(number, hits);
        sum += hits;
    }
    if (sum != sketch.count_) throw PackError{"quantile sketch: counts do not add up"};
    return sketch;
}

}  // namespace windtunnel::base
