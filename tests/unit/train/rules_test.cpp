#include "windtunnel/train/rules.hpp"

#include <gtest/gtest.h>

#include "train_examples.hpp"

namespace windtunnel::train {
namespace {

using model::VerdictReason;

/// 64 cards: tp 8 x pp 2 x dp 4 of an 80-layer model; every rule holds.
model::Layout good() {
    return test::layout(64, 8, 2, 1, 64);
}
Job job() {
    return test::job(test::llama3_70b(), test::a100(), 64, 4096);
}
Job moe_job() {
    return test::job(test::deepseek_v2(4), test::a100(), 64, 4096);
}

TEST(BrokenRule, OfAGoodLayoutIsNone) {
    EXPECT_EQ(broken_rule(job(), good()), VerdictReason::fits);
    EXPECT_EQ(rule_verdict(job(), good()).detail, "");
}

struct BadLayout {
    VerdictReason reason;
    void (*spoil)(Job&, model::Layout&);
};

class EveryRule : public testing::TestWithParam<BadLayout> {};

TEST_P(EveryRule, NamesTheSpoiltLayoutWithChoices) {
    Job one = job();
    model::Layout layout = good();
    GetParam().spoil(one, layout);
    EXPECT_EQ(broken_rule(one, layout), GetParam().reason) << rule_verdict(one, layout).detail;
    EXPECT_EQ(rule_verdict(one, layout).reason, GetParam().reason);
    EXPECT_NE(rule_verdict(one, layout).detail, "");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, EveryRule,
    testing::Values(
        BadLayout{VerdictReason::more_cards_than_cluster, [](Job&, model::Layout& l) { l.cards = 128; }},
        BadLayout{VerdictReason::world_size_not_divisible, [](Job&, model::Layout& l) { l.pipeline_parallel = 5; }},
        BadLayout{VerdictReason::expert_groups_not_divisible,
                  [](Job& j, model::Layout& l) {
                      j = moe_job();
                      l.expert_parallel = 10;
                  }},
        BadLayout{VerdictReason::heads_not_divisible,
                  [](Job& j, model::Layout&) { j.transformer.attention.num_heads = 60; }},
        BadLayout{VerdictReason::kv_heads_not_divisible,
                  [](Job& j, model::Layout&) { j.transformer.attention.num_kv_heads = 6; }},
        BadLayout{VerdictReason::ffn_not_divisible, [](Job& j, model::Layout&) { j.transformer.ffn = 28668; }},
        BadLayout{VerdictReason::experts_not_divisible,
                  [](Job& j, model::Layout& l) {
                      j = moe_job();
                      l.expert_parallel = 32;
                      j.transformer.experts->num_routed = 100;
                  }},
        BadLayout{VerdictReason::experts_without_moe, [](Job&, model::Layout& l) { l.expert_parallel = 4; }},
        BadLayout{VerdictReason::vocabulary_not_divisible,
                  [](Job& j, model::Layout&) { j.transformer.padded_vocabulary = 128260; }},
        BadLayout{VerdictReason::layers_not_divisible, [](Job& j, model::Layout&) { j.transformer.num_layers = 81; }},
        BadLayout{VerdictReason::virtual_stages_without_interleaving,
                  [](Job&, model::Layout& l) { l.virtual_pipeline = 2; }},
        BadLayout{VerdictReason::micro_batches_not_divisible,
                  [](Job&, model::Layout& l) {
                      l.virtual_pipeline = 2;
                      l.schedule = model::PipelineSchedule::interleaved;
                      l.global_batch_size = 4 * 7;  // 7 micro-batches over 2 ranks
                  }},
        BadLayout{VerdictReason::odd_pipeline,
                  [](Job& j, model::Layout& l) {
                      j.transformer.num_layers = j.transformer.num_dense_layers = 81;
                      l = test::layout(24, 8, 3, 1, 64);
                      l.schedule = model::PipelineSchedule::dualpipe;
                  }},
        BadLayout{VerdictReason::batch_not_divisible, [](Job&, model::Layout& l) { l.global_batch_size = 66; }},
        BadLayout{VerdictReason::sequence_not_divisible, [](Job& j, model::Layout&) { j.sequence_length = 4097; }},
        BadLayout{VerdictReason::sharding_not_supported, [](Job&, model::Layout& l) { l.optimizer_sharding = 2; }},
        BadLayout{VerdictReason::precision_not_supported,
                  [](Job& j, model::Layout&) { j.precision = model::Precision::fp8; }}),
    [](const auto& instance) { return model::to_text(instance.param.reason); });

// One stage per line: schedule, pp, vpp, micro-batches, what is broken, what the text names.
TEST(ScheduleRules, NameTheNearestChoices) {
    struct Line {
        model::PipelineSchedule schedule;
        int pp, vpp;
        std::int64_t micro_batches;
        VerdictReason reason;
        const char* text;
    };
    using enum model::PipelineSchedule;
    using enum VerdictReason;
    const Line lines[] = {
        {zb_1p, 4, 1, 3, fits, ""},
        {zb_1p, 4, 2, 3, virtual_stages_without_interleaving, "nearest: virtual_pipeline 1"},
        {zb_v, 4, 2, 1, fits, ""},
        {zb_v, 4, 1, 8, virtual_stages_without_interleaving, "nearest: virtual_pipeline 2, or schedule \"1f1b\""},
        {v_half, 4, 4, 8, virtual_stages_without_interleaving, "or schedule \"interleaved\""},
        {v_min, 1, 2, 8, virtual_stages_without_interleaving, "or schedule \"1f1b\""},
        {dualpipe, 4, 1, 8, fits, ""},
        {dualpipe, 4, 1, 6, micro_batches_not_divisible, "nearest global batches: 8, 10, 12"},
        {dualpipe, 4, 1, 9, micro_batches_not_divisible,
         "9 micro-batches are odd (dualpipe); nearest global batches: 8, 10"},
        {dualpipe, 5, 1, 10, odd_pipeline, "nearest: 4, 6"},
        {dualpipe, 1, 1, 10, odd_pipeline, "nearest: 2, 4"},
        {dualpipe_v, 4, 2, 9, fits, ""},
        {dualpipe_v, 4, 2, 7, micro_batches_not_divisible, "7 micro-batches are fewer than 2 x pipeline_parallel 4"},
    };
    for (const Line& line : lines) {
        Job job = test::job(test::llama3_70b(), test::h100(), 8, 4096);
        job.transformer.num_layers = job.transformer.num_dense_layers = 80;
        model::Layout layout = test::layout(line.pp, 1, line.pp, 1, line.micro_batches);
        layout.virtual_pipeline = line.vpp;
        layout.schedule = line.schedule;
        const model::Verdict verdict = rule_verdict(job, layout);
        EXPECT_EQ(verdict.reason, line.reason) << model::to_text(layout) << ": " << verdict.detail;
        EXPECT_NE(verdict.detail.find(line.text), std::string::npos) << verdict.detail;
    }
}

int count_layers(const std::vector<ChunkLoad>& loads) {
    int layers = 0;
    for (const ChunkLoad& load : loads) layers += load.dense_layers + load.moe_layers;
    return layers;
}

TEST(PipelineSplit, UniformGivesEachChunkTheSame) {
    const auto loads = pipeline_split(test::llama3_70b(), good());
    ASSERT_EQ(loads.size(), 2U);
    EXPECT_EQ(loads[0].dense_layers, 40);
    EXPECT_TRUE(loads[0].embedding);
    EXPECT_FALSE(loads[0].head);
    EXPECT_TRUE(loads[1].head);
}

// 126 layers + embedding + head = 128 slots over 8 x 8 chunks: two slots each.
TEST(PipelineSplit, SlotsCountEmbeddingAndHead) {
    model::Layout layout = test::layout(1024, 8, 8, 1, 1024);
    layout.virtual_pipeline = 8;
    layout.split.kind = model::SplitKind::slots;
    const auto loads = pipeline_split(test::llama3_405b(), layout);
    EXPECT_EQ(count_layers(loads), 126);
    EXPECT_EQ(loads.front().dense_layers, 1);
    EXPECT_EQ(loads[1].dense_layers, 2);
    EXPECT_EQ(loads.back().dense_layers, 1);
    EXPECT_TRUE(loads.back().head);
}

// 61 layers + embedding + MTP + head = 64 slots over 16 x 2 chunks: the last one holds MTP module and head only.
TEST(PipelineSplit, SlotsCountMtpModules) {
    model::Layout layout = test::layout(6144, 8, 16, 2, 15360);
    layout.virtual_pipeline = 2;
    layout.split.kind = model::SplitKind::slots;
    const auto loads = pipeline_split(test::pangu_ultra_moe_718b(), layout);
    ASSERT_EQ(loads.size(), 32U);
    EXPECT_EQ(count_layers(loads), 61);
    EXPECT_EQ(loads[0].dense_layers, 1);
    EXPECT_EQ(loads[1].dense_layers, 2);
    EXPECT_EQ(loads[2].moe_layers, 2);
    EXPECT_EQ(loads[31].moe_layers, 0);
    EXPECT_EQ(loads[31].mtp_layers, 1);
    EXPECT_TRUE(loads[31].head);
}

// 78 layers over 12 stages: ceil 7, the last one has 78 - 77 = 1.
TEST(PipelineSplit, ShortLastTakesTheRest) {
    model::Layout layout = test::layout(96, 8, 12, 1, 12);
    layout.split.kind = model::SplitKind::short_last;
    const auto loads = pipeline_split(test::gpt(78, 13824, 96), layout);
    EXPECT_EQ(loads[10].dense_layers, 7);
    EXPECT_EQ(loads[11].dense_layers, 1);
    EXPECT_EQ(count_layers(loads), 78);
}

TEST(PipelineSplit, ExplicitChunksAreTakenAsGiven) {
    model::Layout layout = test::layout(4, 1, 4, 1, 4);
    layout.split = {model::SplitKind::explicit_chunks, {1, 2, 1, 0}};
    model::Transformer model = test::deepseek_v2(4);
    const auto loads = pipeline_split(model, layout);
    EXPECT_EQ(loads[0].dense_layers, 1);
    EXPECT_EQ(loads[1].moe_layers, 2);
    EXPECT_EQ(loads[3].moe_layers, 0);
    EXPECT_TRUE(loads[3].head);
}

// Experts in every second layer behind two dense ones: layers 3, 5, 7 of 0..7.
TEST(PipelineSplit, TellsDenseAndMoeLayersApart) {
    model::Transformer model = test::deepseek_v2(8);
    model.num_dense_layers = 2;
    model.moe_layer_step = 2;
    const auto loads = pipeline_split(model, test::layout(4, 1, 4, 1, 4));
    EXPECT_EQ(loads[0].dense_layers, 2);
    EXPECT_EQ(loads[1].moe_layers, 1);
    EXPECT_EQ(loads[1].dense_layers, 1);
    EXPECT_EQ(loads[3].moe_layers, 1);
}

}  // namespace
}  // namespace windtunnel::train
