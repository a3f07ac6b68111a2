// User cases on model FLOPs: UC-036, UC-038.
#include <gtest/gtest.h>

#include "train_examples.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel {
namespace {

double causal_flops(const train::FlopsPerToken& flops) {
    return flops.weights + flops.attention_causal;
}

// UC-036. NVIDIA Megatron-Bridge performance summary: TFLOP/s over tokens/s at 8,192 tokens, reproduced by 6 x weights
// with the output head + causal attention counted once. Tolerance published with the case: 0.5 %.
TEST(FlopsPerTokenCase, Uc036LlamaAtEightThousandTokens) {
    struct Row {
        model::Transformer model;
        double gflop;
    };
    const Row rows[] = {{test::dense_model(32, 4096, 32, 8, 128, 14336, 128256), 51.47},
                        {test::llama3_70b(), 449.2},
                        {test::llama3_405b(), 2524.0}};
    for (const Row& row : rows)
        EXPECT_NEAR(causal_flops(train::flops_per_token(row.model, 8192)) / 1e9, row.gflop, 0.005 * row.gflop);
}

// UC-038. MaxText issues 1972, 1988: Llama-2-7B, four sequences a device, both conventions. Tolerance 0.1 %.
TEST(FlopsPerTokenCase, Uc038CausalFactorOfLlama2) {
    const model::Transformer model = test::dense_model(32, 4096, 32, 32, 128, 11008, 32000);
    struct Row {
        int length;
        double weights, full, causal;
    };
    for (const Row& row : {Row{8192, 1299.0, 422.21, 211.11}, Row{129024, 20459.32, 104735.08, 52367.54}}) {
        const train::FlopsPerToken flops = train::flops_per_token(model, row.length);
        const double tera_tokens = 4.0 * row.length / 1e12;
        EXPECT_NEAR(flops.weights * tera_tokens, row.weights, 0.001 * row.weights);
        EXPECT_NEAR(flops.attention_full * tera_tokens, row.full, 0.001 * row.full);
        EXPECT_NEAR(flops.attention_causal * tera_tokens, row.causal, 0.001 * row.causal);
    }
}

// An MTP module adds its layer, its projection and the head once more. Lessons of the same table: DeepSeek-V3 rows
// print 0.250 TFLOP a token without and 0.260 with it.
TEST(FlopsPerTokenCase, MtpModulesCountAsWork) {
    model::Transformer model = test::pangu_ultra_moe_718b();
    model.hidden = 7168;
    model.vocabulary = 129280;
    const double with = causal_flops(train::flops_per_token(model, 4096));
    model.num_mtp_layers = 0;
    const double without = causal_flops(train::flops_per_token(model, 4096));
    EXPECT_NEAR(without, 0.250e12, 0.02 * 0.250e12);
    EXPECT_NEAR(with, 0.260e12, 0.02 * 0.260e12);
}

}  // namespace
}  // namespace windtunnel
