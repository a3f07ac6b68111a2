#include "windtunnel/train/unit_costs.hpp"

#include <gtest/gtest.h>

#include "train_examples.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

/// Everything at data-sheet speed, nothing hidden, no launches.
model::Efficiency ideal() {
    model::Efficiency e;
    e.gemm = e.attention = e.grouped_gemm = e.memory = e.scale_up = e.scale_out = 1.0;
    e.gemm_half_size = 0.0;
    e.scale_up_hidden = e.scale_out_hidden = 0.0;
    e.kernel_launch = e.host_per_layer_pass = e.moe_routing = e.fixed_per_step = Seconds{0.0};
    return e;
}

Job ideal_job(const model::Transformer& transformer, int sequence) {
    Job job = test::job(transformer, test::a100(), 64, sequence);
    job.efficiency = ideal();
    return job;
}

UnitKey key_of(int tp, int cp, int ep, int etp, int micro_batch) {
    UnitKey key;
    key.tensor_parallel = tp;
    key.context_parallel = cp;
    key.expert_parallel = ep;
    key.expert_tensor_parallel = etp;
    key.micro_batch_size = micro_batch;
    key.sequence_parallel = tp > 1;
    return key;
}

struct Cut {
    int tp, cp, ep, etp, micro_batch;
};
class EveryCut : public testing::TestWithParam<Cut> {};

// The cards of one replica's stage do the model's work for its tokens, however it is cut.
TEST_P(EveryCut, KeepsTheModelFlopsOfDenseAndMoeModels) {
    const Cut cut = GetParam();
    for (model::Transformer model : {test::llama3_70b(), test::deepseek_v2(4), test::pangu_ultra_moe_718b()}) {
        model.num_mtp_layers = 1;
        const Job job = ideal_job(model, 8192);
        const UnitCosts costs = unit_costs(job, key_of(cut.tp, cut.cp, cut.ep, cut.etp, cut.micro_batch));
        const int moe = model.num_moe_layers();
        const Flops card = costs.dense_layer.model_flops * double(model.num_layers - moe) +
                           costs.moe_layer.model_flops * double(moe) + costs.embedding.model_flops +
                           costs.head.model_flops + costs.mtp.model_flops;
        const FlopsPerToken per_token = flops_per_token(model, 8192);
        const double expected = (per_token.weights + per_token.attention_causal) * 8192.0 * cut.micro_batch;
        // Rounding, and 128 x tp rows of vocabulary padding: at most 0.1 %.
        EXPECT_NEAR(card.value() * cut.tp * cut.cp / expected, 1.0, 1e-3) << model.hidden;
    }
}
INSTANTIATE_TEST_SUITE_P(Cuts, EveryCut,
                         testing::Values(Cut{1, 1, 1, 1, 1}, Cut{8, 1, 1, 1, 2}, Cut{1, 8, 4, 1, 1}, Cut{4, 2, 8, 1, 1},
                                         Cut{4, 2, 8, 4, 3}));

// GPT-3 layer, tp 8, 2048 tokens: weights 12 h^2/8, 6 x tokens each; 312 TFLOP/s. h = 12288: 12 x 1.50995e8 / 8
// = 2.2649e8; x 2048 x 2 = 9.277e11 FLOP = 2.9734 ms forward, twice that backward.
TEST(LayerCost, OfAnIdealCardIsItsWorkOverItsPeak) {
    const Job job = ideal_job(test::gpt(96, 12288, 96), 2048);
    const UnitCosts costs = unit_costs(job, key_of(8, 1, 1, 1, 1));
    const BlockCost& layer = costs.dense_layer;
    EXPECT_NEAR(layer.forward[Part::gemm].value(), 2.9734e-3, 1e-6);
    EXPECT_NEAR((layer.backward_input[Part::gemm] + layer.backward_weight[Part::gemm]).value(), 2 * 2.9734e-3, 2e-6);
}

