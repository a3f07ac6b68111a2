#pragma once
/// One path of a Markov chain: waits and moves.
/// Model:   exponential holding times, one block of random bits for each event: a word for the time, one for the
/// choice.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "windtunnel/avail/state_table.hpp"
#include "windtunnel/base/philox.hpp"

namespace windtunnel::avail {

/// Two words for each event. Blocks are made several at a time, because they do not depend on one another.
class EventWords {
public:
    explicit EventWords(const base::RandomStream& stream) noexcept : stream_{stream} {}

    [[nodiscard]] const std::array<std::uint64_t, 2>& next() noexcept {
        if (at_ == filled_) fill();
        return blocks_[at_++];
    }

private:
    void fill() noexcept {
        filled_ = std::min(most_ahead, number_ + 1);  // a short path takes few
        for (std::uint32_t i = 0; i < filled_; ++i) blocks_[i] = stream_.block(number_ + i);
        number_ += filled_;
        at_ = 0;
    }
    static constexpr std::uint32_t most_ahead = 8;
    base::RandomStream stream_;
    std::array<std::array<std::uint64_t, 2>, most_ahead> blocks_{};
    std::uint32_t at_ = 0, filled_ = 0, number_ = 0;
};

class MarkovPath {
public:
    MarkovPath(StateTable& table, const base::RandomStream& stream, std::uint32_t start) noexcept
        : table_{table}, words_{stream}, state_{start} {}

    [[nodiscard]] std::uint32_t state() const noexcept { return state_; }
    /// Draws how long the state lasts; infinite: for ever.
    [[nodiscard]] double wait() {
        row_ = &table_.row(state_);
        const auto& words = words_.next();
        choice_ = words[1];
        return -std::log(base::open_uniform(words[0])) * row_->mean_time;
    }
    /// Leaves the state after a finite wait.
    void move() noexcept { state_ = table_.next(*row_, choice_); }

private:
    StateTable& table_;
    EventWords words_;
    const StateTable::Row* row_ = nullptr;
    std::uint64_t choice_ = 0;
    std::uint32_t state_;
};

}  // namespace windtunnel::avail
