#include "windtunnel/train/split_backward.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {
namespace {

using model::PipelineSchedule;

constexpr std::int64_t period = 6;  // slots of a micro-batch: F, B and W of two chunks

/// Do the four tasks of every rank take different slots of the period? Ranks 6 apart take the same ones.
bool keeps_apart(const VPattern& pattern, int num_ranks) noexcept {
    for (int rank = 0; rank < std::min<int>(num_ranks, period); ++rank) {
        unsigned taken = 0;
        for (std::size_t way = 0; way < 4; ++way) {
            const std::int64_t slot = (pattern.start[way] + pattern.step[way] * rank) % period;
            const unsigned bit = 1U << static_cast<unsigned>((slot + period) % period);
            if ((taken & bit) != 0) return false;
            taken |= bit;
        }
    }
    return true;
}

/// Of the patterns of v_half with the same waits these phases lose least when F, B and W take different times.
bool has_half_phases(const VPattern& pattern) noexcept {
    return pattern.start[1] % period == 1 && pattern.start[2] % period == 2 && pattern.start[3] % period == 4;
}

/// The pattern that waits `waits` slots at its three turning points.
VPattern pattern_with(const std::array<std::int64_t, 4>& between, const std::array<std::int64_t, 3>& waits,
                      std::int64_t last) noexcept {
    VPattern pattern;
    pattern.step = {between[0], -between[1], between[2], -between[3]};
    pattern.start[0] = 0;
    pattern.start[1] = between[0] * last + 1 + waits[0] + between[1] * last;
    pattern.start[2] = pattern.start[1] + 1 + waits[1];
    pattern.start[3] = pattern.start[2] + between[2] * last + 1 + waits[2] + between[3] * last;
    return pattern;
}

}  // namespace

VPattern v_pattern(PipelineSchedule schedule, int num_ranks) noexcept {
    const std::array<std::int64_t, 4> between =
        schedule == PipelineSchedule::zb_v     ? std::array<std::int64_t, 4>{4, 2, 4, 2}
        : schedule == PipelineSchedule::v_half ? std::array<std::int64_t, 4>{2, 1, 2, 1}
                                               : std::array<std::int64_t, 4>{1, 1, 1, 1};
    const std::int64_t last = num_ranks - 1;
    // Without a pattern that keeps the slots apart the order would still be legal: ways go by increasing slots.
    VPattern best = pattern_with(between, {0, 0, 0}, last);
    bool found = false;
    for (std::int64_t first = 0; first < period; ++first)
        for (std::int64_t second = 0; second < period; ++second)
            for (std::int64_t third = 0; third < period; ++third) {
                const VPattern pattern = pattern_with(between, {first, second, third}, last);
                if (schedule == PipelineSchedule::v_half && !has_half_phases(pattern)) continue;
                if ((found && pattern.start[3] >= best.start[3]) || !keeps_apart(pattern, num_ranks)) continue;
                best = pattern;
                found = true;
            }
    return best;
}

std::int64_t v_round_trip(PipelineSchedule schedule, int num_ranks) noexcept {
    const std::int64_t p = num_ranks;
    if (schedule == PipelineSchedule::zb_v) return 12 * p - 9;
    if (schedule == PipelineSchedule::v_half) return p % 2 == 0 ? 6 * p + 4 : 6 * p - 2;
    return p % 3 == 0 ? 4 * p + 1 : 4 * p - 1;
}

std::int64_t v_chunks_held(PipelineSchedule schedule, int num_ranks) noexcept {
    const std::int64_t p = num_ranks;
    if (schedule == PipelineSchedule::zb_v) return 2 * p;
    if (schedule == PipelineSchedule::v_half) return p % 2 == 0 ? p + 2 : p + 1;
    return 2 * ((p + 1) / 3 + 1);
}

void SplitBackwardOrders::build(const Pipeline& pipeline) {
    base::expects(model::splits_backward(pipeline.schedule) || pipeline.paired, "the schedule is kept as lists");
    tasks_.clear();
    first_.assign(1, 0);
    if (pipeline.paired)
        build_paired(pipeline);
    else if (pipeline.schedule == PipelineSchedule::zb_1p)
        build_zb_1p(pipeline);
    else if (pipeline.schedule == PipelineSchedule::dualpipe || pipeline.schedule == PipelineSchedule::dualpipe_v)
        build_dualpipe(pipeline);
    else
        build_v_shaped(pipeline);
}

