#include "windtunnel/train/task_graph.hpp"

#include <algorithm>
#include <limits>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {
namespace {

constexpr TaskIndex no_task = std::numeric_limits<TaskIndex>::max();

/// Sums of the same durations in another order may differ in the last bits.
bool at_least(Seconds value, Seconds bound) {
    return value.value() >= bound.value() * (1.0 - 1e-9);
}

}  // namespace

TaskGraph::TaskGraph(std::uint32_t num_streams) : num_streams_{num_streams} {}

TaskIndex TaskGraph::add_task(StreamIndex stream, Seconds duration) {
    base::expects(stream < num_streams_, "stream exists");
    base::expects(duration.value() >= 0.0, "duration is not negative");
    durations_.push_back(duration);
    streams_.push_back(stream);
    return num_tasks() - 1;
}

void TaskGraph::add_dependency(TaskIndex before, TaskIndex after, Seconds delay) {
    base::expects(before < num_tasks() && after < num_tasks(), "both tasks exist");
    base::expects(delay.value() >= 0.0, "delay is not negative");
    dependencies_.push_back({before, after, delay});
}

void TaskGraph::clear() noexcept {
    durations_.clear();
    streams_.clear();
    dependencies_.clear();
}

const Execution& Executor::run(const TaskGraph& graph) {
    const std::uint32_t num_tasks = graph.num_tasks();
    const auto durations = graph.durations();
    const auto streams = graph.streams();

    execution_.deadlock = false;
    execution_.start.assign(num_tasks, Seconds{0.0});
    execution_.end.assign(num_tasks, Seconds{0.0});
    execution_.stream_end.assign(graph.num_streams(), Seconds{0.0});
    execution_.stream_busy.assign(graph.num_streams(), Seconds{0.0});
    execution_.makespan = Seconds{0.0};
    execution_.critical_path = Seconds{0.0};
    chain_.assign(num_tasks, Seconds{0.0});
    open_.assign(num_tasks, 0);
    next_in_stream_.assign(num_tasks, no_task);

    // Dependencies sorted by their first task, by counting.
    first_successor_.assign(std::size_t{num_tasks} + 1, 0);
    for (const auto& dependency : graph.dependencies()) ++first_successor_[dependency.before + 1];
    for (std::uint32_t task = 0; task < num_tasks; ++task) first_successor_[task + 1] += first_successor_[task];
    successors_.resize(graph.dependencies().size());
    for (const auto& dependency : graph.dependencies()) {
        successors_[first_successor_[dependency.before]++] = dependency;
        ++open_[dependency.after];
    }
    for (std::uint32_t task = num_tasks; task > 0; --task) first_successor_[task] = first_successor_[task - 1];
    first_successor_[0] = 0;

    // A stream is a chain: its tasks wait for the one before. `ready_` holds the last task of each stream meanwhile.
    ready_.assign(graph.num_streams(), no_task);
    for (TaskIndex task = 0; task < num_tasks; ++task) {
        TaskIndex& last = ready_[streams[task]];
        if (last != no_task) {
            next_in_stream_[last] = task;
            ++open_[task];
        }
        last = task;
    }

    ready_.clear();
    for (TaskIndex task = 0; task < num_tasks; ++task)
        if (open_[task] == 0) ready_.push_back(task);
    std::uint32_t num_done = 0;
    while (!ready_.empty()) {
        const TaskIndex task = ready_.back();
        ready_.pop_back();
        ++num_done;
        const Seconds end = execution_.start[task] + durations[task];
        const Seconds chain_end = chain_[task] + durations[task];
        execution_.end[task] = end;
        execution_.stream_end[streams[task]] = std::max(execution_.stream_end[streams[task]], end);
        execution_.stream_busy[streams[task]] += durations[task];
        execution_.makespan = std::max(execution_.makespan, end);
        execution_.critical_path = std::max(execution_.critical_path, chain_end);
        for (std::uint32_t i = first_successor_[task]; i < first_successor_[task + 1]; ++i) {
            const TaskIndex after = successors_[i].after;
            execution_.start[after] = std::max(execution_.start[after], end + successors_[i].delay);
            chain_[after] = std::max(chain_[after], chain_end + successors_[i].delay);
            if (--open_[after] == 0) ready_.push_back(after);
        }
        if (const TaskIndex next = next_in_stream_[task]; next != no_task) {
            execution_.start[next] = std::max(execution_.start[next], end);
            if (--open_[next] == 0) ready_.push_back(next);
        }
    }
    execution_.deadlock = num_done != num_tasks;
    if (!execution_.deadlock) {
        base::ensures(at_least(execution_.makespan, execution_.critical_path), "makespan >= critical path");
        for (const Seconds busy : execution_.stream_busy)
            base::ensures(at_least(execution_.makespan, busy), "makespan >= busy time of each stream");
    }
    return execution_;
}

Execution execute(const TaskGraph& graph) {
    Executor executor;
    return executor.run(graph);
}

}  // namespace windtunnel::train
