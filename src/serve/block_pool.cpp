#include "windtunnel/serve/block_pool.hpp"

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::serve {

BlockPool::BlockPool(std::int64_t blocks, bool cached) : total_{blocks}, free_{blocks}, cached_{cached} {
    base::expects(blocks >= 0 && (!cached || blocks < INT32_MAX), "a number of blocks");
    if (!cached) return;
    base::expects(blocks < INT32_MAX / 2, "a number of blocks that fits the queue");
    blocks_.resize(static_cast<std::size_t>(blocks));
    std::size_t capacity = 16;
    while (capacity < 2 * static_cast<std::size_t>(blocks)) capacity *= 2;
    queue_.resize(capacity);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(blocks); ++i) enter(2 * i);
}

void BlockPool::enter(std::int32_t entry) {
    const std::size_t mask = queue_.size() - 1;
    if (tail_ - head_ == queue_.size()) {  // full of void entries: keep the valid ones, in their order
        std::vector<std::int32_t> valid;
        for (std::uint64_t place = head_; place < tail_; ++place) {
            const std::int32_t old = queue_[place & mask];
            const Block& block = blocks_[static_cast<std::size_t>(old / 2)];
            if (old % 2 == 0 || (block.users == 0 && block.place == place)) valid.push_back(old);
        }
        head_ = tail_;
        for (const std::int32_t old : valid) {
            blocks_[static_cast<std::size_t>(old / 2)].place = tail_;
            queue_[tail_++ & mask] = old;
        }
    }
    queue_[tail_++ & mask] = entry;
}

void BlockPool::drop_if_unused(Segment segment) {
    SegmentBlocks& of = segments_[static_cast<std::size_t>(segment)];
    if (of.users > 0 || of.held > 0) return;
    if (of.shared) shared_.erase(of.key);
    of.shared = false;
    of.blocks.clear();
    unused_segments_.push_back(segment);
}

void BlockPool::forget(std::int32_t number) {
    Block& block = blocks_[static_cast<std::size_t>(number)];
    if (block.segment == none) return;
    const Segment segment = block.segment;
    SegmentBlocks& of = segments_[static_cast<std::size_t>(segment)];
    std::int32_t* place = &of.blocks[static_cast<std::size_t>(block.index)];
    while (*place != number) place = &blocks_[static_cast<std::size_t>(*place)].same;
    *place = block.same;
    block.same = block.segment = none;
    --of.held;
    if (of.users == 0 && of.held == 0) drop_if_unused(segment);
}

void BlockPool::take(std::int64_t count) {
    base::expects(count >= 0 && count <= free_, "blocks that are free");
    free_ -= count;
    if (!cached_) return;
    const std::size_t mask = queue_.size() - 1;
    while (count > 0) {
        const std::uint64_t place = head_++;
        const std::int32_t entry = queue_[place & mask], number = entry / 2;
        if (entry % 2 != 0) {
            Block& block = blocks_[static_cast<std::size_t>(number)];
            if (block.users > 0 || block.place != place) continue;  // hit since it was put here
            forget(number);
        }
        taken_.push_back(number);
        --count;
    }
}

std::int32_t BlockPool::claim() {
    base::expects(!taken_.empty(), "a block was taken for it");
    const std::int32_t block = taken_.back();
    taken_.pop_back();
    return block;
}

BlockPool::Segment BlockPool::open_private() {
    Segment segment = none;
    if (unused_segments_.empty()) {
        segment = static_cast<Segment>(segments_.size());
        segments_.emplace_back();
    } else {
        segment = unused_segments_.back();
        unused_segments_.pop_back();
    }
    segments_[static_cast<std::size_t>(segment)].users = 1;
    return segment;
}

BlockPool::Segment BlockPool::open(std::uint64_t key) {
    if (const auto found = shared_.find(key); found != shared_.end()) {
        ++segments_[static_cast<std::size_t>(found->second)].users;
        return found->second;
    }
    const Segment segment = open_private();
    SegmentBlocks& of = segments_[static_cast<std::size_t>(segment)];
    of.shared = true;
    of.key = key;
    shared_.emplace(key, segment);
    return segment;
}

BlockPool::Segment BlockPool::find(std::uint64_t key) const {
    const auto found = shared_.find(key);
    return found == shared_.end() ? none : found->second;
}

void BlockPool::close(Segment segment) {
    SegmentBlocks& of = segments_[static_cast<std::size_t>(segment)];
    base::expects(of.users > 0, "the segment is open");
    --of.users;
    if (of.users == 0 && !of.shared) {  // nobody will ask for it again: its blocks stay in the queue without a name
        for (std::int32_t number : of.blocks)
            while (number != none) {
                Block& block = blocks_[static_cast<std::size_t>(number)];
                number = block.same;
                block.segment = block.same = none;
            }
        of.held = 0;
    }
    drop_if_unused(segment);
}

void BlockPool::reuse(std::int32_t number) {
    if (blocks_[static_cast<std::size_t>(number)].users++ == 0) --free_;
}

void BlockPool::publish(std::int32_t number, Segment segment, std::int32_t index) {
    SegmentBlocks& of = segments_[static_cast<std::size_t>(segment)];
    const auto place = static_cast<std::size_t>(index);
    if (of.blocks.size() <= place) of.blocks.resize(place + 1, none);
    Block& block = blocks_[static_cast<std::size_t>(number)];
    if (block.segment != none) return;
    std::int32_t* last = &of.blocks[place];
    while (*last != none) last = &blocks_[static_cast<std::size_t>(*last)].same;
    *last = number;
    block.users = 1;
    ++of.held;
    block.segment = segment;
    block.index = index;
}

void BlockPool::release(std::int32_t number, bool named) {
    if (named) {
        Block& block = blocks_[static_cast<std::size_t>(number)];
        if (--block.users > 0) return;
        block.place = tail_;
    }
    ++free_;
    enter(2 * number + (named ? 1 : 0));
    if (named) blocks_[static_cast<std::size_t>(number)].place = tail_ - 1;
}

}  // namespace windtunnel::serve