// Causal flash: 2 x 2048^2/2 x 12 heads x 256 = 1.2885e10 FLOP / 312e12 = 41.30 us; backward 2.5 times.
TEST(LayerCost, AttentionIsTheCausalHalf) {
    const Job job = ideal_job(test::gpt(96, 12288, 96), 2048);
    const UnitCosts costs = unit_costs(job, key_of(8, 1, 1, 1, 1));
    EXPECT_NEAR(costs.dense_layer.forward[Part::attention].value(), 41.30e-6, 0.01e-6);
    EXPECT_NEAR(costs.dense_layer.backward_input[Part::attention].value(), 2.5 * 41.30e-6, 0.02e-6);
}

// Forward: two gathers and two scatters of 2048 x 12288 x 2 bytes over 8 ranks: 4 x 7 x (5 us + 6.2915e6/300e9).
TEST(LayerCost, SequenceParallelismMovesFourTimesTheHiddenState) {
    const Job job = ideal_job(test::gpt(96, 12288, 96), 2048);
    UnitKey key = key_of(8, 1, 1, 1, 1);
    const double each = 7 * (5e-6 + 2048 * 12288 * 2.0 / 8 / 300e9);
    EXPECT_NEAR(unit_costs(job, key).dense_layer.forward[Part::tp_comm].value(), 4 * each, 1e-9);
    key.sequence_parallel = false;  // two all-reduces move the same
    EXPECT_NEAR(unit_costs(job, key).dense_layer.forward[Part::tp_comm].value(), 4 * each, 1e-9);
}

TEST(LayerCost, HiddenCommunicationIsNotPaid) {
    Job job = ideal_job(test::gpt(96, 12288, 96), 2048);
    const Seconds all = unit_costs(job, key_of(8, 1, 1, 1, 1)).dense_layer.forward[Part::tp_comm];
    job.efficiency.scale_up_hidden = 0.75;
    const Seconds exposed = unit_costs(job, key_of(8, 1, 1, 1, 1)).dense_layer.forward[Part::tp_comm];
    EXPECT_NEAR(exposed / all, 0.25, 1e-12);
}

TEST(LayerCost, OneTensorRankHasNoTensorCommunication) {
    const UnitCosts costs = unit_costs(ideal_job(test::llama3_70b(), 4096), key_of(1, 1, 1, 1, 1));
    EXPECT_EQ(costs.dense_layer.forward[Part::tp_comm].value(), 0.0);
    EXPECT_EQ(costs.dense_layer.forward[Part::cp_comm].value(), 0.0);
}

// cp 4: keys and values of 8192 tokens x 2 x 8 heads x 128 x 2 bytes, 3 of 4 shares come over 300 GB/s.
TEST(LayerCost, ContextParallelismGathersKeysAndValues) {
    const UnitCosts costs = unit_costs(ideal_job(test::llama3_70b(), 8192), key_of(1, 4, 1, 1, 1));
    const double bytes = 8192.0 * 2 * 8 * 128 * 2;
    EXPECT_NEAR(costs.dense_layer.forward[Part::cp_comm].value(), 3 * (5e-6 + bytes / 4 / 300e9), 1e-9);
}

// ep 8 in one node: dispatch and combine of 4096 x 6 x 5120 x 2 bytes, 7 of 8 shares leave the card.
TEST(LayerCost, ExpertParallelismDispatchesAndCombines) {
    const UnitCosts costs = unit_costs(ideal_job(test::deepseek_v2(4), 4096), key_of(1, 1, 8, 1, 1));
    const double each = 5e-6 + 4096.0 * 6 * 5120 * 2 * 7 / 8 / 300e9;
    EXPECT_NEAR(costs.moe_layer.forward[Part::ep_comm].value(), 2 * each, 1e-9);
    EXPECT_NEAR(costs.moe_layer.backward_input[Part::ep_comm].value(), 2 * each, 1e-9);
}

