#include "windtunnel/driver/any_study.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::driver {

study::ItemRange block_items(const study::Round& round, std::uint64_t block) noexcept {
    base::expects(block < round.num_blocks(), "the block belongs to the round");
    const std::uint64_t before = block * round.items_per_block;
    const std::uint64_t count = std::min(round.items_per_block, round.num_items - before);
    return {round.first_item + before, round.first_item + before + count};
}

std::uint64_t num_slices(const study::Round& round, std::uint64_t block) noexcept {
    const study::ItemRange items = block_items(round, block);
    return (items.end - items.begin - 1) / round.items_per_slice + 1;
}

study::ItemRange slice_items(const study::Round& round, std::uint64_t block, std::uint64_t slice) noexcept {
    const study::ItemRange items = block_items(round, block);
    const std::uint64_t begin = items.begin + slice * round.items_per_slice;
    return {begin, begin + std::min(round.items_per_slice, items.end - begin)};
}

}  // namespace windtunnel::driver
