#include "windtunnel/train/split_backward.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "windtunnel/model/layout_rules.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

using model::PipelineSchedule;
using enum model::PipelineSchedule;

constexpr PipelineSchedule split_schedules[] = {zb_1p, zb_v, v_half, v_min, dualpipe, dualpipe_v};

Pipeline pipeline_of_size(PipelineSchedule schedule, int p, std::int64_t m) {
    const bool two_chunks = schedule == dualpipe || model::is_v_shaped(schedule);
    return {schedule, p, two_chunks ? 2 : 1, m};
}

/// May the schedule run p ranks and m micro-batches? By the rules of model/layout_rules.hpp.
bool is_legal(PipelineSchedule schedule, int p, std::int64_t m) {
    model::Layout layout;
    layout.schedule = schedule;
    layout.pipeline_parallel = layout.cards = p;
    layout.virtual_pipeline = model::is_v_shaped(schedule) ? 2 : 1;
    layout.global_batch_size = m;
    const model::Transformer transformer;
    const model::Cluster cluster;
    const model::LayoutRules rules{transformer, cluster, 1, model::Precision::bf16};
    using enum model::VerdictReason;
    return !rules.breaks(layout, virtual_stages_without_interleaving) && !rules.breaks(layout, odd_pipeline) &&
           !rules.breaks(layout, micro_batches_not_divisible);
}

struct Case {
    Pipeline pipeline;
    std::vector<ChunkTimes> chunks;
    std::vector<Seconds> links;
    [[nodiscard]] PipelineTimes times() const { return {chunks, links}; }
};

/// F, B and W of every stage.
Case equal_stages(PipelineSchedule schedule, int p, std::int64_t m, double forward, double input, double weight,
                  double exchange = 0.0) {
    const Pipeline pipeline = pipeline_of_size(schedule, p, m);
    ChunkTimes stage{Seconds{forward}, Seconds{input + weight}, Seconds{weight}};
    stage.forward_exchange = stage.backward_exchange = Seconds{exchange};
    return {pipeline, std::vector<ChunkTimes>(static_cast<std::size_t>(pipeline.num_stages()), stage),
            std::vector<Seconds>(static_cast<std::size_t>(p), Seconds{0.0})};
}

PipelineRun run_of(const Case& c) {
    PipelineRunner runner;
    return runner.run(c.pipeline, c.times());
}

/// Idle time of the rank that is busiest, of the whole pipeline phase.
double bubble(const Case& c) {
    const PipelineRun run = run_of(c);
    return (run.makespan - *std::max_element(run.rank_busy.begin(), run.rank_busy.end())).value();
}

TEST(SplitBackward, EveryTaskRunsOnceInOrderAndTheGraphHasNoDeadlock) {
    // Every legal pair of ranks and micro-batches up to 9 and 21; random durations, the graph as slow twin.
    std::mt19937 random{5};
    const auto draw = [&random](int most) { return Seconds{static_cast<double>(random() % 1000) / 1000.0 * most}; };
    PipelineRunner runner;
    int num_cases = 0;
    for (const PipelineSchedule schedule : split_schedules)
        for (int p = 1; p <= 9; ++p)
            for (std::int64_t m = 1; m <= 21; ++m) {
                if (!is_legal(schedule, p, m)) continue;
                ++num_cases;
                Case c = equal_stages(schedule, p, m, 1.0, 1.0, 1.0);
                for (int rank = 0; rank < p; ++rank) {
                    std::map<std::pair<int, std::int64_t>, std::array<int, 3>> done;  // F, B, W
                    for (const ScheduledTask& task : pipeline_order(c.pipeline, rank)) {
                        auto& [f, b, w] = done[{task.chunk, task.micro_batch}];
                        if (task.kind == TaskKind::forward) ++f;
                        if (task.kind == TaskKind::backward || task.kind == TaskKind::backward_input) {
                            ASSERT_EQ(f, ++b);
                        }
                        if (task.kind == TaskKind::backward || task.kind == TaskKind::backward_weight) {
                            ASSERT_EQ(b, ++w);
                        }
                        ASSERT_TRUE(f == 1 && b <= 1 && w <= 1);
                    }
                    ASSERT_EQ(static_cast<std::int64_t>(done.size()), c.pipeline.forwards_per_rank());
                    for (const auto& [key, count] : done) ASSERT_EQ(count[2], 1);
                }
                for (ChunkTimes& chunk : c.chunks) {
                    chunk = {draw(1), draw(2)};
                    chunk.backward_weight = chunk.backward * 0.4;
                    chunk.forward_exchange = chunk.forward * 0.3;
                    chunk.backward_exchange = chunk.backward * 0.2;
                }
                for (Seconds& link : c.links) link = draw(1);
                TaskGraph graph{static_cast<std::uint32_t>(p)};
                pipeline_graph(c.pipeline, c.times(), graph);
                const Execution execution = execute(graph);
                ASSERT_FALSE(execution.deadlock) << model::to_text(schedule) << " " << p << " " << m;
                const PipelineRun& run = runner.run(c.pipeline, c.times());
                ASSERT_EQ(run.makespan.value(), execution.makespan.value())
                    << model::to_text(schedule) << p << " " << m;
                for (std::size_t rank = 0; rank < run.rank_end.size(); ++rank) {
                    ASSERT_EQ(run.rank_end[rank].value(), execution.stream_end[rank].value());
                    ASSERT_EQ(run.rank_busy[rank].value(), execution.stream_busy[rank].value());
                }
            }
    EXPECT_GT(num_cases, 600);
}

