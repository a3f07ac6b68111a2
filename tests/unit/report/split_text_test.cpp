#include <gtest/gtest.h>

#include "windtunnel/report/plan_summary.hpp"

namespace windtunnel::report {
namespace {

/// Four chunks with 1, 2, 3 and 4 dense layers.
std::vector<train::ChunkLoad> four_chunks() {
    std::vector<train::ChunkLoad> split(4);
    for (int chunk = 0; chunk < 4; ++chunk) split[static_cast<std::size_t>(chunk)].dense_layers = chunk + 1;
    return split;
}

TEST(SplitText, NamesTheRankOfEachChunk) {
    EXPECT_EQ(split_text(four_chunks(), 2, model::PipelineSchedule::interleaved),
              "  chunk 0 of stage 0: 1 dense\n  chunk 0 of stage 1: 2 dense\n"
              "  chunk 1 of stage 0: 3 dense\n  chunk 1 of stage 1: 4 dense\n");
}

// Chunk 1 of a V comes back: stage 2 lies on rank 1, stage 3 on rank 0.
TEST(SplitText, AVTurnsAtTheLastRank) {
    EXPECT_EQ(split_text(four_chunks(), 2, model::PipelineSchedule::zb_v),
              "  chunk 0 of stage 0: 1 dense\n  chunk 0 of stage 1: 2 dense\n"
              "  chunk 1 of stage 1: 3 dense\n  chunk 1 of stage 0: 4 dense\n");
}

TEST(SplitText, DualPipeHoldsEachStageTwice) {
    EXPECT_EQ(split_text(four_chunks(), 4, model::PipelineSchedule::dualpipe),
              "  stage 0 (on ranks 0 and 3): 1 dense\n  stage 1 (on ranks 1 and 2): 2 dense\n"
              "  stage 2 (on ranks 2 and 1): 3 dense\n  stage 3 (on ranks 3 and 0): 4 dense\n");
}

}  // namespace
}  // namespace windtunnel::report
