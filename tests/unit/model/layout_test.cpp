#include "windtunnel/model/layout.hpp"

#include <gtest/gtest.h>

#include <set>

#include "windtunnel/model/verdict.hpp"

namespace windtunnel::model {
namespace {

TEST(LayoutText, NamesTheGroups) {
    Layout layout;
    layout.cards = 6144;
    layout.tensor_parallel = 8;
    layout.pipeline_parallel = 16;
    layout.virtual_pipeline = 2;
    layout.expert_parallel = 32;
    layout.schedule = PipelineSchedule::interleaved;
    layout.split.kind = SplitKind::slots;
    EXPECT_EQ(layout.data_parallel(), 48);         // 6144 / (8 x 16)
    EXPECT_EQ(layout.expert_data_parallel(), 12);  // 6144 / (32 x 16)
    EXPECT_EQ(
        to_text(layout),
        "cards 6144 = tp 8 x cp 1 x dp 48 x pp 16, vpp 2, ep 32, etp 1, micro-batch 1, global batch 1, recompute none, "
        "interleaved, zero 1, split slots");
}

TEST(SplitText, ListsExplicitChunks) {
    EXPECT_EQ(to_text(PipelineSplit{SplitKind::explicit_chunks, {4, 4, 3}}), "[4, 4, 3]");
    EXPECT_EQ(to_text(PipelineSplit{}), "uniform");
}

TEST(VerdictReason, EveryOneHasItsOwnWordAndSentence) {
    std::set<std::string> words, sentences;
    for (int reason = 0; reason < num_verdict_reasons; ++reason) {
        words.insert(to_text(static_cast<VerdictReason>(reason)));
        sentences.insert(explain(static_cast<VerdictReason>(reason)));
    }
    EXPECT_EQ(words.size(), static_cast<std::size_t>(num_verdict_reasons));
    EXPECT_EQ(sentences.size(), static_cast<std::size_t>(num_verdict_reasons));
    EXPECT_FALSE(words.contains(""));
}

}  // namespace
}  // namespace windtunnel::model