TEST(SplitBackward, ZB1PKeepsTheMemoryOf1F1BAndFillsItsTail) {
    // Qi et al. 2023, ZB-H1: rank s leaves s W behind. p = 3, m = 4, last rank: two F and B before the first W.
    std::string text;
    for (const ScheduledTask& task : pipeline_order(pipeline_of_size(zb_1p, 3, 4), 2))
        text += std::string{task.kind == TaskKind::forward          ? "F"
                            : task.kind == TaskKind::backward_input ? "B"
                                                                    : "W"} +
                std::to_string(task.micro_batch) + " ";
    EXPECT_EQ(text, "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3 ");
    // Bubble (p-1)(F + B - 2W) where B is the whole backward: with the two gradients apart (p-1)(F + B - W), a third of
    // 1F1B's (p-1)(F + B + W) for F = B = W. DualPipe README.
    for (const int p : {1, 2, 4, 8, 16})
        for (const int m : {2 * p, 3 * p + 1}) {
            EXPECT_NEAR(bubble(equal_stages(zb_1p, p, m, 1.0, 1.0, 1.0)), (p - 1) * 1.0, 1e-9);
            EXPECT_NEAR(bubble(equal_stages(zb_1p, p, m, 1.0, 1.25, 1.0)), (p - 1) * 1.25, 1e-9);
        }
}

TEST(SplitBackward, VSchedulesHaveTheBubblesOfTheirPatterns) {
    // A slot is F = B = W of a chunk, half a stage; 1F1B idles 6 (p - 1) of them. The last rank of a V starts p - 1
    // slots late whatever the order: ZB-V idles no longer than that. V-Half: about half of 1F1B's, V-Min two thirds.
    for (const int p : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 32})
        for (const int m : {2 * p, 5 * p}) {
            EXPECT_NEAR(bubble(equal_stages(zb_v, p, m, 1.0, 1.0, 1.0)), p - 1, 1e-9) << p;
            if (p == 2) continue;  // the patterns of V-Half and V-Min need three ranks to be told apart
            EXPECT_NEAR(bubble(equal_stages(v_half, p, m, 1.0, 1.0, 1.0)), 3 * p - (p % 2 == 0 ? 5 : 4), 1e-9)
                << p << " " << m;
            EXPECT_NEAR(bubble(equal_stages(v_min, p, m, 1.0, 1.0, 1.0)), 4 * p - (p % 3 == 0 ? 3 : 5), 1e-9) << p;
        }
}

TEST(SplitBackward, TheRoundTripIsThatOfThePattern) {
    for (const PipelineSchedule schedule : {zb_v, v_half, v_min})
        for (int p = 2; p <= 100; ++p)
            EXPECT_EQ(v_round_trip(schedule, p), v_pattern(schedule, p).start[3])
                << model::to_text(schedule) << " " << p;
}

