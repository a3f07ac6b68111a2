#pragma once
/// Who gets the next blocks. A value without MPI, so that the ranks of a run and those of a dry run obey the same code.
///
/// A rank has one bundle of blocks in work and one in hand. A bundle is as many blocks as last about `bundle_time`, so
/// that rank 0 sees few messages however short a block is; near the end of a round it is one block, and nobody has one
/// in hand. What a rank gets decides when a block is computed, never what comes out of it.
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::driver {

inline constexpr Seconds bundle_time{0.02};
inline constexpr std::uint64_t most_blocks_of_a_bundle = 1024;

class HandOut {
public:
    explicit HandOut(int ranks);

    struct Gift {
        int rank = 0;
        std::uint64_t blocks = 1;  ///< at most
    };
    /// The next rank to be served; empty: nobody gets more now. Answer each gift with given().
    [[nodiscard]] std::optional<Gift> next(std::uint64_t remaining);
    /// How many blocks the rank really got; 0: there were none now.
    void given(int rank, std::uint64_t blocks);
    /// `worked`: the time that the rank itself needed for them; waiting at rank 0 is no part of it.
    void done(int rank, std::uint64_t blocks, Seconds worked);
    [[nodiscard]] std::uint64_t in_hand() const noexcept { return all_in_hand_; }

private:
    [[nodiscard]] std::uint64_t bundle(std::uint64_t remaining) const noexcept;
    void enqueue(int rank);

    enum class Queue : std::uint8_t { none, idle, low };
    struct Rank {
        std::uint64_t in_hand = 0;
        Queue queue = Queue::none;  ///< entries of another queue are stale
    };
    std::vector<Rank> ranks_;
    std::deque<int> idle_, low_;  ///< nothing in hand; perhaps no more than one bundle in hand
    std::uint64_t all_in_hand_ = 0;
    Seconds block_time_;  ///< of the blocks that came back; 0: none yet
};

}  // namespace windtunnel::driver