void SplitBackwardOrders::build_paired(const Pipeline& pipeline) {
    for (int rank = 0; rank < pipeline.num_ranks; ++rank) {
        for (std::int64_t position = 0; position < pipeline.tasks_per_rank(); ++position)
            tasks_.push_back(scheduled_task(pipeline, rank, position));
        first_.push_back(tasks_.size());
    }
}

void SplitBackwardOrders::build_zb_1p(const Pipeline& pipeline) {
    const std::int64_t m = pipeline.num_micro_batches;
    for (int rank = 0; rank < pipeline.num_ranks; ++rank) {
        const std::int64_t warm_up = std::min<std::int64_t>(m, pipeline.num_ranks - 1 - rank);
        for (std::int64_t i = 0; i < warm_up; ++i) tasks_.push_back({TaskKind::forward, false, 0, i});
        for (std::int64_t i = 0; i < m; ++i) {
            if (warm_up + i < m) tasks_.push_back({TaskKind::forward, false, 0, warm_up + i});
            tasks_.push_back({TaskKind::backward_input, false, 0, i});
            if (i >= rank) tasks_.push_back({TaskKind::backward_weight, false, 0, i - rank});
        }
        for (std::int64_t i = std::max<std::int64_t>(0, m - rank); i < m; ++i)
            tasks_.push_back({TaskKind::backward_weight, false, 0, i});
        first_.push_back(tasks_.size());
    }
}

namespace {

/// One rank of a V-shaped pipeline while its order is made, slot by slot.
struct VRank {
    std::array<std::int64_t, 4> next_slot{};  ///< of the next micro-batch on each way
    std::array<std::int64_t, 4> done{};       ///< micro-batches done on each way
    std::int64_t num_weights = 0;             ///< W done
    std::int64_t num_tasks = 0;
    /// The way of the next F or B: the one with the least slot.
    [[nodiscard]] std::size_t next_way(std::int64_t m) const noexcept {
        std::size_t best = 4;
        for (std::size_t way = 0; way < 4; ++way)
            if (done[way] < m && (best == 4 || next_slot[way] < next_slot[best])) best = way;
        return best;
    }
    [[nodiscard]] std::int64_t held() const noexcept { return done[0] + done[1] - num_weights; }
    [[nodiscard]] std::int64_t num_backwards() const noexcept { return done[2] + done[3]; }
};

constexpr std::array<int, 4> chunk_of_way{0, 1, 1, 0};

}  // namespace

