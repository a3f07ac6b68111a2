#pragma once
/// The next one of many due times, in a tree of winners: the time of one may be set anew in logarithmic time.
///
/// Model:   complete binary tree; of equal times the one with the smaller number wins.
/// Source:  Knuth, The Art of Computer Programming, volume 3, section 5.4.1.
#include <cstdint>
#include <vector>

#include "windtunnel/serve/moment.hpp"

namespace windtunnel::serve {

class DueTimes {
public:
    explicit DueTimes(std::size_t count) {
        while (leaves_ < count) leaves_ *= 2;
        times_.assign(leaves_, never);
        winner_.resize(2 * leaves_);
        for (std::size_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = static_cast<std::uint32_t>(i);
        for (std::size_t node = leaves_ - 1; node > 0; --node) winner_[node] = winner_[2 * node];
    }
    void set(std::size_t number, std::int64_t time_ns) noexcept {
        if (times_[number] == time_ns) return;
        times_[number] = time_ns;
        for (std::size_t node = (leaves_ + number) / 2; node > 0; node /= 2) {
            const std::uint32_t a = winner_[2 * node], b = winner_[2 * node + 1];
            winner_[node] = times_[b] < times_[a] ? b : a;
        }
    }
    [[nodiscard]] std::size_t next() const noexcept { return winner_[1]; }
    [[nodiscard]] std::int64_t next_ns() const noexcept { return times_[winner_[1]]; }

private:
    std::size_t leaves_ = 1;
    std::vector<std::int64_t> times_;
    std::vector<std::uint32_t> winner_;  ///< from node 1; leaves behind the inner nodes
};

}  // namespace windtunnel::serve
