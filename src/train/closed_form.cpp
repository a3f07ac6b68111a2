#include <algorithm>

#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

/// Forward and backward of one rank: all chunks, and the chunk that a path crosses on its way.
struct RankTime {
    double forward = 0.0, backward = 0.0;
    [[nodiscard]] double both() const noexcept { return forward + backward; }
};

RankTime all_chunks(const Pipeline& pipeline, const PipelineTimes& times, int rank) noexcept {
    RankTime sum;
    for (int chunk = 0; chunk < pipeline.num_chunks; ++chunk) {
        const ChunkTimes& one = times.chunks[static_cast<std::size_t>(chunk * pipeline.num_ranks + rank)];
        sum.forward += one.forward.value();
        sum.backward += one.backward.value();
    }
    return sum;
}

double chunk_time(const Pipeline& pipeline, const PipelineTimes& times, int chunk, int rank) noexcept {
    const ChunkTimes& one = times.chunks[static_cast<std::size_t>(chunk * pipeline.num_ranks + rank)];
    return one.forward.value() + one.backward.value();
}

/// All forwards, then all backwards, each a flow shop: sum + (m - 1) x largest.
double gpipe_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    double forward = 0.0, backward = 0.0, most_forward = 0.0, most_backward = 0.0, links = 0.0;
    for (int rank = 0; rank < pipeline.num_ranks; ++rank) {
        const RankTime time = all_chunks(pipeline, times, rank);
        forward += time.forward;
        backward += time.backward;
        most_forward = std::max(most_forward, time.forward);
        most_backward = std::max(most_backward, time.backward);
        if (rank + 1 < pipeline.num_ranks) links += times.links[static_cast<std::size_t>(rank)].value();
    }
    const auto others = static_cast<double>(pipeline.num_micro_batches - 1);
    return forward + backward + others * (most_forward + most_backward) + 2.0 * links;
}

/// One way down and up again below the transfer into `rank`: its work, that of the ranks behind, and the transfers
/// between.
double below_from(const Pipeline& pipeline, const PipelineTimes& times, int rank) noexcept {
    double sum = 0.0;
    for (int last = pipeline.num_ranks - 1; last >= rank; --last) {
        sum += all_chunks(pipeline, times, last).both();
        if (last + 1 < pipeline.num_ranks) sum += 2.0 * times.links[static_cast<std::size_t>(last)].value();
    }
    return sum;
}

// A path of 1F1B starts with forward 0 of rank 0, may stay on a rank (all its forwards and backwards), may go down to
// the last rank and back up to rank s, where the backward of a micro-batch frees the forward p - s later, and ends with
// the last backward of rank 0. Every such path is a lower bound of the makespan; these are the longest for equal
// stages.
double one_f_one_b_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const int p = pipeline.num_ranks;
    const std::int64_t m = pipeline.num_micro_batches;
    const auto count = static_cast<double>(m);
    double whole = 0.0;  // down and up once, with transfers
    for (int rank = 0; rank < p; ++rank) {
        whole += all_chunks(pipeline, times, rank).both();
        if (rank + 1 < p) whole += 2.0 * times.links[static_cast<std::size_t>(rank)].value();
    }
    double longest = 0.0, above = 0.0;  // above: ranks and links before this one
    // Below rank s, inclusive of its own work and of the links behind it, as seen from the bottom for the rest of a
    // division.
    for (int rank = 0; rank < p; ++rank) {
        const RankTime own = all_chunks(pipeline, times, rank);
        const double below = whole - above - own.both();
        const std::int64_t behind = p - 1 - rank;
        const auto n = static_cast<double>(std::min<std::int64_t>(behind, m - 1));
        // Stay on the rank; it waits for its first backward, or for its last one, or for both.
        longest = std::max(longest,
                           above + count * own.both() + std::max(0.0, below - n * std::min(own.forward, own.backward)));
        if (m - 1 > behind)
            longest = std::max(longest, above + count * own.both() + std::max(0.0, below - n * own.forward) +
                                            std::max(0.0, below - n * own.backward));
        // Round trips from this rank, the rest of the micro-batches in one shorter trip.
        const std::int64_t trips = (m - 1) / (behind + 1), rest = (m - 1) % (behind + 1);
        const double path = whole + static_cast<double>(trips) * (below + own.both());
        const double shorter = rest > 0 ? below_from(pipeline, times, p - static_cast<int>(rest)) : 0.0;
        longest = std::max(longest, path + shorter);
        above += own.both();
        if (rank + 1 < p) above += 2.0 * times.links[static_cast<std::size_t>(rank)].value();
    }
    return longest;
}

