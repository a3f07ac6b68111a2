// User cases on speed with the shipped calibrations: UC-041, UC-045.
#include <gtest/gtest.h>

#include "train_examples.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/train/rules.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel {
namespace {

const std::string inputs = WINDTUNNEL_SOURCE_DIR "/inputs/";

train::Job shipped_job(const model::Transformer& transformer, const char* card, const char* calibration, int cards,
                       int sequence_length) {
    train::Job job =
        test::job(transformer, input::read_accelerator(inputs + "accelerators/" + card), cards, sequence_length);
    job.efficiency = input::read_efficiency(inputs + "calibrations/" + calibration);
    return job;
}

// UC-041: Llama 3.1 405B on 1,024 H100 in fp8, TP 8, PP 8, CP 2, 8 chunks a rank: 326 to 328 tokens/s a card, +-20 %.
TEST(Uc041, SpeedOf405BillionOn1024Cards) {
    train::Job job = shipped_job(test::llama3_405b(), "h100-80gb-sxm.toml", "megatron-core-h100.toml", 1024, 8192);
    job.precision = model::Precision::fp8;
    job.gradient_precision = model::Precision::bf16;
    model::Layout layout = test::layout(1024, 8, 8, 1, 1536);
    layout.context_parallel = 2;
    layout.virtual_pipeline = 8;
    layout.schedule = model::PipelineSchedule::interleaved;
    layout.split.kind = model::SplitKind::slots;
    ASSERT_EQ(train::broken_rule(job, layout), model::VerdictReason::fits);
    EXPECT_EQ(layout.data_parallel(), 8);
    const auto result = train::step_result(job, layout, train::unit_costs(job, train::unit_key(layout)));
    const double rate = result.tokens_per_second / 1024;
    EXPECT_GT(rate, 0.8 * 326) << rate;
    EXPECT_LT(rate, 1.2 * 328) << rate;
}

// UC-045: MPT-70B, fully sharded over 128 H100, full recompute: 1,058 tokens/s a card, MFU 43.36 %, HFU 57.81 %, +-20
// %. Its HFU is 4/3 of the MFU, which counts full attention; here the head (0.6 % of the products) is not computed
// again.
TEST(Uc045, FullRecomputeIsAThirdMoreWork) {
    model::Transformer mpt = test::dense_model(80, 8192, 64, 64, 128, 4 * 8192, 50368);
    mpt.activation = model::Activation::gelu;
    mpt.tied_embeddings = true;
    EXPECT_NEAR(static_cast<double>(model::parameter_count(mpt).total()), 64'862'437'376.0, 0.001 * 64.86e9);
    train::Job job = shipped_job(mpt, "h100-80gb-sxm.toml", "fsdp-h100.toml", 128, 2048);
    job.gradient_precision = model::Precision::bf16;
    model::Layout layout = test::layout(128, 1, 1, 8, 1024);
    layout.optimizer_sharding = 3;
    layout.recompute = model::Recompute::full;
    const auto result = train::step_result(job, layout, train::unit_costs(job, train::unit_key(layout)));
    EXPECT_NEAR(result.hfu / result.mfu, 4.0 / 3.0, 0.005);
    EXPECT_NEAR(result.tokens_per_second / 128, 1058, 0.2 * 1058);
    EXPECT_NEAR(result.mfu_full_attention, 0.4336, 0.2 * 0.4336);
    EXPECT_NEAR(result.mfu_full_attention * result.hfu / result.mfu, 0.5781, 0.2 * 0.5781);
}

}  // namespace
}  // namespace windtunnel
