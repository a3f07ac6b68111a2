#include "windtunnel/train/pipeline_run.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {

// Numbers instead of (chunk, micro-batch): forward n of rank r feeds forward n of rank r + 1, and forward n + p of rank
// 0 after the last rank; backwards likewise the other way round. Forward n of the last chunk (slot (v - 1) p + i of its
// group) frees backward n - (v - 1) p of the same rank.
void PipelineRunner::run_all(const Pipeline& pipeline, const PipelineTimes& times) {
    const int p = pipeline.num_ranks, v = pipeline.num_chunks;
    const std::int64_t forwards = pipeline.forwards_per_rank();
    const std::int64_t group = std::int64_t{p} * v, last_slot = std::int64_t{p} * (v - 1);
    const auto at = [forwards](int rank, std::int64_t number) {
        return static_cast<std::size_t>(rank * forwards + number);
    };
    const auto table_size = static_cast<std::size_t>(p * forwards);
    forward_ready_.assign(table_size, -1.0);
    backward_ready_.assign(table_size, -1.0);
    std::fill_n(forward_ready_.begin(), v == 1 ? forwards : std::min<std::int64_t>(p, forwards), 0.0);
    for (std::int64_t first = group; v > 1 && first < forwards; first += group)
        std::fill_n(forward_ready_.begin() + first, p, 0.0);
    chunk_of_slot_.resize(static_cast<std::size_t>(group));
    for (std::int64_t slot = 0; slot < group; ++slot)
        chunk_of_slot_[static_cast<std::size_t>(slot)] = v == 1 ? 0 : static_cast<int>(slot / p);

    done_.assign(static_cast<std::size_t>(p), 0);
    queued_.assign(static_cast<std::size_t>(p), 1);
    result_.rank_end.assign(static_cast<std::size_t>(p), Seconds{0.0});
    result_.rank_busy.assign(static_cast<std::size_t>(p), Seconds{0.0});
    queue_.clear();
    for (int rank = p - 1; rank >= 0; --rank) queue_.push_back(rank);

    const auto wake = [this](int rank) {
        if (queued_[static_cast<std::size_t>(rank)] == 0) {
            queued_[static_cast<std::size_t>(rank)] = 1;
            queue_.push_back(rank);
        }
    };
    std::int64_t all_done = 0;
    while (!queue_.empty()) {
        const int rank = queue_.back();
        const auto r = static_cast<std::size_t>(rank);
        queue_.pop_back();
        queued_[r] = 0;
        const std::int64_t warm_up = num_warm_up_forwards(pipeline, rank), alternating = 2 * forwards - warm_up;
        std::int64_t position = done_[r];
        double time = result_.rank_end[r].value(), busy = result_.rank_busy[r].value();
        const int next_rank = rank + 1 == p ? 0 : rank + 1, previous_rank = rank == 0 ? p - 1 : rank - 1;
        const double link_out = times.links[r].value();
        const double link_back = times.links[static_cast<std::size_t>(previous_rank)].value();
        bool fed_next = false, fed_previous = false;
        for (; position < 2 * forwards; ++position) {
            const bool forward = position < warm_up || (position < alternating && (position - warm_up) % 2 == 0);
            const std::int64_t number = position < warm_up       ? position
                                        : position < alternating ? (position - warm_up) / 2 + (forward ? warm_up : 0)
                                                                 : position - forwards;
            const double ready = (forward ? forward_ready_ : backward_ready_)[at(rank, number)];
            if (ready < 0.0) break;
            const std::int64_t slot = v == 1 ? 0 : number % group;
            const int order = chunk_of_slot_[static_cast<std::size_t>(slot)];
            const int chunk = forward ? order : v - 1 - order;
            const ChunkTimes& chunk_times = times.chunks[static_cast<std::size_t>(chunk * p + rank)];
            const double duration = (forward ? chunk_times.forward : chunk_times.backward).value();
            time = std::max(time, ready) + duration;
            busy += duration;
            if (forward) {
                if (rank + 1 < p) {
                    forward_ready_[at(next_rank, number)] = time + link_out;
                    fed_next = true;
                } else if (v > 1 && slot < last_slot) {
                    forward_ready_[at(0, number + p)] = time + link_out;
                    fed_next = true;
                } else {
                    backward_ready_[at(rank, number - last_slot)] = time;
                }
            } else if (rank > 0) {
                backward_ready_[at(previous_rank, number)] = time + link_back;
                fed_previous = true;
            } else if (v > 1 && slot < last_slot) {
                backward_ready_[at(p - 1, number + p)] = time + link_back;
                fed_previous = true;
            }
        }
        all_done += position - done_[r];
        done_[r] = position;
        result_.rank_end[r] = Seconds{time};
        result_.rank_busy[r] = Seconds{busy};
        if (fed_next) wake(next_rank);
        if (fed_previous) wake(previous_rank);
    }
    base::ensures(all_done == p * 2 * forwards, "no schedule of ours deadlocks");
    result_.makespan = *std::max_element(result_.rank_end.begin(), result_.rank_end.end());
}

