#pragma once
/// A graph of tasks on streams, and its executor. Each stream runs its tasks in the order in which they were added; a
/// task starts when its stream is free and every task that it waits for has ended. Model:   a task starts at the latest
/// of its stream and its dependencies: longest path in a directed acyclic graph.
#include <cstdint>
#include <span>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::train {

using TaskIndex = std::uint32_t;
using StreamIndex = std::uint32_t;

class TaskGraph {
public:
    /// `after` starts at the end of `before` plus `delay` at the earliest.
    struct Dependency {
        TaskIndex before, after;
        Seconds delay;
    };

    explicit TaskGraph(std::uint32_t num_streams);
    /// Appends a task to its stream. Dependencies may be added later with add_dependency (also to later tasks).
    TaskIndex add_task(StreamIndex stream, Seconds duration);
    void add_dependency(TaskIndex before, TaskIndex after, Seconds delay = Seconds{0.0});
    /// Forgets tasks and dependencies, keeps their memory.
    void clear() noexcept;

    [[nodiscard]] std::uint32_t num_tasks() const noexcept { return static_cast<std::uint32_t>(durations_.size()); }
    [[nodiscard]] std::uint32_t num_streams() const noexcept { return num_streams_; }
    [[nodiscard]] std::span<const Seconds> durations() const noexcept { return durations_; }  ///< by task
    [[nodiscard]] std::span<const StreamIndex> streams() const noexcept { return streams_; }  ///< by task
    [[nodiscard]] std::span<const Dependency> dependencies() const noexcept { return dependencies_; }

private:
    std::vector<Seconds> durations_;
    std::vector<StreamIndex> streams_;
    std::vector<Dependency> dependencies_;
    std::uint32_t num_streams_;
};

struct Execution {
    bool deadlock = false;  ///< order of streams and dependencies contradict each other; the rest is then partial
    std::vector<Seconds> start, end;   ///< per task
    std::vector<Seconds> stream_end;   ///< per stream, 0 without tasks
    std::vector<Seconds> stream_busy;  ///< per stream, sum of durations
    Seconds makespan;
    Seconds critical_path;  ///< longest chain of dependencies with their delays, streams without limit
};

/// Runs graphs one after the other and keeps its memory between them.
class Executor {
public:
    /// Longest path over dependencies and stream order, O(tasks + dependencies).
    ///
    /// Ensures: makespan >= critical path, makespan >= busy time of every stream. The result is valid until the next
    /// run.
    const Execution& run(const TaskGraph& graph);

private:
    Execution execution_;
    std::vector<std::uint32_t> first_successor_;     ///< of each task in successors_, one entry more at the end
    std::vector<TaskGraph::Dependency> successors_;  ///< dependencies sorted by `before`
    std::vector<TaskIndex> next_in_stream_;
    std::vector<std::uint32_t> open_;  ///< dependencies and stream predecessor that a task still waits for
    std::vector<TaskIndex> ready_;
    std::vector<Seconds> chain_;  ///< longest chain of dependencies up to the start of a task
};

/// The same for a single graph.
[[nodiscard]] Execution execute(const TaskGraph& graph);

}  // namespace windtunnel::train
