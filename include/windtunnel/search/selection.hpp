#pragma once
/// What a search keeps of a stream of designs in bounded memory: the best, a sample, a Pareto front. What is kept does
/// not depend on how the stream was cut, only on its designs.
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "windtunnel/base/pack.hpp"

namespace windtunnel::search {

/// A design that fits; `score`: less is better. Order: score, then the lower index.
struct Candidate {
    double score = 0.0;
    std::uint64_t index = 0;
    friend bool operator<(const Candidate& a, const Candidate& b) noexcept {
        return a.score != b.score ? a.score < b.score : a.index < b.index;
    }
    friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The designs whose score is within `margin` of the N-th best one, at most `capacity`: then the best of them.
class BestList {
public:
    static constexpr std::size_t default_capacity = 65'536;
    explicit BestList(std::size_t top = 1, double margin = 0.0, std::size_t capacity = default_capacity);

    void add(const Candidate& candidate);
    void merge(const BestList& other);
    /// In order. Call it before reading.
    void tidy();
    [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return list_; }
    /// More designs were within the margin than the list holds.
    [[nodiscard]] bool cut() const noexcept { return cut_; }

    void pack(base::Packer& packer) const;
    void unpack(base::Unpacker& unpacker);

private:
    std::size_t top_, capacity_, tidy_at_;
    double margin_;
    double limit_;  ///< no candidate above it can stay
    std::vector<Candidate> list_;
    bool cut_ = false;
};

/// One design in a hundred, chosen by a hash of its index, at most `most`: those with the smallest hashes.
class Sample {
public:
    static constexpr std::size_t most = 10'000;
    static constexpr double share = 0.01;

    void add(std::uint64_t index);
    void merge(const Sample& other);
    /// Indices in order of their hashes.
    [[nodiscard]] std::vector<std::uint64_t> indices() const;

    void pack(base::Packer& packer) const;
    void unpack(base::Unpacker& unpacker);

private:
    void trim();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries_;  ///< hash and index
};
/// Source: SplitMix64 finaliser, Steele, Lea, Flood, OOPSLA 2014.
[[nodiscard]] std::uint64_t index_hash(std::uint64_t index) noexcept;

inline constexpr int most_front_measures = 4;

/// A point of a Pareto front; every score: less is better.
struct FrontPoint {
    std::array<double, most_front_measures> scores{};  ///< those beyond the number of measures stay 0
    std::uint64_t index = 0;
    friend bool operator==(const FrontPoint&, const FrontPoint&) = default;
};

/// Points that no other one beats: equal or better in every score. Of equal points the lowest index stays.
class Front {
public:
    void add(const FrontPoint& point);
    void merge(const Front& other);
    /// By index.
    [[nodiscard]] std::vector<FrontPoint> points() const;
    [[nodiscard]] std::size_t size() const noexcept { return points_.size(); }
    /// Keeps the points with the lowest indices.
    void keep_first(std::size_t most);

    void pack(base::Packer& packer) const;
    void unpack(base::Unpacker& unpacker);

private:
    std::vector<FrontPoint> points_;
};

}  // namespace windtunnel::search
