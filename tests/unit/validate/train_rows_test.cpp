#include "windtunnel/validate/train_rows.hpp"

#include <gtest/gtest.h>

namespace windtunnel::validate {
namespace {

/// A row of a small model on 8 cards; the card is round numbers.
model::PublishedRow row() {
    model::PublishedRow row;
    row.id = "r";
    row.file = "some_file";
    row.model = "M";
    row.hidden = 4096;
    row.layers = 30;
    row.heads = 32;
    row.ffn = 16384;
    row.gated_mlp = false;
    row.vocabulary = 51200;
    row.sequence = 2048;
    row.accelerator = "card of the table";
    row.cards = 8;
    row.dtype = "bf16";
    row.tp = 2;
    row.pp = 4;
    row.mbs = 1;
    row.gbs = 16;
    row.recompute = "full";
    row.software = "deepspeed";
    row.step_time_s = 1.0;
    return row;
}

model::Measurements measurements() {
    model::Measurements all;
    model::Accelerator card;
    card.id = "X";
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{312e12};
    card.memory = Bytes{80.0 * base::gib};
    card.memory_bandwidth = BytesPerSecond{2e12};
    card.scale_up = {BytesPerSecond{300e9}, Seconds{10e-6}, ""};
    card.scale_up_domain = 8;
    card.scale_out = {BytesPerSecond{25e9}, Seconds{20e-6}, ""};
    card.cards_per_node = 8;
    all.accelerators["X"] = card;
    all.aliases["card of the table"] = "X";
    return all;
}

TEST(RowJob, NodesThatDoNotFitIntoTheDomainAreRefused) {
    model::PublishedRow one = row();
    one.cards_per_node = 6;  // the domain has 8 cards
    EXPECT_NE(row_job(one, measurements()).problem.find("do not fit into each other"), std::string::npos);
    one.cards_per_node = 4;
    EXPECT_TRUE(row_job(one, measurements()).problem.empty());
}

TEST(RowJob, FileDefaultsStandBeforeThoseOfTheSoftware) {
    model::Measurements all = measurements();
    all.software_defaults["deepspeed"].recompute = "none";
    all.software_defaults["deepspeed"].optimizer_sharding = 0;
    all.file_defaults["some_file"].recompute = "selective";
    all.file_defaults["some_file"].scale_out = BytesPerSecond{6.25e9};
    model::PublishedRow one = row();
    one.recompute.reset();
    const RowJob job = row_job(one, all);
    ASSERT_TRUE(job.problem.empty()) << job.problem;
    EXPECT_EQ(job.layout.recompute, model::Recompute::selective);
    EXPECT_EQ(job.layout.optimizer_sharding, 0);
    EXPECT_EQ(job.job.cluster.accelerator.scale_out.bandwidth.value(), 6.25e9);
    ASSERT_EQ(job.assumed.size(), 2U);  // vpp is not printed either
    EXPECT_EQ(job.assumed[1], "recompute");
    one.recompute = "full";
    EXPECT_EQ(row_job(one, all).layout.recompute, model::Recompute::full);
}

TEST(RowJob, LayersThatDoNotDivideLeaveTheLastStageShort) {
    // 30 layers on 4 stages: 8, 8, 8, 6.
    model::Measurements all = measurements();
    all.file_defaults["some_file"].pipeline_split = "short_last";
    const RowJob job = row_job(row(), all);
    ASSERT_TRUE(job.problem.empty()) << job.problem;
    EXPECT_EQ(job.layout.split.layers_per_chunk, (std::vector<int>{8, 8, 8, 6}));
    // With embedding and head as layers 32 divide by 4.
    all.file_defaults["some_file"].pipeline_split = "slots";
    EXPECT_EQ(row_job(row(), all).layout.split.kind, model::SplitKind::slots);
}

TEST(RowJob, ChunksThatAreNotPrintedHoldSoManyLayers) {
    // 32 layers on 4 stages, one a chunk: 8 chunks a rank; 16 micro-batches are four rounds of 4.
    model::Measurements all = measurements();
    all.file_defaults["some_file"].layers_per_chunk = 1;
    all.file_defaults["some_file"].virtual_pipeline = 1;
    model::PublishedRow one = row();
    one.layers = 32;
    EXPECT_EQ(row_job(one, all).layout.virtual_pipeline, 8);
    EXPECT_EQ(row_job(one, all).layout.schedule, model::PipelineSchedule::interleaved);
    one.gbs = 18;  // 18 micro-batches are no rounds of 4
    EXPECT_EQ(row_job(one, all).layout.virtual_pipeline, 1);
    one = row();  // 30 layers
    EXPECT_EQ(row_job(one, all).layout.virtual_pipeline, 1);
    one.vpp = 3;
    one.layers = 36;
    EXPECT_EQ(row_job(one, all).layout.virtual_pipeline, 3);
}

TEST(RowJob, WhatCannotBeSimulatedSaysWhy) {
    const model::Measurements all = measurements();
    model::PublishedRow one = row();
    one.layers.reset();
    one.gbs.reset();
    EXPECT_EQ(row_job(one, all).problem, "not printed: layers, gbs");
    one = row();
    one.accelerator = "unheard of";
    EXPECT_NE(row_job(one, all).problem.find("not known"), std::string::npos);
    one = row();
    one.cards = 12;
    EXPECT_NE(row_job(one, all).problem.find("world_size_not_divisible"), std::string::npos);
    const auto lines = run_row(one, all);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_FALSE(lines[0].predicted.has_value());
    EXPECT_EQ(lines[0].measured, 1.0);
    EXPECT_FALSE(lines[0].reason.empty());
    one = row();
    one.phase = "lora";
    EXPECT_NE(row_job(one, all).problem.find("LoRA"), std::string::npos);
}

TEST(RunRow, OneLineForEachPrintedQuantity) {
    model::PublishedRow one = row();
    one.memory_gb = 40.0;
    one.oom = false;
    const auto lines = run_row(one, measurements());
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].quantity, "step_time_s");
    EXPECT_EQ(lines[1].quantity, "memory_bytes");
    EXPECT_EQ(lines[1].measured, 40e9);
    EXPECT_EQ(lines[2].quantity, "oom");
    EXPECT_EQ(lines[0].family, "card of the table/bf16/dense/deepspeed");
    for (const RowResult& line : lines) EXPECT_TRUE(line.predicted.has_value()) << line.reason;
}