// Experts of a card: 160/8 x 3 x 5120 x 1536; the rest does not depend on ep.
TEST(LayerCost, ExpertParallelismSharesOutExperts) {
    const Job job = ideal_job(test::deepseek_v2(4), 4096);
    const UnitCosts eight = unit_costs(job, key_of(1, 1, 8, 1, 1)), one = unit_costs(job, key_of(1, 1, 1, 1, 1));
    EXPECT_EQ(eight.moe_layer.expert_parameters, 20.0 * 3 * 5120 * 1536);
    EXPECT_EQ(one.moe_layer.expert_parameters, 8.0 * eight.moe_layer.expert_parameters);
    EXPECT_EQ(one.moe_layer.parameters, eight.moe_layer.parameters);
}

TEST(LayerCost, FullRecomputeRunsTheForwardAgain) {
    const Job job = ideal_job(test::llama3_70b(), 4096);
    UnitKey key = key_of(8, 1, 1, 1, 1);
    const BlockCost none = unit_costs(job, key).dense_layer;
    key.recompute = model::Recompute::full;
    const BlockCost full = unit_costs(job, key).dense_layer;
    EXPECT_NEAR(full.backward_input[Part::recompute].value(), none.forward.total().value(), 1e-15);
    EXPECT_DOUBLE_EQ(full.recompute_flops.value(), none.model_flops.value() / 3.0);
    EXPECT_DOUBLE_EQ(full.activations.value(), 2.0 * 4096 * 8192 / 8);
    EXPECT_EQ(none.recompute_flops.value(), 0.0);
}

TEST(LayerCost, SelectiveRecomputeLiesBetweenNoneAndFull) {
    for (const bool flash : {true, false}) {
        Job job = ideal_job(test::gpt(48, 6144, 64), 2048);
        job.flash_attention = flash;
        UnitKey key = key_of(8, 1, 1, 1, 4);
        const BlockCost none = unit_costs(job, key).dense_layer;
        key.recompute = model::Recompute::selective;
        const BlockCost selective = unit_costs(job, key).dense_layer;
        key.recompute = model::Recompute::full;
        const BlockCost full = unit_costs(job, key).dense_layer;
        EXPECT_LT(selective.activations, none.activations) << flash;
        EXPECT_GT(selective.activations, full.activations) << flash;
        EXPECT_GT(selective.backward_input[Part::recompute].value(), 0.0) << flash;
        EXPECT_LT(selective.backward_input[Part::recompute], full.backward_input[Part::recompute]) << flash;
    }
}

// 8-bit products run at twice the peak; attention, head and router do not.
TEST(LayerCost, EightBitProductsAreFasterAndPayForCasts) {
    Job job = ideal_job(test::llama3_70b(), 4096);
    job.cluster.accelerator.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{624e12};
    const UnitCosts wide = unit_costs(job, key_of(1, 1, 1, 1, 1));
    job.precision = model::Precision::fp8;
    const UnitCosts narrow = unit_costs(job, key_of(1, 1, 1, 1, 1));
    EXPECT_NEAR(wide.dense_layer.forward[Part::gemm] / narrow.dense_layer.forward[Part::gemm], 2.0, 1e-9);
    EXPECT_EQ(wide.dense_layer.forward[Part::attention], narrow.dense_layer.forward[Part::attention]);
    EXPECT_EQ(wide.head.forward[Part::gemm], narrow.head.forward[Part::gemm]);
    EXPECT_GT(narrow.dense_layer.forward[Part::memory_bound], wide.dense_layer.forward[Part::memory_bound]);
}

// Inputs of products are held in 8 bit: two norm outputs (h each) and the activation's output (f) lose a byte an
// element.
TEST(LayerCost, EightBitProductsHoldTheirInputsInEightBit) {
    Job job = ideal_job(test::llama3_70b(), 4096);
    job.cluster.accelerator.matrix_peak[static_cast<std::size_t>(model::Precision::fp8)] = FlopsPerSecond{624e12};
    const Bytes wide = unit_costs(job, key_of(1, 1, 1, 1, 1)).dense_layer.activations;
    job.precision = model::Precision::fp8;
    const Bytes narrow = unit_costs(job, key_of(1, 1, 1, 1, 1)).dense_layer.activations;
    EXPECT_DOUBLE_EQ((wide - narrow).value(), 4096.0 * (2 * 8192 + 28672));
}

