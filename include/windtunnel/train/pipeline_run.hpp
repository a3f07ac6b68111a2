#pragma once
/// The pipeline phase of a step: forward and backward of every micro-batch through all model chunks.
#include <span>
#include <vector>

#include "windtunnel/train/schedule.hpp"
#include "windtunnel/train/split_backward.hpp"
#include "windtunnel/train/task_graph.hpp"

namespace windtunnel::train {

struct ChunkTimes {
    Seconds forward, backward;     ///< all of it: both gradients
    Seconds backward_weight{0.0};  ///< the part of backward that is the gradient of the weights
    Seconds forward_exchange{0.0},
        backward_exchange{0.0};  ///< the parts of forward and backward that are expert communication
    [[nodiscard]] Seconds backward_input() const noexcept { return backward - backward_weight; }
};

/// What remains of compute while communication runs beside it: 20 of the 132 multiprocessors of a card move the data.
/// Source: DeepSeek-V3 technical report, 2024, section 3.2.2.
inline constexpr double compute_beside_exchange = 1.0 - 20.0 / 132.0;

/// How much of their speed the two keep while they run beside each other.
struct PairRates {
    double compute = compute_beside_exchange;
    double communication = 1.0;
    /// Of a second of communication under compute, what is gained.
    [[nodiscard]] constexpr double gain() const noexcept {
        if (communication == 1.0) return compute;
        const double left = 1.0 - (1.0 - compute) / communication;
        return left > 0.0 ? left : 0.0;
    }
};

/// What a forward and a backward save that run together: the expert communication of each hides under the compute of
/// the other, which goes on at `rates.compute` of its speed meanwhile. 0 for a model without experts.
[[nodiscard]] constexpr Seconds saved_by_pair(const ChunkTimes& forward, const ChunkTimes& backward,
                                              const PairRates& rates = {}) noexcept {
    const Seconds backward_compute = backward.backward - backward.backward_exchange;
    const Seconds forward_compute = forward.forward - forward.forward_exchange;
    const Seconds under_backward =
        forward.forward_exchange < backward_compute ? forward.forward_exchange : backward_compute;
    const Seconds under_forward =
        backward.backward_exchange < forward_compute ? backward.backward_exchange : forward_compute;
    return (under_backward + under_forward) * rates.gain();
}

/// Durations of a pipeline.
struct PipelineTimes {
    std::span<const ChunkTimes> chunks;  ///< by stage in pipeline order, see Pipeline::stage_of()
    std::span<const Seconds> links;  ///< transfer between rank r and r + 1 (the last one and rank 0), either direction
    PairRates rates{};
    std::span<const double> loads{};  ///< of each micro-batch, multiplies its durations; empty: 1

    [[nodiscard]] double load_of(std::int64_t micro_batch) const noexcept {
        return loads.empty() ? 1.0 : loads[static_cast<std::size_t>(micro_batch)];
    }
    /// Of a stage, for one micro-batch.
    [[nodiscard]] ChunkTimes chunk(int stage, std::int64_t micro_batch) const noexcept {
        ChunkTimes one = chunks[static_cast<std::size_t>(stage)];
        if (loads.empty()) return one;
        const double load = load_of(micro_batch);
        for (Seconds* time :
             {&one.forward, &one.backward, &one.backward_weight, &one.forward_exchange, &one.backward_exchange})
            *time *= load;
        return one;
    }
};

struct PipelineRun {
    Seconds makespan;
    std::vector<Seconds> rank_end;  ///< end of the last task of each rank
    std::vector<Seconds> rank_busy;
    bool extrapolated = false;  ///< longer than max_tasks, see PipelineRunner
};

/// Runs pipelines one after the other and keeps its memory between them.
///
/// Model:   each rank runs its tasks in the order of schedule.hpp; a forward waits for the forward of the chunk before
/// plus the
///          transfer, a backward for the backward of the chunk behind plus the transfer. Transfers do not occupy the
///          ranks. A forward and a backward that run as one pair start when both may and end together.
/// Returns: the same times as execute() on pipeline_graph(), without building the graph; about 10 ns a task.
/// Limits:  beyond `max_tasks` tasks the steady state is continued linearly (the schedule is periodic there): the
/// difference of
///          two shorter runs is the slope; loads count by their mean then.
class PipelineRunner {
public:
    static constexpr std::int64_t max_tasks = std::int64_t{1} << 23;

    explicit PipelineRunner(std::int64_t most_tasks = max_tasks) : most_tasks_{most_tasks} {}
    /// Valid until the next run.
    const PipelineRun& run(const Pipeline& pipeline, const PipelineTimes& times);

private:
    void run_all(const Pipeline& pipeline, const PipelineTimes& times);
    void run_lists(const Pipeline& pipeline, const PipelineTimes& times);
    void start_all(int num_ranks);

    std::int64_t most_tasks_;
    PipelineRun result_;
    std::vector<double> forward_ready_, backward_ready_;  ///< by rank and number in its order; negative: not yet
    std::vector<int> chunk_of_slot_;                      ///< of the numbers of one group of micro-batches
    std::vector<std::int64_t> done_;                      ///< tasks done, by rank
    std::vector<char> queued_;
    std::vector<int> queue_;
    SplitBackwardOrders orders_;
    Pipeline built_;  ///< what orders_ were built for
};

/// The same as a graph: one stream a rank, tasks rank by rank in schedule order. Of a pair the forward has the whole
/// duration and the backward none.
void pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times, TaskGraph& graph);

}  // namespace windtunnel::train
