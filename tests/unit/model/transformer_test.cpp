#include "windtunnel/model/transformer.hpp"

#include <gtest/gtest.h>

namespace windtunnel::model {
namespace {

Transformer llama3_8b() {
    Transformer model;
    model.num_layers = model.num_dense_layers = 32;
    model.hidden = 4096;
    model.ffn = 14336;
    model.attention = {AttentionKind::gqa, 32, 8, 128};
    model.vocabulary = 128256;
    return model;
}

Transformer deepseek_v3() {
    Transformer model;
    model.num_layers = 61;
    model.num_dense_layers = 3;
    model.hidden = 7168;
    model.ffn = 18432;
    model.attention = {AttentionKind::mla, 128, 128, 0, 1536, 512, 128, 64, 128};
    model.experts = Experts{256, 8, 2048, 2048};
    model.vocabulary = 129280;
    model.num_mtp_layers = 1;
    return model;
}

// Per layer: 2*4096*4096 + 2*4096*1024 = 41,943,040; 3*4096*14336 = 176,160,768. Sum x 32 = 6,979,321,856.
// Embeddings 2 x 128256 x 4096 = 1,050,673,152. Together 8,029,995,008.
TEST(ParameterCount, OfADenseModelWithGroupedQueries) {
    const ParameterCount count = parameter_count(llama3_8b());
    EXPECT_EQ(count.attention_per_layer, 41'943'040);
    EXPECT_EQ(count.total(), 8'029'995'008);
    EXPECT_EQ(count.activated(), 8'029'995'008);
}

// Attention: 7168*1536 + 1536*128*192 + 7168*576 + 512*128*256 + 128*128*7168 = 187,105,280 per layer.
// 58 MoE layers of 257 experts of 3*7168*2048 and a router of 7168*256; 3 dense of 3*7168*18432.
// Totals printed in the published check: 671,025,397,760 and 37,551,276,032 activated.
TEST(ParameterCount, OfDeepSeekV3) {
    const ParameterCount count = parameter_count(deepseek_v3());
    EXPECT_EQ(count.attention_per_layer, 187'105'280);
    EXPECT_EQ(count.total(), 671'025'397'760);
    EXPECT_EQ(count.activated(), 37'551'276'032);
}

// The same structure with hidden 7680 and 153,600 words.
TEST(ParameterCount, OfPanguUltraMoe) {
    Transformer model = deepseek_v3();
    model.hidden = 7680;
    model.vocabulary = 153600;
    EXPECT_EQ(parameter_count(model).total(), 719'091'761'152);
    EXPECT_EQ(parameter_count(model).activated(), 40'369'487'872);
}

TEST(ParameterCount, CountsTiedEmbeddingsOnce) {
    Transformer model = llama3_8b();
    model.tied_embeddings = true;
    EXPECT_EQ(parameter_count(model).total(), 8'029'995'008 - 128256LL * 4096);
}

// GPT-3 175B: 96 layers of 12 h^2 with h = 12288, biases 9h + 4h... per layer qkv 3h + out h + 4h + h = 9h, norms 4h.
TEST(ParameterCount, KeepsNormsAndBiasesApart) {
    Transformer model;
    model.num_layers = model.num_dense_layers = 96;
    model.hidden = 12288;
    model.ffn = 4 * 12288;
    model.attention = {AttentionKind::mha, 96, 96, 128};
    model.activation = Activation::gelu;
    model.biases = true;
    EXPECT_EQ(parameter_count(model).layers, 12LL * 96 * 12288 * 12288);
    EXPECT_EQ(parameter_count(model).norms_and_biases, 96LL * 13 * 12288 + 2 * 12288);
}

// Every second layer behind the dense ones has experts: layers 2, 4, 6 of 0..6 with one dense layer.
TEST(Transformer, CountsTheLayersThatHaveExperts) {
    Transformer model;
    model.num_layers = 7;
    model.num_dense_layers = 1;
    model.moe_layer_step = 2;
    model.experts = Experts{8, 2, 64, 0};
    int counted = 0;
    for (int layer = 0; layer < model.num_layers; ++layer) counted += model.layer_has_experts(layer) ? 1 : 0;
    EXPECT_EQ(counted, 3);
    EXPECT_EQ(model.num_moe_layers(), 3);
}

TEST(KvElements, OfLatentAttentionAreLatentPlusRope) {
    EXPECT_EQ(kv_elements_per_token(deepseek_v3()), 61 * (512 + 64));  // 35,136
    EXPECT_EQ(kv_elements_per_token(llama3_8b()), 65'536);             // 32 x 2 x 8 x 128
}

}  // namespace
}  // namespace windtunnel::model
