#include "windtunnel/serve/engine_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "windtunnel/serve/kv_size.hpp"

namespace windtunnel::serve {
namespace {

constexpr double rounding = 1e-12;

model::Transformer llama3_70b() {
    model::Transformer t;
    t.num_layers = t.num_dense_layers = 80;
    t.hidden = 8192;
    t.ffn = 28672;
    t.vocabulary = 128256;
    t.attention.kind = model::AttentionKind::gqa;
    t.attention.num_heads = 64;
    t.attention.num_kv_heads = 8;
    t.attention.head_dim = 128;
    return t;
}

model::Transformer deepseek_v3() {
    model::Transformer t;
    t.num_layers = 61;
    t.num_dense_layers = 3;
    t.hidden = 7168;
    t.ffn = 18432;
    t.vocabulary = 129280;
    t.attention.kind = model::AttentionKind::mla;
    t.attention.num_heads = t.attention.num_kv_heads = 128;
    t.attention.q_lora_rank = 1536;
    t.attention.kv_lora_rank = 512;
    t.attention.qk_nope_head_dim = 128;
    t.attention.qk_rope_head_dim = 64;
    t.attention.v_head_dim = 128;
    t.experts = model::Experts{256, 8, 2048, 2048};
    return t;
}

/// 1000 TFLOP/s, 2 TB/s, 400 GB/s to 7 neighbours, 50 GB/s beyond, 80 GB: round numbers for work by hand.
model::Accelerator round_card() {
    model::Accelerator card;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{1e15};
    card.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{2e15};
    card.memory = Bytes{80e9};
    card.memory_bandwidth = BytesPerSecond{2e12};
    card.scale_up = {BytesPerSecond{400e9}, Seconds{1e-6}, "x"};
    card.scale_up_domain = 8;
    card.scale_out = {BytesPerSecond{50e9}, Seconds{5e-6}, "y"};
    card.cards_per_node = 8;
    return card;
}

/// Every share 1, every fixed part 0: what is left is arithmetic.
model::EngineEfficiency ideal() {
    model::EngineEfficiency e;
    e.weights = e.cache = e.gemm = e.gemm_8 = e.attention = e.latent_attention = 1.0;
    e.grouped_memory = e.grouped_gemm = e.scale_up = e.scale_out = 1.0;
    e.streaming_passes = e.permute_passes = e.group_reads = 0.0;
    e.all_reduce_latency = e.all_to_all_latency = e.all_to_all_issue = e.fixed_per_layer = e.fixed_per_expert_layer =
        Seconds{0.0};
    e.fixed_per_latent_layer = e.fixed_per_step = e.fixed_per_sequence = e.eager_floor_per_layer = Seconds{0.0};
    e.eager_floor_per_expert_layer = Seconds{0.0};
    e.first_token_fixed = Seconds{0.0};
    return e;
}

StepLoad decodes(int sequences, double context_each) {
    StepLoad load;
    load.decode_sequences = load.outputs = sequences;
    load.decode_context = sequences * context_each;
    return load;
}

TEST(KvSize, IsThePublishedNumberOfElements) {
    EXPECT_EQ(model::kv_elements_per_token(deepseek_v3()), 35136);  // 61 x (512 + 64)
    EXPECT_EQ(model::kv_elements_per_token(llama3_70b()), 163840);  // 2 x 80 x 8 x 128
}

TEST(KvSize, HeadsAreSplitUntilEachRankHasOne) {
    EXPECT_EQ(kv_elements_of_card(llama3_70b(), 8), 163840.0 / 8);
    EXPECT_EQ(kv_elements_of_card(llama3_70b(), 16), 163840.0 / 8);
    EXPECT_EQ(kv_elements_of_card(deepseek_v3(), 8), 35136.0);
}

TEST(KvSize, BlocksFillWhatWeightsLeave) {
    // Attention 2 x 8192^2 + 2 x 8192 x 1024 = 150,994,944, feed-forward 3 x 8192 x 28672 = 704,643,072 per layer;
    // tables 2 x 128256 x 8192. 16 bit over 8 cards: (80 x 855,638,016 + 2,101,346,304) / 4 = 17,638,096,896 B.
    const model::EngineLayout layout{8, 1, 1, 1, 1, 0};
    const model::EngineNumbers numbers;
    EXPECT_NEAR(weight_bytes(llama3_70b(), layout, numbers).value(), 17638096896.0, 1.0);
    // 0.9 x 80e9 - weights - 3e9 = 51,361,903,104 B; a block of 16 tokens: 20480 x 2 x 16 = 655,360 B -> 78,372.
    EXPECT_EQ(num_kv_blocks(llama3_70b(), round_card(), layout, numbers, {}, 16), 78372);
    // On one card the weights alone do not fit.
    EXPECT_EQ(num_kv_blocks(llama3_70b(), round_card(), {}, numbers, {}, 16), 0);
}

TEST(EngineCost, SmallBatchReadsWeightsAndCacheOnce) {
    // TP1, 16 bit. Layers 80 x 855,638,016 x 2 B = 136,902,082,560; head 128256 x 8192 x 2 = 2,101,346,304; cache of
    // one sequence of 1000 tokens 163840 x 2 x 1000 = 327,680,000. Sum 139,331,108,864 B at 2e12 B/s.
    const EngineCost cost{{llama3_70b(), round_card(), ideal(), {}, {}, {}}};
    EXPECT_NEAR(cost.step_time(decodes(1, 1000.0)).value(), 139331108864.0 / 2e12, 1e-9 * 0.07);
}

TEST(EngineCost, LargePrefillIsBoundByOperations) {
    // 4096 tokens: 2 x 4096 x 68,451,041,280 of layers; pairs 4096 x 4097 / 2, heads 64, 2 x (128 + 128) per pair and
    // head, 80 layers; head for one row is memory: 2,101,346,304 B.
    StepLoad load;
    load.prefill_sequences = load.outputs = 1;
    load.prefill_tokens = 4096;
    load.prefill_pairs = 4096.0 * 4097.0 / 2.0;
    const double layers = 2.0 * 4096.0 * 68451041280.0 / 1e15;
    const double attention = 4096.0 * 4097.0 / 2.0 * 64.0 * 512.0 * 80.0 / 1e15;
    const EngineCost cost{{llama3_70b(), round_card(), ideal(), {}, {}, {}}};
    EXPECT_NEAR(cost.step_time(load).value(), layers + attention + 2101346304.0 / 2e12, 1e-9);
}

TEST(EngineCost, DecodeIsALineInTheContext) {
    model::EngineEfficiency e;  // with every fixed part
    for (const EngineCost& cost : {EngineCost{{llama3_70b(), round_card(), e, {8, 1, 1, 1, 1, 0}, {}, {}}},
                                   EngineCost{{deepseek_v3(), round_card(), e, {1, 1, 32, 32, 1, 0}, {}, {1, 1.7}}}}) {
        ASSERT_TRUE(cost.linear_decode());
        const DecodeLine line = cost.decode_line(24);
        for (const double context : {1.0, 700.0, 4096.0, 30000.0}) {
            const double expected = line.fixed.value() + line.per_context_token.value() * 24 * context;
            EXPECT_NEAR(cost.step_time(decodes(24, context)).value(), expected, 1e-9 * expected);
        }
    }
}

TEST(EngineCost, ExpertsAreReadAsFarAsTheyAreHit) {
    // One token hits 8 of 256 experts; 32 tokens hit 256 (1 - (31/32)^32) = 163.3; many tokens hit all.
    const model::EngineNumbers fp8{{1.0, model::Precision::fp8}, {1.0, model::Precision::fp8}, 2.0, 1.0, 2.0};
    const EngineCost cost{{deepseek_v3(), round_card(), ideal(), {8, 1, 1, 8, 1, 0}, fp8, {}}};
    const double expert = 3.0 * 7168 * 2048;
    const auto seconds = [&](double hit) { return 58.0 * hit / 8.0 * expert / 2e12; };
    EXPECT_NEAR(cost.step_parts(decodes(1, 0.0)).experts.value(), seconds(8.0), 1e-12);
    EXPECT_NEAR(cost.step_parts(decodes(32, 0.0)).experts.value(), seconds(256.0 * (1.0 - std::pow(31.0 / 32.0, 32.0))),
                1e-12);
}

TEST(EngineCost, LatentAttentionReadsTheLatentAndComputesInIt) {
    // 64 sequences of 4096: 262,144 tokens x 576 x 2 B = 302 MB -> 151 us a layer at 2 TB/s; work 262,144 x 128 heads x
    // 2 x (512 + 512 + 64) = 73.0 GFLOP -> 73 us at 1e15: memory decides. With 2 query tokens 146 us: still memory.
    const EngineCost cost{{deepseek_v3(), round_card(), ideal(), {1, 1, 32, 32, 1, 0}, {}, {}}};
    EXPECT_NEAR(cost.step_parts(decodes(64, 4096.0)).attention.value(), 61.0 * 262144.0 * 576.0 * 2.0 / 2e12, 1e-12);
}

TEST(EngineCost, OneAllReduceAfterAttentionAndOneAfterFeedForward) {
    // TP8 in one domain, 4 tokens: message 4 x 8192 x 2 = 65,536 B; ring 2 x 7/8 x message / 400e9, 160 of them.
    const EngineCost cost{{llama3_70b(), round_card(), ideal(), {8, 1, 1, 1, 1, 0}, {}, {}}};
    EXPECT_NEAR(cost.step_parts(decodes(4, 0.0)).collectives.value(), 160.0 * 1.75 * 65536.0 / 400e9, rounding);
}

TEST(EngineCost, DispatchSendsOneCopyPerRankThatIsHit) {
    // EP8 in one domain, DP8: copies 8 (1 - (7/8)^8) = 5.251; 7/8 of them leave the card. Dispatch 1 B, combine 2 B.
    const model::EngineNumbers fp8{{1.0, model::Precision::fp8}, {1.0, model::Precision::fp8}, 2.0, 1.0, 2.0};
    const EngineCost cost{{deepseek_v3(), round_card(), ideal(), {1, 1, 8, 8, 1, 0}, fp8, {}}};
    const double copies = 8.0 * (1.0 - std::pow(7.0 / 8.0, 8.0));
    const double each = 100.0 * copies * 7168.0 * (7.0 / 8.0) / 400e9;
    EXPECT_NEAR(cost.step_parts(decodes(100, 0.0)).collectives.value(), 58.0 * 3.0 * each, 1e-9);
}

TEST(EngineCost, TwoHalvesHideTheExchangeButReadTheWeightsTwice) {
    const model::EngineNumbers fp8{{1.0, model::Precision::fp8}, {1.0, model::Precision::fp8}, 2.0, 1.0, 2.0};
    model::EngineEfficiency e = ideal();
    e.all_to_all_latency = Seconds{50e-6};
    EngineSetup plain{deepseek_v3(), round_card(), e, {1, 1, 72, 72, 1, 0}, fp8, {}};
    EngineSetup halves = plain;
    halves.two_batch_overlap = true;
    const auto gain = [&](int batch) {
        return EngineCost{plain}.step_time(decodes(batch, 2048.0)) /
               EngineCost{halves}.step_time(decodes(batch, 2048.0));
    };
    EXPECT_LT(gain(2), gain(256));  // one sequence a half: everything is read twice
    EXPECT_GT(gain(256), 1.0);
    // What the cores do for an exchange is not hidden: 2 halves x 2 x 58 layers x 10 us on top of the rest.
    const double before = EngineCost{halves}.step_time(decodes(256, 2048.0)).value();
    halves.efficiency.all_to_all_issue = Seconds{10e-6};
    EXPECT_NEAR(EngineCost{halves}.step_time(decodes(256, 2048.0)).value(), before + 4.0 * 58.0 * 10e-6, 1e-9);
}

TEST(EngineCost, DraftTokensAreVerifiedInOneStep) {
    // Bound by memory: verifying 2 tokens reads the same weights; the draft adds one layer of 80 and a second head.
    EngineSetup setup{llama3_70b(), round_card(), ideal(), {}, {}, {}};
    const double plain = EngineCost{setup}.step_time(decodes(1, 0.0)).value();
    setup.speculation = {1, 1.7};
    const double head = 2101346304.0 / 2e12, layer = 855638016.0 * 2.0 / 2e12;
    EXPECT_NEAR(EngineCost{setup}.step_time(decodes(1, 0.0)).value(), plain + layer + head, 1e-9);
}

TEST(EngineCost, WeightsInFourBitsAreReadFourTimesFaster) {
    model::EngineNumbers numbers;
    ASSERT_TRUE(model::engine_numbers_of("w4a16", numbers));
    const EngineCost wide{{llama3_70b(), round_card(), ideal(), {}, {}, {}}};
    const EngineCost narrow{{llama3_70b(), round_card(), ideal(), {}, numbers, {}}};
    const auto layers = [](const StepParts& p) { return (p.projections + p.dense_ffn).value(); };
    EXPECT_NEAR(layers(narrow.step_parts(decodes(1, 0.0))) / layers(wide.step_parts(decodes(1, 0.0))),
                (0.5 + 1.0 / 64.0) / 2.0, rounding);
    EXPECT_FALSE(model::engine_numbers_of("fp12", numbers));
}

TEST(EngineCost, AWindowBoundsWhatIsRead) {
    model::Transformer t = llama3_70b();
    t.attention.sliding_window = 128;
    t.attention.num_sliding_layers = 40;
    const EngineCost cost{{t, round_card(), ideal(), {}, {}, {}}};
    EXPECT_FALSE(cost.linear_decode());
    // 40 layers read 1000 tokens, 40 layers 128, 2048 elements each.
    EXPECT_NEAR(cost.step_parts(decodes(1, 1000.0)).attention.value(), 40.0 * (1000 + 128) * 2048.0 * 2.0 / 2e12,
                1e-12);
}

TEST(EngineCost, KernelsWithoutGroupSharingReadTheCacheOncePerQueryHead) {
    // 64 query heads over 8 key/value heads: 1 + 7 x 0.5 = 4.5 reads.
    EngineSetup setup{llama3_70b(), round_card(), ideal(), {}, {}, {}};
    const double shared = EngineCost{setup}.step_parts(decodes(1, 1000.0)).attention.value();
    setup.efficiency.group_reads = 0.5;
    EXPECT_NEAR(EngineCost{setup}.step_parts(decodes(1, 1000.0)).attention.value(), 4.5 * shared, 1e-15);
}

TEST(EngineCost, NoSequencesTakeNoTime) {
    const EngineCost cost{{llama3_70b(), round_card(), {}, {}, {}, {}}};
    EXPECT_EQ(cost.step_time(StepLoad{}).value(), 0.0);
}

}  // namespace
}  // namespace windtunnel::serve
