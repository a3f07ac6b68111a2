#include "windtunnel/train/task_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace windtunnel::train {
namespace {

/// The slow twin: time moves on to the next end of a task; at each moment every stream whose next task may start starts
/// it. Returns an empty list when nothing moves although tasks are left.
std::vector<Seconds> event_loop_starts(const TaskGraph& graph) {
    const std::size_t n = graph.num_tasks();
    std::vector<std::vector<TaskIndex>> queue(graph.num_streams());
    for (TaskIndex task = 0; task < n; ++task) queue[graph.streams()[task]].push_back(task);
    std::vector<std::size_t> next(graph.num_streams(), 0);
    std::vector<double> start(n, -1.0), end(n, -1.0), stream_free(graph.num_streams(), 0.0);
    double now = 0.0;
    std::size_t started = 0;
    while (started < n) {
        double soonest = -1.0;
        bool moved = false;
        for (std::size_t stream = 0; stream < queue.size(); ++stream) {
            if (next[stream] == queue[stream].size()) continue;
            const TaskIndex task = queue[stream][next[stream]];
            double ready = stream_free[stream];
            bool open = false;
            for (const auto& dependency : graph.dependencies())
                if (dependency.after == task) {
                    if (end[dependency.before] < 0.0) open = true;
                    ready = std::max(ready, end[dependency.before] + dependency.delay.value());
                }
            if (open) continue;
            if (ready <= now) {
                start[task] = now;
                end[task] = now + graph.durations()[task].value();
                stream_free[stream] = end[task];
                ++next[stream];
                ++started;
                moved = true;
            } else if (soonest < 0.0 || ready < soonest) {
                soonest = ready;
            }
        }
        if (moved) continue;
        if (soonest < 0.0) return {};
        now = soonest;
    }
    std::vector<Seconds> starts;
    for (const double s : start) starts.emplace_back(s);
    return starts;
}

/// Durations and delays are multiples of 1/64, so that sums are exact.
Seconds random_time(std::mt19937& random, unsigned most) {
    return Seconds{static_cast<double>(random() % most) / 64.0};
}

TEST(TaskGraph, EqualsTheEventLoopOnRandomGraphs) {
    std::mt19937 random{20261201};
    int num_deadlocks = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const auto streams = static_cast<std::uint32_t>(1 + random() % 5);
        TaskGraph graph{streams};
        const auto tasks = static_cast<TaskIndex>(1 + random() % 40);
        for (TaskIndex task = 0; task < tasks; ++task)
            graph.add_task(static_cast<StreamIndex>(random() % streams), random_time(random, 640));
        for (auto i = random() % (2 * tasks); i > 0; --i) {
            TaskIndex before = static_cast<TaskIndex>(random() % tasks),
                      after = static_cast<TaskIndex>(random() % tasks);
            if (before == after) continue;
            // Mostly forward in the order of adding; a few backward ones make contradictions possible.
            if (before > after && random() % 40 != 0) std::swap(before, after);
            graph.add_dependency(before, after, random_time(random, 64));
        }
        const Execution execution = execute(graph);
        const auto slow = event_loop_starts(graph);
        ASSERT_EQ(execution.deadlock, slow.empty()) << trial;
        if (execution.deadlock) {
            ++num_deadlocks;
            continue;
        }
        Seconds last{0.0};
        for (TaskIndex task = 0; task < tasks; ++task) {
            ASSERT_EQ(execution.start[task].value(), slow[task].value()) << trial << " task " << task;
            last = std::max(last, slow[task] + graph.durations()[task]);
        }
        EXPECT_EQ(execution.makespan.value(), last.value());
        EXPECT_GE(execution.makespan, execution.critical_path);
        for (const Seconds busy : execution.stream_busy) EXPECT_GE(execution.makespan, busy);
    }
    EXPECT_GT(num_deadlocks, 10);
}

TEST(TaskGraph, ATaskWaitsForItsStreamAndForEveryDependency) {
    // Stream 0: a (2 s), c (1 s). Stream 1: b (5 s). c waits for b with 0.5 s: 5.5, not 2. Makespan 6.5; critical path
    // b, c.
    TaskGraph graph{2};
    const auto a = graph.add_task(0, Seconds{2.0});
    const auto b = graph.add_task(1, Seconds{5.0});
    const auto c = graph.add_task(0, Seconds{1.0});
    graph.add_dependency(b, c, Seconds{0.5});
    const Execution execution = execute(graph);
    EXPECT_EQ(execution.start[a].value(), 0.0);
    EXPECT_EQ(execution.start[c].value(), 5.5);
    EXPECT_EQ(execution.makespan.value(), 6.5);
    EXPECT_EQ(execution.critical_path.value(), 6.5);
    EXPECT_EQ(execution.stream_busy[0].value(), 3.0);
}

TEST(TaskGraph, ADependencyAgainstTheOrderOfAStreamIsADeadlock) {
    TaskGraph graph{1};
    const auto first = graph.add_task(0, Seconds{1.0});
    const auto second = graph.add_task(0, Seconds{1.0});
    graph.add_dependency(second, first);
    EXPECT_TRUE(execute(graph).deadlock);
}

TEST(TaskGraph, NoTasksTakeNoTime) {
    const Execution execution = execute(TaskGraph{3});
    EXPECT_FALSE(execution.deadlock);
    EXPECT_EQ(execution.makespan.value(), 0.0);
    EXPECT_EQ(execution.stream_end.size(), 3U);
}

TEST(TaskGraph, AnExecutorForgetsTheGraphBefore) {
    TaskGraph large{2}, small{1};
    for (int i = 0; i < 50; ++i) large.add_task(static_cast<StreamIndex>(i % 2), Seconds{1.0});
    small.add_task(0, Seconds{3.0});
    Executor executor;
    EXPECT_EQ(executor.run(large).makespan.value(), 25.0);
    EXPECT_EQ(executor.run(small).makespan.value(), 3.0);
    EXPECT_EQ(executor.run(small).stream_busy.size(), 1U);
}

}  // namespace
}  // namespace windtunnel::train