/// Each rank: all its work, the way to its first forward and from its last backward, one chunk of each rank behind it,
/// and every transfer of one micro-batch once: steady state hides the others.
double interleaved_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const int p = pipeline.num_ranks, v = pipeline.num_chunks;
    const auto count = static_cast<double>(pipeline.num_micro_batches);
    double behind = 0.0, links = 0.0;
    for (int rank = 0; rank < p; ++rank) {
        behind += chunk_time(pipeline, times, v - 1, rank);
        links += 2.0 * times.links[static_cast<std::size_t>(rank)].value();
    }
    double transfers = links * v;
    transfers -= 2.0 * times.links[static_cast<std::size_t>(p - 1)].value();
    double longest = 0.0, above = 0.0;
    for (int rank = 0; rank < p; ++rank) {
        behind -= chunk_time(pipeline, times, v - 1, rank);
        longest = std::max(longest, above + count * all_chunks(pipeline, times, rank).both() + std::max(0.0, behind));
        above += chunk_time(pipeline, times, 0, rank);
    }
    return longest + transfers;
}

/// Each rank: the way down to its first forward, the wait for its first backward beyond its warm-up, its work, and the
/// way up of its last backward beyond the W that it has left by then.
double zb_1p_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const int p = pipeline.num_ranks;
    const std::int64_t m = pipeline.num_micro_batches;
    double behind = 0.0;  // F and B of the ranks behind, with transfers
    for (int rank = 1; rank < p; ++rank) {
        const ChunkTimes& stage = times.chunks[static_cast<std::size_t>(rank)];
        behind += stage.forward.value() + stage.backward_input().value() +
                  2.0 * times.links[static_cast<std::size_t>(rank - 1)].value();
    }
    double longest = 0.0, down = 0.0, up = 0.0;
    for (int rank = 0; rank < p; ++rank) {
        const ChunkTimes& stage = times.chunks[static_cast<std::size_t>(rank)];
        const double work = (stage.forward + stage.backward).value(), forward = stage.forward.value();
        const auto warm_up = static_cast<double>(std::min<std::int64_t>(m - 1, p - 1 - rank));
        const auto left = static_cast<double>(std::min<std::int64_t>(m - 1, rank));
        longest = std::max(longest, down + std::max(0.0, behind - warm_up * forward) + static_cast<double>(m) * work +
                                        std::max(0.0, up - left * stage.backward_weight.value()));
        if (rank + 1 == p) break;
        const double link = times.links[static_cast<std::size_t>(rank)].value();
        const ChunkTimes& next = times.chunks[static_cast<std::size_t>(rank + 1)];
        behind -= next.forward.value() + next.backward_input().value() + 2.0 * link;
        down += forward + link;
        up += stage.backward_input().value() + link;
    }
    return longest;
}

double mean_link(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    double sum = 0.0;
    for (int rank = 0; rank + 1 < pipeline.num_ranks; ++rank)
        sum += times.links[static_cast<std::size_t>(rank)].value();
    return pipeline.num_ranks > 1 ? sum / (pipeline.num_ranks - 1) : 0.0;
}

/// For each micro-batch the longest of: the busiest rank; the round trip of a micro-batch over the number of them that
/// the order has on their way at once; v_min: six of the longer of F and B (means of the chunks), its pattern leaves
/// them no slack (two ranks: three of both). Then the idle slots of the order: p - 1 (zb_v), 3p - 5 or 3p - 4 (v_half),
/// 4p - 5 or 4p - 3 (v_min); a slot is the mean of F, B and W of all chunks and lasts a transfer longer.
double v_shaped_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const int p = pipeline.num_ranks;
    double busiest = 0.0, sum = 0.0, round_trip = 4.0 * (p - 1) * mean_link(pipeline, times);
    ChunkTimes mean;
    for (const ChunkTimes& chunk : times.chunks) {
        mean.forward += chunk.forward / (2.0 * p);
        mean.backward += chunk.backward / (2.0 * p);
        mean.backward_weight += chunk.backward_weight / (2.0 * p);
    }
    for (int rank = 0; rank < p; ++rank) {
        const ChunkTimes& near = times.chunks[static_cast<std::size_t>(rank)];
        const ChunkTimes& far = times.chunks[static_cast<std::size_t>(2 * p - 1 - rank)];
        const double work = (near.forward + near.backward + far.forward + far.backward).value();
        busiest = std::max(busiest, work);
        sum += work;
        round_trip += work - (near.backward_weight + far.backward_weight).value();
    }
    // Six slots a micro-batch between F and B of chunk 0 on rank 0.
    const std::int64_t slots = v_round_trip(pipeline.schedule, p);
    double each = std::max(busiest, round_trip / static_cast<double>((slots + 5) / 6));
    if (pipeline.schedule == model::PipelineSchedule::v_min) {
        const double forward = mean.forward.value(), input = mean.backward_input().value();
        each = std::max(each, p > 2 ? 6.0 * std::max(forward, input) : 3.0 * (forward + input));
    }
    const double slot = sum / (6.0 * p) + mean_link(pipeline, times);
    const int idle = pipeline.schedule == model::PipelineSchedule::zb_v     ? p - 1
                     : pipeline.schedule == model::PipelineSchedule::v_half ? 3 * p - (p % 2 == 0 ? 5 : 4)
                                                                            : 4 * p - (p % 3 == 0 ? 3 : 5);
    return static_cast<double>(pipeline.num_micro_batches) * each + idle * slot;
}

