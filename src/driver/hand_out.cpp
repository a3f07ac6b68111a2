#include "windtunnel/driver/hand_out.hpp"

#include <algorithm>

namespace windtunnel::driver {
namespace {

/// A bundle is at most this part of an even share of what is left: the tail of a round stays short.
constexpr std::uint64_t bundles_of_a_share = 4;
constexpr double weight_of_the_newest = 0.1;

}  // namespace

HandOut::HandOut(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) enqueue(rank);
}

std::uint64_t HandOut::bundle(std::uint64_t remaining) const noexcept {
    if (!(block_time_ > Seconds{0.0})) return 1;
    const double lasting = std::min(bundle_time / block_time_, static_cast<double>(most_blocks_of_a_bundle));
    const std::uint64_t share = remaining / (bundles_of_a_share * ranks_.size());
    return std::max<std::uint64_t>(1, std::min(static_cast<std::uint64_t>(lasting), share));
}

void HandOut::enqueue(int rank) {
    Rank& one = ranks_[static_cast<std::size_t>(rank)];
    const Queue wanted = one.in_hand == 0 ? Queue::idle : Queue::low;
    if (one.queue == wanted) return;
    one.queue = wanted;
    (wanted == Queue::idle ? idle_ : low_).push_back(rank);
}

std::optional<HandOut::Gift> HandOut::next(std::uint64_t remaining) {
    if (remaining == 0) return std::nullopt;
    const std::uint64_t blocks = bundle(remaining);
    const auto first_of = [&](std::deque<int>& queue, Queue name, std::uint64_t most_in_hand) -> std::optional<Gift> {
        while (!queue.empty()) {
            const int rank = queue.front();
            Rank& one = ranks_[static_cast<std::size_t>(rank)];
            queue.pop_front();
            if (one.queue != name) continue;
            one.queue = Queue::none;
            if (one.in_hand <= most_in_hand) return Gift{rank, blocks};  // else done() brings it back
        }
        return std::nullopt;
    };
    if (const auto gift = first_of(idle_, Queue::idle, 0)) return gift;
    if (remaining < ranks_.size()) return std::nullopt;  // the last blocks go to whoever is free first
    return first_of(low_, Queue::low, blocks);
}

void HandOut::given(int rank, std::uint64_t blocks) {
    ranks_[static_cast<std::size_t>(rank)].in_hand += blocks;
    all_in_hand_ += blocks;
    enqueue(rank);
}

void HandOut::done(int rank, std::uint64_t blocks, Seconds worked) {
    ranks_[static_cast<std::size_t>(rank)].in_hand -= blocks;
    all_in_hand_ -= blocks;
    const Seconds each = worked / static_cast<double>(std::max<std::uint64_t>(1, blocks));
    block_time_ = block_time_ > Seconds{0.0} ? block_time_ + (each - block_time_) * weight_of_the_newest : each;
    enqueue(rank);
}

}  // namespace windtunnel::driver