TEST(SplitBackward, DualPipeHasThePublishedBubble) {
    // (p/2 - 1)(FB + B - 3W), B the whole backward; a pair FB here takes what both take together. F = 1, B = 1 + 1, W =
    // 1: (p/2 - 1)(3 + 2 - 3). The V form runs p stages on p/2 ranks: the same with the number of stages.
    for (const int stages : {2, 4, 6, 8, 16})
        for (const int m : {2 * stages, 2 * stages + 2, 5 * stages}) {
            EXPECT_NEAR(bubble(equal_stages(dualpipe, stages, m, 1.0, 1.0, 1.0)), (stages / 2 - 1) * 2.0, 1e-9);
            if (stages == 2) continue;
            EXPECT_NEAR(bubble(equal_stages(dualpipe_v, stages / 2, m, 1.0, 1.0, 1.0)), (stages / 2 - 1) * 2.0, 1e-9);
        }
    // The other published count of the V form, p ranks of one half each: (p - 1)(FB + B - W) - F = ... with B the input
    // gradient alone is not what the order gives: it idles (p - 1)(FB + B - 3W) with p ranks, less by (p - 1) W - F.
    const double ranks = 4.0, fb = 3.0, input = 1.0, weight = 1.0;
    EXPECT_NEAR(bubble(equal_stages(dualpipe_v, 4, 16, 1.0, input, weight)),
                (ranks - 1.0) * (fb + input - weight) - 1.0 - ((ranks - 1.0) * weight - 1.0), 1e-9);
}

TEST(SplitBackward, APairHidesExpertCommunicationUnderCompute) {
    // F = 1 with 0.4 of communication, B = 2 with 0.4, W = 1: 0.8 hides, at 112/132 of the speed: a pair takes
    // 3 - 0.8 x 0.8485 = 2.3212. p = 2: rank 0 runs steady = m/2 - 2 + 1 rounds of two pairs, the first of the first
    // round apart, no other phase has pairs: m = 8: 3 x 2 - 1 = 5 pairs; 8 x 3 - 5 x 0.6788 = 20.606.
    const Case c = equal_stages(dualpipe, 2, 8, 1.0, 1.0, 1.0, 0.4);
    const double saved = 0.8 * 112.0 / 132.0;
    EXPECT_NEAR(saved_by_pair(c.chunks[0], c.chunks[1]).value(), saved, 1e-12);
    EXPECT_NEAR(run_of(c).rank_busy[0].value(), 24.0 - 5.0 * saved, 1e-9);
    // Communication longer than the compute beside it stays exposed: F = 1, 0.9 of it communication, B = 2 with 1.5:
    // 0.5 hides under B, 0.1 under F.
    const ChunkTimes long_exchange{Seconds{1.0}, Seconds{2.0}, Seconds{1.0}, Seconds{0.9}, Seconds{1.5}};
    EXPECT_NEAR(saved_by_pair(long_exchange, long_exchange).value(), 0.6 * 112.0 / 132.0, 1e-12);
}

std::int64_t most_held(HeldChunksTable& table, const Pipeline& pipeline) {
    std::int64_t most = 0;
    for (int rank = 0; rank < pipeline.num_ranks; ++rank)
        for (const HeldChunks& moment : table.fullest(pipeline).of_rank(rank))
            most = std::max(most, moment.of[0] + moment.of[1]);
    return most;
}

TEST(HeldChunks, AreThePublishedShareOf1F1B) {
    HeldChunksTable table;
    for (const int p : {3, 4, 6, 8, 9, 16, 31, 64}) {
        const std::int64_t m = 4 * p;
        EXPECT_EQ(most_held(table, pipeline_of_size(zb_1p, p, m)), p);     // as 1F1B, on every rank
        EXPECT_EQ(most_held(table, pipeline_of_size(zb_v, p, m)), 2 * p);  // halves: as 1F1B
        const double half = static_cast<double>(most_held(table, pipeline_of_size(v_half, p, m))) / (2.0 * p);
        const double third = static_cast<double>(most_held(table, pipeline_of_size(v_min, p, m))) / (2.0 * p);
        EXPECT_NEAR(half, 0.5, 1.0 / p + 1e-12) << p;
        EXPECT_NEAR(third, 1.0 / 3.0, 4.0 / 3.0 / p + 1e-12) << p;
        if (p % 2 == 0) {
            EXPECT_EQ(most_held(table, pipeline_of_size(dualpipe, p, m)), p + 1);  // README: p + 1
        }
        EXPECT_EQ(most_held(table, pipeline_of_size(dualpipe_v, p, m)), 2 * p + 1);
    }
}

