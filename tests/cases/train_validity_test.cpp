// User cases on layouts that make no sense: UC-023, UC-025, UC-029, and the slots rule of UC-041.
#include <gtest/gtest.h>

#include "train_examples.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel {
namespace {

using model::VerdictReason;

model::Transformer with_layers(int layers) {
    return test::dense_model(layers, 4096, 32, 32, 128, 11008, 32000);
}

// UC-023. Megatron-LM issue 468: 80 layers, 16 stages of 5 layers, 2 layers per virtual stage: 5 is no multiple of 2;
// the program ran with 64 layers. No number of chunks but 1 and 5 divides 5.
TEST(ValidityCase, Uc023LayersPerVirtualStageMustDivide) {
    const train::Job job = test::job(with_layers(80), test::a100(), 128, 2048);
    model::Layout layout = test::layout(16, 1, 16, 1, 16);
    layout.schedule = model::PipelineSchedule::interleaved;
    for (const int chunks : {2, 3, 4}) {
        layout.virtual_pipeline = chunks;
        const model::Verdict verdict = train::rule_verdict(job, layout);
        EXPECT_EQ(verdict.reason, VerdictReason::layers_not_divisible);
        EXPECT_NE(verdict.detail.find("80"), std::string::npos) << verdict.detail;
    }
    layout.virtual_pipeline = 5;
    EXPECT_EQ(train::broken_rule(job, layout), VerdictReason::fits);
}

// UC-025. Megatron-LM issue 1304: 30 layers over 4 stages; the program ran with 28.
TEST(ValidityCase, Uc025UniformSplitMustDivide) {
    const train::Job job = test::job(with_layers(30), test::a100(), 8, 2048);
    model::Layout layout = test::layout(4, 1, 4, 1, 4);
    EXPECT_EQ(train::rule_verdict(job, layout).reason, VerdictReason::layers_not_divisible);
    layout.split.kind = model::SplitKind::short_last;  // 8 + 8 + 8 + 6
    ASSERT_EQ(train::broken_rule(job, layout), VerdictReason::fits);
    int layers = 0;
    for (const train::ChunkLoad& load : train::pipeline_split(job.transformer, layout)) layers += load.dense_layers;
    EXPECT_EQ(layers, 30);
}

// UC-029. SimAI issue 202: 1,472 cards, TP 8, PP 8 -> dp 23; batch 32 is no multiple of 23; valid ones: 23, 46, 69.
TEST(ValidityCase, Uc029BatchMustDivide) {
    const train::Job job = test::job(test::dense_model(40, 5120, 40, 40, 128, 11008, 50257), test::a100(), 1472, 4096);
    model::Layout layout = test::layout(1472, 8, 8, 1, 32);
    EXPECT_EQ(layout.data_parallel(), 23);
    const model::Verdict verdict = train::rule_verdict(job, layout);
    EXPECT_EQ(verdict.reason, VerdictReason::batch_not_divisible);
    for (const char* text : {"32", "23", "46", "69"})
        EXPECT_NE(verdict.detail.find(text), std::string::npos) << verdict.detail;
    for (const int batch : {23, 46, 69}) {
        layout.global_batch_size = batch;
        EXPECT_EQ(train::broken_rule(job, layout), VerdictReason::fits) << batch;
    }
}

// UC-041 (its rule): 126 layers + embedding + loss = 128 slots = 8 x 8 x 2; 1,024 cards with TP 8, PP 8, CP 2 leave
// dp 8.
TEST(ValidityCase, Uc041EmbeddingAndLossCountAsSlots) {
    const train::Job job = test::job(test::llama3_405b(), test::h100(), 1024, 8192);
    model::Layout layout = test::layout(1024, 8, 8, 1, 1536);
    layout.context_parallel = 2;
    layout.virtual_pipeline = 8;
    layout.schedule = model::PipelineSchedule::interleaved;
    EXPECT_EQ(train::broken_rule(job, layout), VerdictReason::layers_not_divisible);
    EXPECT_NE(train::rule_verdict(job, layout).detail.find("slots"), std::string::npos);
    layout.split.kind = model::SplitKind::slots;
    EXPECT_EQ(train::broken_rule(job, layout), VerdictReason::fits);
    EXPECT_EQ(layout.data_parallel(), 8);
}

}  // namespace
}  // namespace windtunnel
