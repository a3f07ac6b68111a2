#include "windtunnel/train/schedule.hpp"

#include <gtest/gtest.h>

#include <map>

namespace windtunnel::train {
namespace {

using model::PipelineSchedule;

std::string text_of(const std::vector<ScheduledTask>& order) {
    std::string text;
    for (const ScheduledTask& task : order)
        text += (task.kind == TaskKind::forward ? "F" : "B") + std::to_string(task.micro_batch) +
                (task.chunk == 0 ? "" : std::string(static_cast<std::size_t>(task.chunk), '\'')) + " ";
    return text;
}

TEST(Schedule, OneFOneBWarmsUpAndAlternates) {
    // SC21 figure 4, p = 4, m = 8: the first device runs three forwards ahead, the last one none.
    const Pipeline pipeline{PipelineSchedule::one_f_one_b, 4, 1, 4};
    EXPECT_EQ(text_of(pipeline_order(pipeline, 0)), "F0 F1 F2 F3 B0 B1 B2 B3 ");
    EXPECT_EQ(text_of(pipeline_order(pipeline, 2)), "F0 F1 B0 F2 B1 F3 B2 B3 ");
    EXPECT_EQ(text_of(pipeline_order(pipeline, 3)), "F0 B0 F1 B1 F2 B2 F3 B3 ");
}

TEST(Schedule, InterleavedTakesGroupsOfPMicroBatchesChunkByChunk) {
    // p = 2, v = 2, m = 4, last rank: warm-up 2 (p - 1 - 1) + (2 - 1) x 2 = 2 forwards. Forwards F0 F1 F0' F1' F2 F3
    // F2' F3', backwards from the last chunk: B0' B1' B0 B1 B2' B3' B2 B3.
    const Pipeline pipeline{PipelineSchedule::interleaved, 2, 2, 4};
    EXPECT_EQ(text_of(pipeline_order(pipeline, 1)), "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3 ");
    EXPECT_EQ(num_warm_up_forwards(pipeline, 0), 4);
}

TEST(Schedule, GPipeRunsAllForwardsFirst) {
    EXPECT_EQ(text_of(pipeline_order({PipelineSchedule::gpipe, 2, 1, 3}, 1)), "F0 F1 F2 B0 B1 B2 ");
}

TEST(Schedule, EveryForwardAndBackwardRunsOnceAndForwardComesFirst) {
    for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved})
        for (const int p : {1, 2, 3, 8})
            for (const int v : {1, 2, 5}) {
                if (v > 1 && schedule != PipelineSchedule::interleaved) continue;
                const Pipeline pipeline{schedule, p, v, 3 * p};
                for (int rank = 0; rank < p; ++rank) {
                    std::map<std::pair<int, std::int64_t>, int> state;
                    std::int64_t in_flight = 0, most = 0;
                    for (const ScheduledTask& task : pipeline_order(pipeline, rank)) {
                        int& done = state[{task.chunk, task.micro_batch}];
                        EXPECT_EQ(done, task.kind == TaskKind::forward ? 0 : 1);
                        ++done;
                        in_flight += task.kind == TaskKind::forward ? 1 : -1;
                        most = std::max(most, in_flight);
                    }
                    EXPECT_EQ(state.size(), static_cast<std::size_t>(v) * 3U * static_cast<std::size_t>(p));
                    for (const auto& [key, done] : state) EXPECT_EQ(done, 2);
                    EXPECT_EQ(most, num_in_flight(pipeline, rank));  // the closed count is what the order really holds
                }
            }
}

TEST(Schedule, InFlightOfOneFOneBIsWhatTheRanksBehindNeed) {
    // min(m, p - s): p = 8, m = 16 gives 8 at the first rank and 1 at the last; m = 3 caps it.
    EXPECT_EQ(num_in_flight({PipelineSchedule::one_f_one_b, 8, 1, 16}, 0), 8);
    EXPECT_EQ(num_in_flight({PipelineSchedule::one_f_one_b, 8, 1, 16}, 7), 1);
    EXPECT_EQ(num_in_flight({PipelineSchedule::one_f_one_b, 8, 1, 3}, 0), 3);
}

}  // namespace
}  // namespace windtunnel::train