const PipelineRun& PipelineRunner::run(const Pipeline& pipeline, const PipelineTimes& times) {
    base::expects(times.chunks.size() ==
                      static_cast<std::size_t>(pipeline.num_ranks) * static_cast<std::size_t>(pipeline.num_chunks),
                  "one duration a chunk");
    base::expects(times.links.size() == static_cast<std::size_t>(pipeline.num_ranks), "one link a rank");
    const std::int64_t p = pipeline.num_ranks, m = pipeline.num_micro_batches;
    const std::int64_t tasks_per_micro_batch = 2 * p * pipeline.num_chunks;
    const std::int64_t groups = most_tasks_ / tasks_per_micro_batch / p;  // of p micro-batches, that may run
    result_.extrapolated = m > tasks_per_micro_batch && m / p > std::max<std::int64_t>(groups, 4);
    if (!result_.extrapolated) {
        run_all(pipeline, times);
        return result_;
    }
    // Both runs keep m modulo p, so a group that is not full weighs the same in each.
    const std::int64_t period = p * (std::max<std::int64_t>(groups, 4) / 2);
    const std::int64_t longer = m % p + 2 * period, shorter = longer - period;
    Pipeline part = pipeline;
    part.num_micro_batches = shorter;
    run_all(part, times);
    const PipelineRun first = result_;
    part.num_micro_batches = longer;
    run_all(part, times);
    const double more = static_cast<double>(m - longer) / static_cast<double>(period);
    const auto continued = [more](Seconds from, Seconds to) { return to + (to - from) * more; };
    for (std::size_t rank = 0; rank < result_.rank_end.size(); ++rank) {
        result_.rank_end[rank] = continued(first.rank_end[rank], result_.rank_end[rank]);
        result_.rank_busy[rank] = continued(first.rank_busy[rank], result_.rank_busy[rank]);
    }
    result_.makespan = *std::max_element(result_.rank_end.begin(), result_.rank_end.end());
    result_.extrapolated = true;
    return result_;
}

void pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times, TaskGraph& graph) {
    const int p = pipeline.num_ranks, v = pipeline.num_chunks;
    const std::int64_t m = pipeline.num_micro_batches;
    base::expects(graph.num_streams() == static_cast<std::uint32_t>(p), "one stream a rank");
    graph.clear();
    // Tasks of (direction, global chunk, micro-batch).
    const auto num_chunks = static_cast<std::int64_t>(p) * v;
    std::vector<TaskIndex> forward(static_cast<std::size_t>(num_chunks * m)), backward(forward.size());
    const auto at = [m](std::int64_t chunk, std::int64_t micro_batch) {
        return static_cast<std::size_t>(chunk * m + micro_batch);
    };
    for (int rank = 0; rank < p; ++rank)
        for (std::int64_t position = 0; position < pipeline.tasks_per_rank(); ++position) {
            const ScheduledTask task = scheduled_task(pipeline, rank, position);
            const std::int64_t chunk = std::int64_t{task.chunk} * p + rank;
            const ChunkTimes& duration = times.chunks[static_cast<std::size_t>(chunk)];
            const bool is_forward = task.kind == TaskKind::forward;
            (is_forward ? forward : backward)[at(chunk, task.micro_batch)] =
                graph.add_task(static_cast<StreamIndex>(rank), is_forward ? duration.forward : duration.backward);
        }
    for (std::int64_t chunk = 0; chunk + 1 < num_chunks; ++chunk)
        for (std::int64_t i = 0; i < m; ++i) {
            const Seconds link = times.links[static_cast<std::size_t>(chunk % p)];
            graph.add_dependency(forward[at(chunk, i)], forward[at(chunk + 1, i)], link);
            graph.add_dependency(backward[at(chunk + 1, i)], backward[at(chunk, i)], link);
        }
    for (std::int64_t i = 0; i < m; ++i)
        graph.add_dependency(forward[at(num_chunks - 1, i)], backward[at(num_chunks - 1, i)]);
}

}  // namespace windtunnel::train