/// The busiest rank, its pairs as long as they take together, and (stages/2 - 1)(FB + B - 3W) of mean stages.
double dualpipe_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const int p = pipeline.num_ranks;
    const bool two_ends = pipeline.is_dualpipe();
    const std::int64_t each = two_ends ? pipeline.num_micro_batches / 2 : pipeline.num_micro_batches;
    double busiest = 0.0, pair = 0.0, backward = 0.0, weight = 0.0;
    for (int rank = 0; rank < p; ++rank) {
        const bool second_half = two_ends && rank >= p / 2;
        const int from_end = second_half ? p - 1 - rank : rank, outer = (two_ends ? p / 2 : p) - 1 - from_end;
        const auto stage = [&](int phase) -> const ChunkTimes& {
            return times.chunks[static_cast<std::size_t>(pipeline.stage_of(rank, second_half ? 1 - phase : phase))];
        };
        const ChunkTimes &first = stage(0), &second = stage(1);
        const std::int64_t steady = each - (two_ends ? p : 2 * p) + from_end + 1;
        const double work = (first.forward + first.backward + second.forward + second.backward).value();
        const double saved = saved_by_pair(first, second, times.rates).value(),
                     saved_back = saved_by_pair(second, first, times.rates).value();
        busiest = std::max(busiest, static_cast<double>(each) * work -
                                        static_cast<double>(outer == 0 ? steady - 1 : steady) * saved -
                                        static_cast<double>(steady + outer) * saved_back);
        pair += work - 0.5 * (saved + saved_back) - 0.5 * work;
        backward += 0.5 * (first.backward + second.backward).value();
        weight += 0.5 * (first.backward_weight + second.backward_weight).value();
    }
    const double idle = (pair + backward - 3.0 * weight) / p + 2.0 * mean_link(pipeline, times);
    return busiest + (pipeline.num_stages() / 2 - 1) * std::max(0.0, idle);
}

Seconds of_equal_loads(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    switch (pipeline.schedule) {
        case model::PipelineSchedule::gpipe:
            return Seconds{gpipe_time(pipeline, times)};
        case model::PipelineSchedule::one_f_one_b:
            return Seconds{one_f_one_b_time(pipeline, times)};
        case model::PipelineSchedule::interleaved:
            return Seconds{pipeline.num_chunks == 1 ? one_f_one_b_time(pipeline, times)
                                                    : interleaved_time(pipeline, times)};
        case model::PipelineSchedule::zb_1p:
            return Seconds{zb_1p_time(pipeline, times)};
        case model::PipelineSchedule::zb_v:
        case model::PipelineSchedule::v_half:
        case model::PipelineSchedule::v_min:
            return Seconds{v_shaped_time(pipeline, times)};
        case model::PipelineSchedule::dualpipe:
        case model::PipelineSchedule::dualpipe_v:
            return Seconds{dualpipe_time(pipeline, times)};
    }
    return Seconds{0.0};
}

/// What the pairs of a paired 1F1B or interleaved order save: each pair of the last rank, as much as a pair of the
/// stage where it saves the least.
Seconds saved_by_pairs(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    if (!pipeline.paired) return Seconds{0.0};
    Seconds least = saved_by_pair(times.chunks.front(), times.chunks.front(), times.rates);
    for (const ChunkTimes& chunk : times.chunks) least = std::min(least, saved_by_pair(chunk, chunk, times.rates));
    const std::int64_t pairs = pipeline.forwards_per_rank() - num_warm_up_forwards(pipeline, pipeline.num_ranks - 1);
    return least * static_cast<double>(std::max<std::int64_t>(0, pairs));
}

}  // namespace

Seconds closed_form_pipeline_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    const Seconds equal = of_equal_loads(pipeline, times) - saved_by_pairs(pipeline, times);
    if (times.loads.empty()) return equal;
    // A flow shop of micro-batches: sum + (p - 1) x largest, against m + p - 1 equal ones.
    double sum = 0.0, largest = 0.0;
    for (const double load : times.loads) {
        sum += load;
        largest = std::max(largest, load);
    }
    const double behind = pipeline.num_ranks - 1.0, count = static_cast<double>(pipeline.num_micro_batches);
    return equal * ((sum + behind * largest) / (count + behind));
}

}  // namespace windtunnel::train