TEST(HeldChunks, DoNotGrowWithTheBatchOnceThePipelineIsFull) {
    for (const PipelineSchedule schedule : split_schedules)
        for (const int p : {2, 4, 6, 10, 16}) {
            const Pipeline longer = pipeline_of_size(schedule, p, 10 * p);
            HeldChunksTable table;
            for (int rank = 0; rank < p; ++rank) {
                std::array<std::int64_t, 2> now{};
                std::int64_t above = 0;
                const auto moments = table.fullest(longer).of_rank(rank);
                for (const ScheduledTask& task : pipeline_order(longer, rank)) {
                    const auto chunk = static_cast<std::size_t>(task.chunk);
                    if (task.kind == TaskKind::forward) ++now[chunk];
                    if (task.kind == TaskKind::backward || task.kind == TaskKind::backward_weight) --now[chunk];
                    const bool covered = std::any_of(moments.begin(), moments.end(), [&now](const HeldChunks& moment) {
                        return moment.of[0] >= now[0] && moment.of[1] >= now[1];
                    });
                    if (!covered) ++above;
                }
                EXPECT_EQ(above, 0) << model::to_text(schedule) << " " << p << " rank " << rank;
            }
        }
}

TEST(SplitBackward, ALongStepIsContinuedFromItsSteadyState) {
    for (const PipelineSchedule schedule : split_schedules)
        for (const int p : {2, 4, 6}) {
            Case c = equal_stages(schedule, p, 400 * p, 1.0, 1.2, 0.8, 0.2);
            c.chunks.back().forward += Seconds{0.3};
            for (Seconds& link : c.links) link = Seconds{0.05};
            PipelineRunner full, part{p * c.pipeline.tasks_per_rank()};
            const PipelineRun all = full.run(c.pipeline, c.times());
            const PipelineRun& continued = part.run(c.pipeline, c.times());
            EXPECT_FALSE(all.extrapolated);
            EXPECT_TRUE(continued.extrapolated);
            EXPECT_NEAR(continued.makespan / all.makespan, 1.0, 1e-6) << model::to_text(schedule) << " " << p;
        }
}

TEST(ClosedForm, OfASplitBackwardStaysNearTheExecutor) {
    std::mt19937 random{17};
    const auto between = [&random](double least, double most) {
        return least + (most - least) * static_cast<double>(random() % 1000) / 1000.0;
    };
    std::map<PipelineSchedule, std::pair<double, double>> error;
    for (int trial = 0; trial < 1200; ++trial) {
        const PipelineSchedule schedule = split_schedules[trial % 6];
        const int p = 2 * static_cast<int>(1 + random() % 8);
        const std::int64_t m = 2 * p * static_cast<int>(1 + random() % 4);
        Case c = equal_stages(schedule, p, m, 1.0, between(0.9, 1.4), between(0.7, 1.0), between(0.0, 0.3));
        c.chunks.back().forward += Seconds{between(0.0, 0.3)};
        for (Seconds& link : c.links) link = Seconds{0.02};
        const double ratio = closed_form_pipeline_time(c.pipeline, c.times()) / run_of(c).makespan;
        auto& [low, high] = error[schedule];
        low = std::min(low, ratio - 1.0);
        high = std::max(high, ratio - 1.0);
    }
    for (const auto& [schedule, range] : error) {
        EXPECT_GE(range.first, schedule == v_half || schedule == v_min ? -0.10 : -0.06) << model::to_text(schedule);
        EXPECT_LE(range.second, 0.07) << model::to_text(schedule);
    }
}

}  // namespace
}  // namespace windtunnel::train