TEST(MeasuredStepTime, FollowsFromTokensPerSecond) {
    // 16 x 2048 tokens at 512 tokens/s and card on 8 cards: 32768 / 4096 = 8 s.
    model::PublishedRow one = row();
    one.step_time_s.reset();
    one.tokens_per_s_per_card = 512.0;
    EXPECT_DOUBLE_EQ(measured_step_time_s(one).value(), 8.0);
    one.step_time_s = 3.0;
    EXPECT_DOUBLE_EQ(measured_step_time_s(one).value(), 3.0);
}

TEST(FamilyErrors, MeanMedianAndTail) {
    std::vector<RowResult> results;
    for (int i = 1; i <= 10; ++i)  // errors 1 % to 10 %, alternating sign
        results.push_back(
            {"r", "f", "fam", "step_time_s", 1.0 + (i % 2 == 0 ? 0.01 : -0.01) * i, 1.0, {}, {}, i <= 4, "", {}});
    results.push_back({"r", "f", "fam", "step_time_s", {}, 1.0, {}, {}, false, "why", {}});
    const std::vector<model::FamilyLimit> limits{{"fam", "step_time_s", 0.05}};
    const auto table = family_errors(results, limits);
    ASSERT_EQ(table.size(), 2U);
    EXPECT_EQ(table[0].family, "all");
    const FamilyError& family = table[1];
    EXPECT_EQ(family.num_rows, 10);
    EXPECT_EQ(family.num_without, 1);
    EXPECT_NEAR(family.mean, 0.055, 1e-12);
    EXPECT_NEAR(family.median, 0.05, 1e-12);
    EXPECT_NEAR(family.percentile_90, 0.09, 1e-12);
    EXPECT_NEAR(family.worst, 0.10, 1e-12);
    EXPECT_NEAR(family.mean_not_fitted, 0.075, 1e-12);  // 5 % to 10 %
    EXPECT_TRUE(family.exceeds());
    EXPECT_FALSE(table[0].exceeds());
}

}  // namespace
}  // namespace windtunnel::validate