// All ranks advance together, one slot at a time, every task taking one slot. W of a rank follow the order of its B.
void SplitBackwardOrders::build_v_shaped(const Pipeline& pipeline) {
    const int p = pipeline.num_ranks;
    const std::int64_t m = pipeline.num_micro_batches, tasks_per_rank = period * m;
    const std::int64_t most_held = v_chunks_held(pipeline.schedule, p);
    const VPattern pattern = v_pattern(pipeline.schedule, p);
    const auto start_of = [tasks_per_rank](std::int64_t rank) {
        return static_cast<std::size_t>(rank * tasks_per_rank);
    };
    tasks_.resize(start_of(p));
    for (int rank = 0; rank < p; ++rank) first_.push_back(start_of(rank + 1));
    std::vector<VRank> ranks(static_cast<std::size_t>(p));
    for (int rank = 0; rank < p; ++rank)
        for (std::size_t way = 0; way < 4; ++way)
            ranks[static_cast<std::size_t>(rank)].next_slot[way] = pattern.start[way] + pattern.step[way] * rank;
    // Chunks in the order of their B, of which the W are the next to run.
    std::vector<char> backward_chunks(static_cast<std::size_t>(p) * static_cast<std::size_t>(2 * m));
    const auto chunk_at = [&backward_chunks, m](int rank, std::int64_t number) -> char& {
        return backward_chunks[static_cast<std::size_t>(rank * 2 * m + number)];
    };
    std::vector<std::array<std::int64_t, 2>> weights(static_cast<std::size_t>(p));

    // Has the task before on the way of a micro-batch ended by now? `before`: the ranks as they were at this slot.
    std::vector<std::array<std::int64_t, 4>> before(static_cast<std::size_t>(p));
    const auto is_ready = [&](int rank, std::size_t way, std::int64_t micro_batch) {
        const auto done = [&](int other, std::size_t other_way) {
            return before[static_cast<std::size_t>(other)][other_way] > micro_batch;
        };
        switch (way) {
            case 0:
                return rank == 0 || done(rank - 1, 0);
            case 1:
                return rank == p - 1 ? done(rank, 0) : done(rank + 1, 1);
            case 2:
                return rank == 0 ? done(rank, 1) : done(rank - 1, 2);
            default:
                return rank == p - 1 ? done(rank, 2) : done(rank + 1, 3);
        }
    };
    std::int64_t num_open = p;
    while (num_open > 0) {
        for (int rank = 0; rank < p; ++rank)
            before[static_cast<std::size_t>(rank)] = ranks[static_cast<std::size_t>(rank)].done;
        bool any = false;
        for (int rank = 0; rank < p; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            VRank& state = ranks[r];
            if (state.num_tasks == tasks_per_rank) continue;
            ScheduledTask& task = tasks_[start_of(rank) + static_cast<std::size_t>(state.num_tasks)];
            const std::size_t way = state.next_way(m);
            const bool is_forward = way < 2;
            if (way < 4 && (!is_forward || state.held() < most_held) && is_ready(rank, way, state.done[way])) {
                task = {is_forward ? TaskKind::forward : TaskKind::backward_input, false, chunk_of_way[way],
                        state.done[way]};
                if (!is_forward) chunk_at(rank, state.num_backwards()) = static_cast<char>(chunk_of_way[way]);
                ++state.done[way];
                state.next_slot[way] += period;
            } else if (state.num_weights < state.num_backwards()) {
                const int chunk = chunk_at(rank, state.num_weights++);
                task = {TaskKind::backward_weight, false, chunk, weights[r][static_cast<std::size_t>(chunk)]++};
            } else {
                continue;
            }
            any = true;
            if (++state.num_tasks == tasks_per_rank) --num_open;
        }
        base::ensures(any, "a V pattern never waits for itself");
        if (!any) break;
    }
}

namespace {

/// Appends the tasks of one rank of DualPipe. Chunks by phase: the near direction is 0 on the first half of the ranks
/// and 1 on the second half (dualpipe); the first chunk is 0 (dualpipe_v).
class DualRank {
public:
    DualRank(std::vector<ScheduledTask>& tasks, bool swapped, std::int64_t second_first)
        : tasks_{tasks}, swapped_{swapped}, first_{0, second_first} {}

    void forward(int phase) { add(TaskKind::forward, false, phase, forwards_); }
    void backward(int phase, bool split) {
        if (split) waiting_.push_back(next(phase, backwards_));
        add(split ? TaskKind::backward_input : TaskKind::backward, false, phase, backwards_);
    }
    void pair(int forward_phase, int backward_phase) {
        add(TaskKind::forward, true, forward_phase, forwards_);
        add(TaskKind::backward, false, backward_phase, backwards_);
    }
    void weight() {
        ScheduledTask task = waiting_[num_weights_++];
        task.kind = TaskKind::backward_weight;
        tasks_.push_back(task);
    }

private:
    using Counts = std::array<std::int64_t, 2>;
    [[nodiscard]] int chunk(int phase) const noexcept { return swapped_ ? 1 - phase : phase; }
    [[nodiscard]] ScheduledTask next(int phase, const Counts& counts) const noexcept {
        const int c = chunk(phase);
        return {TaskKind::forward, false, c, first_[static_cast<std::size_t>(c)] + counts[static_cast<std::size_t>(c)]};
    }
    void add(TaskKind kind, bool with_next, int phase, Counts& counts) {
        ScheduledTask task = next(phase, counts);
        task.kind = kind;
        task.with_next = with_next;
        tasks_.push_back(task);
        ++counts[static_cast<std::size_t>(chunk(phase))];
    }

    std::vector<ScheduledTask>& tasks_;
    bool swapped_;
    Counts first_;  ///< first micro-batch of each chunk
    Counts forwards_{}, backwards_{};
    std::vector<ScheduledTask> waiting_;  ///< whose W has yet to run
    std::size_t num_weights_ = 0;
};

}  // namespace

