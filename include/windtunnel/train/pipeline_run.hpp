#pragma once
/// The pipeline phase of a step: forward and backward of every micro-batch through all model chunks.
#include <span>
#include <vector>

#include "windtunnel/train/schedule.hpp"
#include "windtunnel/train/task_graph.hpp"

namespace windtunnel::train {

struct ChunkTimes {
    Seconds forward, backward;
};

/// Durations of a pipeline.
struct PipelineTimes {
    std::span<const ChunkTimes> chunks;     ///< chunk c of rank r at c x p + r (pipeline order)
    std::span<const Seconds> links;         ///< transfer from rank r to r + 1 (the last one to rank 0), either direction
};

struct PipelineRun {
    Seconds makespan;
    std::vector<Seconds> rank_end;          ///< end of the last task of each rank
    std::vector<Seconds> rank_busy;
    bool extrapolated = false;              ///< longer than max_tasks, see PipelineRunner
};

/// Runs pipelines one after the other and keeps its memory between them.
///
/// Model:   each rank runs its tasks in the order of schedule.hpp; a forward waits for the forward of the chunk before plus the
///          transfer, a backward for the backward of the chunk behind plus the transfer. Transfers do not occupy the ranks.
/// Returns: the same times as execute() on pipeline_graph(), without building the graph; about 10 ns a task.
/// Limits:  beyond `max_tasks` tasks the steady state is continued linearly (the schedule is periodic there): the difference of
///          two shorter runs is the slope.
class PipelineRunner {
   public:
    static constexpr std::int64_t max_tasks = std::int64_t{1} << 23;

    explicit PipelineRunner(std::int64_t most_tasks = max_tasks) : most_tasks_{most_tasks} {}
    /// Valid until the next run.
    const PipelineRun& run(const Pipeline& pipeline, const PipelineTimes& times);

   private:
    void run_all(const Pipeline& pipeline, const PipelineTimes& times);

    std::int64_t most_tasks_;
    PipelineRun result_;
    std::vector<double> forward_ready_, backward_ready_;    ///< by rank and number in its order; negative: not yet
    std::vector<int> chunk_of_slot_;                        ///< of the numbers of one group of micro-batches
    std::vector<std::int64_t> done_;                        ///< tasks done, by rank
    std::vector<char> queued_;
    std::vector<int> queue_;
};

/// The same as a graph: one stream a rank, tasks rank by rank in schedule order.
void pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times, TaskGraph& graph);

}  // namespace windtunnel::train
