#include "windtunnel/train/pipeline_run.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {

namespace {

Seconds task_time(const ScheduledTask& task, const ChunkTimes& times) noexcept {
    switch (task.kind) {
        case TaskKind::forward:
            return times.forward;
        case TaskKind::backward:
            return times.backward;
        case TaskKind::backward_input:
            return times.backward_input();
        case TaskKind::backward_weight:
            break;
    }
    return times.backward_weight;
}

/// Interleaved: from the last rank's chunk to the next chunk on rank 0, over the link of the last rank.
bool goes_around(const Pipeline& pipeline, int rank, int next_rank) noexcept {
    return next_rank == 0 && rank == pipeline.num_ranks - 1 && !model::splits_backward(pipeline.schedule);
}

Seconds pair_time(const ChunkTimes& forward, const ChunkTimes& backward, const PairRates& rates) noexcept {
    return forward.forward + backward.backward - saved_by_pair(forward, backward, rates);
}

}  // namespace

void PipelineRunner::start_all(int num_ranks) {
    const auto p = static_cast<std::size_t>(num_ranks);
    done_.assign(p, 0);
    queued_.assign(p, 1);
    result_.rank_end.assign(p, Seconds{0.0});
    result_.rank_busy.assign(p, Seconds{0.0});
    queue_.clear();
    for (int rank = num_ranks - 1; rank >= 0; --rank) queue_.push_back(rank);
}

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

    start_all(p);

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
            double duration = (forward ? chunk_times.forward : chunk_times.backward).value();
            if (!times.loads.empty()) duration *= times.load_of(v == 1 ? number : number / group * p + slot % p);
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

// Times by (stage, micro-batch): a micro-batch takes each stage once, whatever end it comes from.
void PipelineRunner::run_lists(const Pipeline& pipeline, const PipelineTimes& times) {
    const int p = pipeline.num_ranks, num_stages = pipeline.num_stages();
    const std::int64_t m = pipeline.num_micro_batches;
    const bool same = built_.schedule == pipeline.schedule && built_.num_ranks == p && built_.num_micro_batches == m &&
                      built_.num_chunks == pipeline.num_chunks && built_.paired == pipeline.paired;
    if (!same) {
        orders_.build(pipeline);
        built_ = pipeline;
    }
    const auto at = [m](int stage, std::int64_t micro_batch) {
        return static_cast<std::size_t>(stage * m + micro_batch);
    };
    forward_ready_.assign(at(num_stages, 0), -1.0);
    backward_ready_.assign(at(num_stages, 0), -1.0);
    std::fill_n(forward_ready_.begin(), m, 0.0);
    start_all(p);

    std::size_t all_done = 0;
    while (!queue_.empty()) {
        const int rank = queue_.back();
        const auto r = static_cast<std::size_t>(rank);
        queue_.pop_back();
        queued_[r] = 0;
        const auto order = orders_.of_rank(rank);
        auto position = static_cast<std::size_t>(done_[r]);
        double time = result_.rank_end[r].value(), busy = result_.rank_busy[r].value();
        const auto ready = [&](const ScheduledTask& task) {
            if (task.kind == TaskKind::backward_weight) return 0.0;
            const std::size_t place = at(pipeline.stage_of(rank, task.chunk), task.micro_batch);
            return task.kind == TaskKind::forward ? forward_ready_[place] : backward_ready_[place];
        };
        const auto chunk_times = [&](const ScheduledTask& task) {
            return times.chunk(pipeline.stage_of(rank, task.chunk), task.micro_batch);
        };
        const auto finish = [&](const ScheduledTask& task) {
            if (task.kind == TaskKind::backward_weight) return;
            const int stage = pipeline.stage_of(rank, task.chunk);
            const bool forward = task.kind == TaskKind::forward;
            if (forward && stage == num_stages - 1) {
                backward_ready_[at(stage, task.micro_batch)] = time;
                return;
            }
            const int next = forward ? stage + 1 : stage - 1;
            if (next < 0) return;
            const int next_rank = pipeline.rank_of(next, task.chunk);
            const bool around = goes_around(pipeline, forward ? rank : next_rank, forward ? next_rank : rank);
            const int between = around ? p - 1 : std::min(rank, next_rank);
            const double link = next_rank == rank ? 0.0 : times.links[static_cast<std::size_t>(between)].value();
            (forward ? forward_ready_ : backward_ready_)[at(next, task.micro_batch)] = time + link;
            if (next_rank == rank || queued_[static_cast<std::size_t>(next_rank)] != 0) return;
            queued_[static_cast<std::size_t>(next_rank)] = 1;
            queue_.push_back(next_rank);
        };
        const std::size_t before = position;
        while (position < order.size()) {
            const ScheduledTask& task = order[position];
            double start = ready(task), duration = task_time(task, chunk_times(task)).value();
            if (start < 0.0) break;
            if (task.with_next) {
                const ScheduledTask& partner = order[position + 1];
                const double partner_start = ready(partner);
                if (partner_start < 0.0) break;
                start = std::max(start, partner_start);
                duration = pair_time(chunk_times(task), chunk_times(partner), times.rates).value();
            }
            time = std::max(time, start) + duration;
            busy += duration;
            finish(task);
            if (task.with_next) finish(order[++position]);
            ++position;
        }
        all_done += position - before;
        done_[r] = static_cast<std::int64_t>(position);
        result_.rank_end[r] = Seconds{time};
        result_.rank_busy[r] = Seconds{busy};
    }
    base::ensures(all_done == orders_.num_tasks(), "no schedule of ours deadlocks");
    result_.makespan = *std::max_element(result_.rank_end.begin(), result_.rank_end.end());
}

