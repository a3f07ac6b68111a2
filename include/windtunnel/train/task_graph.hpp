#pragma once
/// A graph of tasks on streams, and its executor. Each stream runs its tasks in the order in which they were added; a task
/// starts when its stream is free and every task that it waits for has ended.
#include <cstdint>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::train {

using TaskIndex = std::uint32_t;
using StreamIndex = std::uint32_t;

class TaskGraph {
   public:
    explicit TaskGraph(std::uint32_t num_streams);
    /// Appends a task to its stream. Dependencies may be added later with add_dependency (also to later tasks).
    TaskIndex add_task(StreamIndex stream, Seconds duration);
    void add_dependency(TaskIndex before, TaskIndex after, Seconds delay = Seconds{0.0});   ///< after starts >= before's end + delay
    [[nodiscard]] std::uint32_t num_tasks() const noexcept;
    [[nodiscard]] std::uint32_t num_streams() const noexcept;

   private:
    friend struct Execution;
    friend struct GraphAccess;      // executor and its slow twin
    std::vector<Seconds> durations_;
    std::vector<StreamIndex> streams_;
    struct Edge { TaskIndex before, after; Seconds delay; };
    std::vector<Edge> edges_;
    std::uint32_t num_streams_;
};

struct Execution {
    bool deadlock = false;              ///< order of streams and dependencies contradict each other
    std::vector<Seconds> start, end;    ///< per task
    std::vector<Seconds> stream_end;    ///< per stream, 0 without tasks
    std::vector<Seconds> stream_busy;   ///< per stream, sum of durations
    Seconds makespan;
};

/// Longest path over dependencies and stream order, O(tasks + dependencies).
/// Ensures: makespan >= critical path, makespan >= busy time of every stream.
[[nodiscard]] Execution execute(const TaskGraph& graph);

}  // namespace windtunnel::train
