#include "windtunnel/search/selection.hpp"

#include <algorithm>
#include <limits>

namespace windtunnel::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// No record of ours holds lists of unequal length.
void check_equal(std::size_t a, std::size_t b) {
    if (a != b) throw base::PackError{"packed lists have unequal lengths"};
}

}  // namespace

BestList::BestList(std::size_t top, double margin, std::size_t capacity)
    : top_{std::max<std::size_t>(top, 1)},
      capacity_{std::max(capacity, top_)},
      tidy_at_{std::max<std::size_t>(1024, 4 * top_)},
      margin_{margin},
      limit_{infinity} {}

void BestList::add(const Candidate& candidate) {
    if (candidate.score > limit_) return;
    list_.push_back(candidate);
    if (list_.size() < tidy_at_) return;
    tidy();
    tidy_at_ = std::max<std::size_t>({1024, 4 * top_, 2 * list_.size()});
}

void BestList::tidy() {
    std::sort(list_.begin(), list_.end());
    if (list_.size() < top_) return;
    const double last = list_[top_ - 1].score * (1.0 + margin_);
    const auto end = std::partition_point(list_.begin(), list_.end(),
                                          [last](const Candidate& candidate) { return candidate.score <= last; });
    list_.erase(end, list_.end());
    limit_ = last;
    if (list_.size() <= capacity_) return;
    list_.resize(capacity_);
    limit_ = list_.back().score;
    cut_ = true;
}

void BestList::merge(const BestList& other) {
    list_.insert(list_.end(), other.list_.begin(), other.list_.end());
    cut_ = cut_ || other.cut_;
    tidy();
    // A part may have been cut where the whole is not: then the list is shorter than what the part kept.
    cut_ = cut_ && list_.size() >= capacity_;
}

void BestList::pack(base::Packer& packer) const {
    std::vector<double> scores;
    std::vector<std::uint64_t> indices;
    for (const Candidate& candidate : list_) {
        scores.push_back(candidate.score);
        indices.push_back(candidate.index);
    }
    packer.put(scores);
    packer.put(indices);
    packer.put(static_cast<std::uint8_t>(cut_));
}

void BestList::unpack(base::Unpacker& unpacker) {
    const auto scores = unpacker.get_vector<double>();
    const auto indices = unpacker.get_vector<std::uint64_t>();
    check_equal(scores.size(), indices.size());
    list_.clear();
    for (std::size_t i = 0; i < scores.size(); ++i) list_.push_back({scores[i], indices[i]});
    cut_ = unpacker.get<std::uint8_t>() != 0;
}

std::uint64_t index_hash(std::uint64_t index) noexcept {
    std::uint64_t bits = index + 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
    return bits ^ (bits >> 31U);
}

void Sample::add(std::uint64_t index) {
    constexpr auto limit = static_cast<std::uint64_t>(share * 0x1p64);
    const std::uint64_t hash = index_hash(index);
    if (hash >= limit) return;
    entries_.emplace_back(hash, index);
    if (entries_.size() >= 2 * most) trim();
}

void Sample::trim() {
    if (entries_.size() <= most) return;
    // The hash is a bijection, so there are no ties.
    std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(most), entries_.end());
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(most), entries_.end());
}

void Sample::merge(const Sample& other) {
    entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
    trim();
}

std::vector<std::uint64_t> Sample::indices() const {
    Sample sorted = *this;
    sorted.trim();
    std::sort(sorted.entries_.begin(), sorted.entries_.end());
    std::vector<std::uint64_t> indices;
    for (const auto& [hash, index] : sorted.entries_) indices.push_back(index);
    return indices;
}

void Sample::pack(base::Packer& packer) const {
    packer.put(indices());
}

void Sample::unpack(base::Unpacker& unpacker) {
    entries_.clear();
    for (const std::uint64_t index : unpacker.get_vector<std::uint64_t>())
        entries_.emplace_back(index_hash(index), index);
}

void Front::add(const FrontPoint& point) {
    const auto beats = [](const FrontPoint& a, const FrontPoint& b) {  // equal or better everywhere
        for (std::size_t i = 0; i < a.scores.size(); ++i)
            if (a.scores[i] > b.scores[i]) return false;
        return a.scores != b.scores || a.index < b.index;
    };
    for (std::size_t i = 0; i < points_.size(); ++i)
        if (beats(points_[i], point)) {
            // A point that beats one newcomer is likely to beat the next.
            if (i > 0) std::swap(points_[i], points_[i / 2]);
            return;
        }
    std::erase_if(points_, [&](const FrontPoint& old) { return beats(point, old); });
    points_.push_back(point);
}

void Front::merge(const Front& other) {
    for (const FrontPoint& point : other.points_) add(point);
}

std::vector<FrontPoint> Front::points() const {
    std::vector<FrontPoint> points = points_;
    std::sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) { return a.index < b.index; });
    return points;
}

void Front::keep_first(std::size_t most) {
    points_ = points();
    if (points_.size() > most) points_.resize(most);
}

void Front::pack(base::Packer& packer) const {
    const std::vector<FrontPoint> sorted = points();
    std::vector<double> scores;
    std::vector<std::uint64_t> indices;
    for (const FrontPoint& point : sorted) {
        scores.insert(scores.end(), point.scores.begin(), point.scores.end());
        indices.push_back(point.index);
    }
    packer.put(scores);
    packer.put(indices);
}

void Front::unpack(base::Unpacker& unpacker) {
    const auto scores = unpacker.get_vector<double>();
    const auto indices = unpacker.get_vector<std::uint64_t>();
    check_equal(scores.size(), indices.size() * std::size_t{most_front_measures});
    points_.clear();
    for (std::size_t i = 0; i < indices.size(); ++i) {
        FrontPoint point;
        std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * std::size_t{most_front_measures}),
                    most_front_measures, point.scores.begin());
        point.index = indices[i];
        points_.push_back(point);
    }
}

}  // namespace windtunnel::search
