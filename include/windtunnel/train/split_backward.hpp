#pragma once
/// Orders of the schedules that split the backward pass into B, the gradient of the inputs, on which the rank before
/// waits, and W, the gradient of the weights, on which nothing waits and which fills gaps.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "windtunnel/train/schedule.hpp"

namespace windtunnel::train {

/// Task lists of all ranks of a pipeline; keeps its memory between them.
///
/// Model:   zb_1p: F and B as in 1F1B; rank s runs W of micro-batch i after B of micro-batch i + s, so every rank holds
///          at most p micro-batches.
///          zb_v, v_half, v_min: micro-batch j repeats the pattern of micro-batch 0 six slots later; one F, B or W of a
///          chunk takes a slot. The pattern is given by the slots between neighbours on the four ways F of chunk 0, F
///          of chunk 1, B of chunk 1, B of chunk 0: (4, 2, 4, 2), (2, 1, 2, 1), (1, 1, 1, 1); turning points wait the
///          least slots that keep the four tasks of every rank apart. F and B keep the pattern's order and run as early
///          as they can; W runs where they have to wait, or where the chunks held have reached v_chunks_held().
///          dualpipe, dualpipe_v: the eight phases of the published schedule; an F and a B of opposite directions
///          (chunks) run as one pair in the steady phase.
/// Limits:  the V orders are made for F = B = W and stay as they are for other durations.
/// Source:  Qi et al., Zero Bubble Pipeline Parallelism, 2023 (ZB-H1, ZB-V); Qi et al., Pipeline Parallelism with
///          Controllable Memory, 2024 (V-Half, V-Min); DeepSeek-V3 technical report, 2024, and the DualPipe README.
class SplitBackwardOrders {
public:
    /// Expects model::splits_backward(pipeline.schedule), or pairs of forward and backward (Pipeline::paired), and the
    /// rules of model/layout_rules.hpp.
    void build(const Pipeline& pipeline);
    [[nodiscard]] std::size_t num_tasks() const noexcept { return tasks_.size(); }  ///< of all ranks
    [[nodiscard]] std::span<const ScheduledTask> of_rank(int rank) const noexcept {
        const auto r = static_cast<std::size_t>(rank);
        return {tasks_.data() + first_[r], first_[r + 1] - first_[r]};
    }

private:
    void build_paired(const Pipeline& pipeline);
    void build_zb_1p(const Pipeline& pipeline);
    void build_v_shaped(const Pipeline& pipeline);
    void build_dualpipe(const Pipeline& pipeline);

    std::vector<ScheduledTask> tasks_;
    std::vector<std::size_t> first_;  ///< of each rank, one entry more at the end
};

/// Slots of F of chunk 0, F of chunk 1, B of chunk 1, B of chunk 0 of micro-batch 0: start + step x rank.
struct VPattern {
    std::array<std::int64_t, 4> start{}, step{};
};
[[nodiscard]] VPattern v_pattern(model::PipelineSchedule schedule, int num_ranks) noexcept;

/// Slots from F to B of chunk 0 on rank 0, v_pattern().start[3], in O(1): 12p, 6p or 4p and a few.
[[nodiscard]] std::int64_t v_round_trip(model::PipelineSchedule schedule, int num_ranks) noexcept;

/// Most chunks whose F has run and whose W has not, on any rank: 2p for zb_v (as much as 1F1B), p + 1 or p + 2 for
/// v_half, about 2p/3 for v_min.
[[nodiscard]] std::int64_t v_chunks_held(model::PipelineSchedule schedule, int num_ranks) noexcept;

/// Micro-batches of chunk 0 and of chunk 1 that a rank holds at once. A micro-batch is held from its F to its W: the
/// inputs of the weight gradients stay with the activations until then.
struct HeldChunks {
    std::array<std::int64_t, 2> of{};
    friend bool operator==(const HeldChunks&, const HeldChunks&) = default;
};

/// The fullest moments of each rank, counted from the orders themselves: of all pairs (chunk 0, chunk 1), those that no
/// other pair exceeds in both. Made once for a schedule, p and m, and kept.
class HeldChunksTable {
public:
    struct Moments {
        std::span<const HeldChunks> all;
        std::span<const std::size_t> first;  ///< of each rank, one entry more at the end
        [[nodiscard]] std::span<const HeldChunks> of_rank(int rank) const noexcept {
            const auto r = static_cast<std::size_t>(rank);
            return all.subspan(first[r], first[r + 1] - first[r]);
        }
    };
    /// Fullest moments of all ranks, at least one each. Valid until the next call.
    [[nodiscard]] Moments fullest(const Pipeline& pipeline);

    /// No longer step holds more than one of so many micro-batches.
    [[nodiscard]] static std::int64_t enough_micro_batches(const Pipeline& pipeline) noexcept {
        return std::int64_t{4} * pipeline.num_ranks;
    }

private:
    struct Entry {
        model::PipelineSchedule schedule{};
        int num_ranks = 0;
        std::int64_t num_micro_batches = 0;
        std::vector<HeldChunks> moments;
        std::vector<std::size_t> first;  ///< of each rank in moments, one entry more at the end
    };
    [[nodiscard]] const Entry& entry(const Pipeline& pipeline);

    std::vector<Entry> entries_;
    std::size_t last_ = 0;
    SplitBackwardOrders orders_;
};

}  // namespace windtunnel::train
