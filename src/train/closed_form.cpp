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

}  // namespace

Seconds closed_form_pipeline_time(const Pipeline& pipeline, const PipelineTimes& times) noexcept {
    switch (pipeline.schedule) {
        case model::PipelineSchedule::gpipe:
            return Seconds{gpipe_time(pipeline, times)};
        case model::PipelineSchedule::one_f_one_b:
            return Seconds{one_f_one_b_time(pipeline, times)};
        case model::PipelineSchedule::interleaved:
            return Seconds{pipeline.num_chunks == 1 ? one_f_one_b_time(pipeline, times)
                                                    : interleaved_time(pipeline, times)};
    }
    return Seconds{0.0};
}

}  // namespace windtunnel::train