const PipelineRun& PipelineRunner::run(const Pipeline& pipeline, const PipelineTimes& times) {
    base::expects(times.chunks.size() == static_cast<std::size_t>(pipeline.num_stages()), "one duration a stage");
    base::expects(times.links.size() == static_cast<std::size_t>(pipeline.num_ranks), "one link a rank");
    base::expects(times.loads.empty() || times.loads.size() == static_cast<std::size_t>(pipeline.num_micro_batches),
                  "one load a micro-batch");
    const std::int64_t p = pipeline.num_ranks, m = pipeline.num_micro_batches;
    const std::int64_t tasks_per_micro_batch = 2 * p * pipeline.num_chunks;
    const bool lists = model::splits_backward(pipeline.schedule) || pipeline.paired;
    PipelineTimes used = times;
    const auto run_it = [&](const Pipeline& one) { lists ? run_lists(one, used) : run_all(one, used); };
    // Groups of p micro-batches that may run. A listed task takes several times the memory of a counted one.
    const std::int64_t groups = (lists ? most_tasks_ / 4 : most_tasks_) / tasks_per_micro_batch / p;
    result_.extrapolated = m > tasks_per_micro_batch && m / p > std::max<std::int64_t>(groups, 4);
    if (!result_.extrapolated) {
        run_it(pipeline);
        return result_;
    }
    std::vector<double> mean_load;
    if (!times.loads.empty()) {
        double sum = 0.0;
        for (const double load : times.loads) sum += load;
        mean_load.assign(times.loads.size(), sum / static_cast<double>(times.loads.size()));
        used.loads = mean_load;
    }
    // Both runs keep m modulo p, so a group that is not full weighs the same in each.
    const std::int64_t period = p * (std::max<std::int64_t>(groups, 4) / 2);
    const std::int64_t longer = m % p + 2 * period, shorter = longer - period;
    Pipeline part = pipeline;
    part.num_micro_batches = shorter;
    run_it(part);
    const PipelineRun first = result_;
    part.num_micro_batches = longer;
    run_it(part);
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
    const int p = pipeline.num_ranks;
    const std::int64_t m = pipeline.num_micro_batches;
    base::expects(graph.num_streams() == static_cast<std::uint32_t>(p), "one stream a rank");
    graph.clear();
    // Tasks of (direction, stage, micro-batch).
    const int num_stages = pipeline.num_stages();
    std::vector<TaskIndex> forward(static_cast<std::size_t>(num_stages * m)), backward(forward.size());
    std::vector<TaskIndex> gate =
        backward;  // what a backward's dependencies hold up: itself, or the pair that it is in
    std::vector<int> chunk_of(forward.size());
    const auto at = [m](std::int64_t stage, std::int64_t micro_batch) {
        return static_cast<std::size_t>(stage * m + micro_batch);
    };
    for (int rank = 0; rank < p; ++rank) {
        const std::vector<ScheduledTask> order = pipeline_order(pipeline, rank);
        for (std::size_t position = 0; position < order.size(); ++position) {
            const ScheduledTask& task = order[position];
            const auto stage_times = [&](const ScheduledTask& one) {
                return times.chunk(pipeline.stage_of(rank, one.chunk), one.micro_batch);
            };
            const bool behind_partner = position > 0 && order[position - 1].with_next;
            const Seconds duration = behind_partner ? Seconds{0.0}
                                     : task.with_next
                                         ? pair_time(stage_times(task), stage_times(order[position + 1]), times.rates)
                                         : task_time(task, stage_times(task));
            const TaskIndex index = graph.add_task(static_cast<StreamIndex>(rank), duration);
            const std::size_t place = at(pipeline.stage_of(rank, task.chunk), task.micro_batch);
            chunk_of[place] = task.chunk;
            if (task.kind == TaskKind::forward) forward[place] = index;
            if (task.kind == TaskKind::backward || task.kind == TaskKind::backward_input) {
                backward[place] = index;
                gate[place] = behind_partner ? index - 1 : index;
            }
        }
    }
    // Of a pair the forward's end is that of the backward behind it, which takes no time.
    for (int stage = 0; stage + 1 < num_stages; ++stage)
        for (std::int64_t i = 0; i < m; ++i) {
            const int chunk = chunk_of[at(stage, i)];
            const int rank = pipeline.rank_of(stage, chunk), next_rank = pipeline.rank_of(stage + 1, chunk);
            // Interleaved: the last rank and rank 0 are neighbours by the link of the last rank.
            const bool around = goes_around(pipeline, rank, next_rank);
            const Seconds link = next_rank == rank && p > 1 ? Seconds{0.0}
                                 : around                   ? times.links[static_cast<std::size_t>(p - 1)]
                                          : times.links[static_cast<std::size_t>(std::min(rank, next_rank))];
            graph.add_dependency(forward[at(stage, i)], forward[at(stage + 1, i)], link);
            graph.add_dependency(backward[at(stage + 1, i)], gate[at(stage, i)], link);
        }
    for (std::int64_t i = 0; i < m; ++i)
        graph.add_dependency(forward[at(num_stages - 1, i)], gate[at(num_stages - 1, i)]);
}

}  // namespace windtunnel::train