// `outer`: ranks between this one and the turning point (the middle of dualpipe, the last rank of dualpipe_v).
void SplitBackwardOrders::build_dualpipe(const Pipeline& pipeline) {
    const int p = pipeline.num_ranks;
    const bool two_ends = pipeline.is_dualpipe();
    const std::int64_t each = two_ends ? pipeline.num_micro_batches / 2 : pipeline.num_micro_batches;
    for (int rank = 0; rank < p; ++rank) {
        const bool second_half = two_ends && rank >= p / 2;
        const int from_end = second_half ? p - 1 - rank : rank;
        const int outer = (two_ends ? p / 2 : p) - 1 - from_end, inner = from_end + 1;
        DualRank order{tasks_, second_half, two_ends ? each : 0};
        for (int i = 0; i < 2 * outer; ++i) order.forward(0);
        for (int i = 0; i < inner; ++i) {
            order.forward(0);
            order.forward(1);
        }
        for (int i = 0; i < outer; ++i) {
            order.backward(1, true);
            order.weight();
            order.forward(1);
        }
        const std::int64_t steady = each - (two_ends ? p : 2 * p) + inner;
        for (std::int64_t i = 0; i < steady; ++i) {
            if (i == 0 && outer == 0) {  // the turning point's first backward waits for a forward just ended
                order.forward(0);
                order.backward(1, false);
            } else {
                order.pair(0, 1);
            }
            order.pair(1, 0);
        }
        for (int i = 0; i < outer; ++i) {
            order.backward(1, false);
            order.pair(1, 0);
        }
        // The second half of the closing backwards leaves its W for the gaps behind.
        const int half = inner / 2;
        for (int i = 0; i < inner; ++i) {
            order.backward(1, i > half || (i == half && inner % 2 == 0));
            order.backward(0, i >= half);
        }
        for (int i = 0; i < outer; ++i) {
            order.weight();
            order.backward(0, true);
        }
        for (int i = 0; i < inner; ++i) order.weight();
        first_.push_back(tasks_.size());
    }
}

const HeldChunksTable::Entry& HeldChunksTable::entry(const Pipeline& pipeline) {
    Pipeline part = pipeline;
    const std::int64_t enough = enough_micro_batches(pipeline);
    part.num_micro_batches = std::min(pipeline.num_micro_batches, enough);
    const auto is_it = [&part](const Entry& e) {
        return e.schedule == part.schedule && e.num_ranks == part.num_ranks &&
               e.num_micro_batches == part.num_micro_batches;
    };
    if (last_ < entries_.size() && is_it(entries_[last_])) return entries_[last_];
    const auto known = std::find_if(entries_.begin(), entries_.end(), is_it);
    last_ = static_cast<std::size_t>(known - entries_.begin());
    if (known != entries_.end()) return *known;

    orders_.build(part);
    Entry made{part.schedule, part.num_ranks, part.num_micro_batches, {}, {0}};
    std::vector<std::int64_t> most;  // of chunk 1, by the number of chunk 0 held
    for (int rank = 0; rank < part.num_ranks; ++rank) {
        most.assign(1, 0);
        HeldChunks now;
        for (const ScheduledTask& task : orders_.of_rank(rank)) {
            const auto chunk = static_cast<std::size_t>(task.chunk);
            if (task.kind == TaskKind::forward) ++now.of[chunk];
            if (task.kind == TaskKind::backward || task.kind == TaskKind::backward_weight) --now.of[chunk];
            if (task.kind != TaskKind::forward) continue;
            const auto first = static_cast<std::size_t>(now.of[0]);
            if (first >= most.size()) most.resize(first + 1, -1);
            most[first] = std::max(most[first], now.of[1]);
        }
        std::int64_t beyond = -1;  // most of chunk 1 with more of chunk 0
        for (std::size_t first = most.size(); first-- > 0;) {
            if (most[first] <= beyond) continue;
            beyond = most[first];
            made.moments.push_back({{static_cast<std::int64_t>(first), most[first]}});
        }
        made.first.push_back(made.moments.size());
    }
    entries_.push_back(std::move(made));
    return entries_.back();
}

HeldChunksTable::Moments HeldChunksTable::fullest(const Pipeline& pipeline) {
    const Entry& e = entry(pipeline);
    return {e.moments, e.first};
}

}  // namespace windtunnel::train