TEST(LayerCost, IsAtLeastWhatTheHostNeeds) {
    Job job = ideal_job(test::gpt(4, 512, 8), 128);
    job.efficiency.host_per_layer_pass = Seconds{1.1e-3};
    const BlockCost layer = unit_costs(job, key_of(1, 1, 1, 1, 1)).dense_layer;
    EXPECT_NEAR(layer.forward.total().value(), 1.1e-3, 1e-12);
    EXPECT_NEAR((layer.backward_input.total() + layer.backward_weight.total()).value(), 1.1e-3, 1e-12);
}

// Half of the layers with a window of 1/8 of the sequence: pairs 1/8 - 1/128 = 15/128 of s^2 instead of 1/2, for half
// of them.
TEST(LayerCost, SlidingWindowsSaveAttention) {
    model::Transformer model = test::llama3_70b();
    const Seconds all = unit_costs(ideal_job(model, 8192), key_of(1, 1, 1, 1, 1)).dense_layer.forward[Part::attention];
    model.attention.sliding_window = 1024;
    model.attention.num_sliding_layers = 40;
    const Seconds half = unit_costs(ideal_job(model, 8192), key_of(1, 1, 1, 1, 1)).dense_layer.forward[Part::attention];
    EXPECT_NEAR(half / all, 0.5 + 0.5 * 2.0 * 15.0 / 128.0, 1e-12);
}

// 4096 tokens x 8192 x 2 bytes / tp 8 = 8 MiB over 25 GB/s and 5 us.
TEST(UnitCosts, BoundaryCarriesTheRanksOwnTokens) {
    UnitKey key = key_of(8, 1, 1, 1, 1);
    key.pipelined = true;
    const UnitCosts costs = unit_costs(ideal_job(test::llama3_70b(), 4096), key);
    EXPECT_EQ(costs.boundary.value(), 8.0 * base::mib);
    EXPECT_NEAR(costs.boundary_time.value(), 5e-6 + 8.0 * base::mib / 25e9, 1e-12);
}

TEST(UnitCosts, WarnOutsideTheFittedRange) {
    Job job = ideal_job(test::llama3_70b(), 4096);
    EXPECT_FALSE(unit_costs(job, key_of(1, 1, 1, 1, 1)).outside_fitted_range);
    job.efficiency.fitted_min_hidden = 1024;
    job.efficiency.fitted_max_hidden = 4096;
    EXPECT_TRUE(unit_costs(job, key_of(1, 1, 1, 1, 1)).outside_fitted_range);
}

// One card, nothing cut: the blocks hold the model's parameters. 70B: layers, two padded tables (128,256 divides by
// 128), norms.
TEST(UnitCosts, OfOneCardHoldTheWholeModel) {
    for (const model::Transformer& model : {test::llama3_70b(), test::gpt(96, 12288, 96), test::deepseek_v2(4)}) {
        const UnitCosts costs = unit_costs(ideal_job(model, 4096), key_of(1, 1, 1, 1, 1));
        const int moe = model.num_moe_layers();
        const double held = (model.num_layers - moe) * costs.dense_layer.parameters +
                            moe * (costs.moe_layer.parameters + costs.moe_layer.expert_parameters) +
                            costs.embedding.parameters + costs.head.parameters;
        const model::ParameterCount count = model::parameter_count(model);
        EXPECT_EQ(held, static_cast<double>(count.total() + count.norms_and_biases)) << model.hidden;
    }
}

TEST(PartTimes, SumInOrder) {
    PartTimes times;
    times[Part::gemm] = Seconds{2.0};
    times[Part::fixed] = Seconds{1.0};
    PartTimes more = times * 2.0;
    more += times;
    EXPECT_EQ(more.total().value(), 9.0);
    EXPECT_EQ(more[Part::gemm].value(), 6.0);
}

}  // namespace
}  // namespace windtunnel::train
