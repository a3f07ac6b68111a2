#pragma once
/// The KV blocks of a rank: whole blocks, a queue of free ones with the least recently used in front, and, with a
/// prefix cache, what every block holds.
///
/// Model:   a block keeps its content after it is freed, until it is taken again; a hit takes it out of the queue.
///          Content is named by a segment (a shared prompt, a session, a block of a trace, the request itself) and a
///          place in it, which stands for the chain of hashes of an engine: equal names, equal tokens up to there.
///          Taken blocks get their numbers when somebody asks: which of the taken blocks a sequence has changes
///          nothing.
/// Inputs:  number of usable blocks (the engine's null block is no one of them), cached or counted only.
/// Limits:  equal content has equal names only where the load says so.
/// Source:  vLLM V1 block pool (documented behaviour); the naming is derived here.
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace windtunnel::serve {

class BlockPool {
public:
    using Segment = std::int32_t;
    static constexpr std::int32_t none = -1;

    BlockPool(std::int64_t blocks, bool cached);

    [[nodiscard]] std::int64_t free() const noexcept { return free_; }
    [[nodiscard]] std::int64_t total() const noexcept { return total_; }
    [[nodiscard]] bool cached() const noexcept { return cached_; }

    /// `count` of the least recently used free blocks; needs count <= free().
    void take(std::int64_t count);
    /// Without a cache: blocks come back as a number.
    void give_back(std::int64_t count) noexcept { free_ += count; }

    /// With a cache. The number of one taken block.
    [[nodiscard]] std::int32_t claim();
    /// The segment of shared content, made at first use; stays while it is used or holds blocks.
    [[nodiscard]] Segment open(std::uint64_t key);
    [[nodiscard]] Segment open_private();
    void close(Segment segment);
    /// Segment of shared content if any block or user keeps it, else none.
    [[nodiscard]] Segment find(std::uint64_t key) const;
    /// Number of the block that holds this content, or none.
    [[nodiscard]] std::int32_t at(Segment segment, std::int32_t index) const noexcept {
        const auto& blocks = segments_[static_cast<std::size_t>(segment)].blocks;
        return static_cast<std::size_t>(index) < blocks.size() ? blocks[static_cast<std::size_t>(index)] : none;
    }
    /// Of a block with a name.
    [[nodiscard]] bool is_free(std::int32_t block) const noexcept {
        return blocks_[static_cast<std::size_t>(block)].users == 0;
    }
    void reuse(std::int32_t block);
    /// The block holds this content from now on, behind others that do.
    void publish(std::int32_t block, Segment segment, std::int32_t index);
    /// One user less; without users it goes behind all free ones. `named`: publish() was called for it.
    void release(std::int32_t block, bool named);

private:
    /// What is known of a block with a name; the others have one user and need none of it.
    struct Block {
        Segment segment = none;
        std::int32_t index = 0;
        std::int32_t users = 0;
        std::int32_t same = none;  ///< the next block with the same content
        std::uint64_t place = 0;   ///< of its entry in the queue
    };
    struct SegmentBlocks {
        std::vector<std::int32_t> blocks;
        std::uint64_t key = 0;
        std::int32_t held = 0;  ///< entries that are not none
        std::int32_t users = 0;
        bool shared = false;
    };
    void enter(std::int32_t entry);
    void forget(std::int32_t number);
    void drop_if_unused(Segment segment);

    std::int64_t total_, free_;
    bool cached_;
    std::vector<Block> blocks_;
    /// Free blocks from the oldest on, as number x 2 + named; an entry of a block that was hit since is void. A queue
    /// in one piece of memory: its ends are all that is touched.
    std::vector<std::int32_t> queue_;
    std::uint64_t head_ = 0, tail_ = 0;  ///< entries ever taken out and put in; the queue is a ring
    std::vector<std::int32_t> taken_;    ///< without an owner yet
    std::vector<SegmentBlocks> segments_;
    std::vector<Segment> unused_segments_;
    std::unordered_map<std::uint64_t, Segment> shared_;
};

}  // namespace windtunnel::serve
