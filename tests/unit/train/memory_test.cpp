#include "windtunnel/train/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "train_examples.hpp"

namespace windtunnel::train {
namespace {

Job job_of(const model::Transformer& transformer, int cards) {
    return test::job(transformer, test::b200(), cards, 4096);
}

std::vector<StageMemory> memory(const Job& job, const model::Layout& layout) {
    return stage_memory(job, layout, unit_costs(job, unit_key(layout)));
}

double parameters(const Job& job, const model::Layout& layout) {
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    return 8 * costs.dense_layer.parameters + costs.embedding.parameters + costs.head.parameters;
}

model::Transformer small() {
    return test::dense_model(8, 4096, 32, 8, 128, 14336, 128256);
}

TEST(StageMemory, OneReplicaHoldsEighteenBytesAParameter) {
    const Job job = job_of(small(), 8);
    const model::Layout layout = test::layout(1, 1, 1, 1, 1);
    EXPECT_NEAR(memory(job, layout)[0].states().value() / parameters(job, layout), 18.0, 1e-9);
}

// dp 8, 32-bit gradients. ZeRO 0: 18; 1: 6 + 12/8; 2: 2 + 2 + 16/8 (16-bit gradients are held until reduced); 3: 18/8.
TEST(StageMemory, ShardingLevelsShareOutStatesGradientsWeights) {
    const Job job = job_of(small(), 8);
    const double expected[] = {18.0, 7.5, 6.0, 2.25};
    for (int level = 0; level <= 3; ++level) {
        model::Layout layout = test::layout(8, 1, 1, 1, 8);
        layout.optimizer_sharding = level;
        EXPECT_NEAR(memory(job, layout)[0].states().value() / parameters(job, layout), expected[level], 1e-9) << level;
    }
}

// Experts are shared out over edp only: 64 cards, ep 8, pp 1: dp 64, edp 8.
TEST(StageMemory, ExpertStatesAreSharedOutOverExpertReplicas) {
    const Job job = job_of(test::deepseek_v2(4), 64);
    model::Layout layout = test::layout(64, 1, 1, 1, 64);
    layout.expert_parallel = 8;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const double dense = costs.dense_layer.parameters + 3 * costs.moe_layer.parameters + costs.embedding.parameters +
                         costs.head.parameters;
    const double experts = 3 * costs.moe_layer.expert_parameters;
    EXPECT_NEAR(memory(job, layout)[0].states().value(), dense * (6 + 12.0 / 64) + experts * (6 + 12.0 / 8), 1.0);
}

// 1F1B holds min(m, p - stage) micro-batches: 4 stages of 2 layers, 8 and 2 micro-batches.
TEST(StageMemory, ActivationsFollowTheDepthOfTheSchedule) {
    const Job job = job_of(small(), 8);
    for (const int micro_batches : {8, 2}) {
        const model::Layout layout = test::layout(4, 1, 4, 1, micro_batches);
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        const auto stages = memory(job, layout);
        for (int stage = 0; stage < 4; ++stage) {
            const double held = std::min(micro_batches, 4 - stage) * 2.0;
            const double head = stage == 3 ? costs.head.activations.value() : 0.0;
            EXPECT_NEAR(stages[static_cast<std::size_t>(stage)].activations.value(),
                        held * costs.dense_layer.activations.value() + head, 1.0);
        }
    }
}

// Interleaved p 4, v 2, m 8: rank 0 runs 2x3 + 4 + 1 = 11 chunks ahead, one layer each; rank 3: 5.
TEST(StageMemory, InterleavingHoldsMoreChunks) {
    const Job job = job_of(small(), 8);
    model::Layout layout = test::layout(4, 1, 4, 1, 8);
    layout.virtual_pipeline = 2;
    layout.schedule = model::PipelineSchedule::interleaved;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const auto stages = memory(job, layout);
    EXPECT_NEAR(stages[0].activations / costs.dense_layer.activations, 11.0, 1e-9);
    EXPECT_NEAR(stages[1].activations / costs.dense_layer.activations, 9.0, 1e-9);
}

TEST(StageMemory, GpipeHoldsEveryMicroBatchAndItsLogits) {
    const Job job = job_of(small(), 8);
    model::Layout layout = test::layout(4, 1, 4, 1, 8);
    const auto one_by_one = memory(job, layout);
    layout.schedule = model::PipelineSchedule::gpipe;
    const auto all_at_once = memory(job, layout);
    EXPECT_NEAR(all_at_once[0].activations / one_by_one[0].activations, 2.0, 1e-9);  // 8 instead of 4
    EXPECT_NEAR(all_at_once[3].logits / one_by_one[3].logits, 8.0, 1e-9);
}

// 6 bytes a logit: 4096 tokens x 128,256 / tp 2.
TEST(StageMemory, LogitsAreSplitOverTensorRanks) {
    const Job job = job_of(small(), 8);
    EXPECT_DOUBLE_EQ(memory(job, test::layout(2, 2, 1, 1, 1))[0].logits.value(), 6.0 * 4096 * 128256 / 2);
}

TEST(StageMemory, TiedTablesAreHeldOnceOnOneStageAndTwiceInAPipeline) {
    model::Transformer tied = small();
    tied.tied_embeddings = true;
    const Job one = job_of(small(), 8), other = job_of(tied, 8);
    const model::Layout alone = test::layout(1, 1, 1, 1, 1), piped = test::layout(2, 1, 2, 1, 2);
    EXPECT_NEAR((memory(one, alone)[0].weights - memory(other, alone)[0].weights).value(), 2.0 * 128256 * 4096, 1.0);
    EXPECT_EQ(memory(one, piped)[1].weights, memory(other, piped)[1].weights);
}

// Context 5 GB, 2 % of what is allocated.
TEST(StageMemory, ReserveIsContextAndAllocatorLoss) {
    Job job = job_of(small(), 8);
    job.efficiency.memory_context = Bytes{5e9};
    job.efficiency.memory_fragmentation = 0.02;
    const StageMemory stage = memory(job, test::layout(1, 1, 1, 1, 1))[0];
    EXPECT_NEAR(stage.reserve.value(), 5e9 + 0.02 * stage.allocated().value(), 1.0);
    EXPECT_EQ(stage.total(), stage.allocated() + stage.reserve);
}

// 2 inputs x 14,336 x 4,096 tokens in 1 instead of 2 bytes, in each of 8 layers.
TEST(StageMemory, InputsOfTheActivationFunctionMayBeHeldIn8Bit) {
    Job job = job_of(small(), 8);
    const Bytes wide = memory(job, test::layout(1, 1, 1, 1, 1))[0].activations;
    job.activation_precision = model::Precision::fp8;
    const Bytes narrow = memory(job, test::layout(1, 1, 1, 1, 1))[0].activations;
    EXPECT_NEAR((wide - narrow).value(), 8.0 * 2.0 * small().ffn * 4096.0, 1.0);
}

// Dense layers only, p 4, m 8. DualPipe holds two stages of 2 layers: 5 micro-batches of both together and weights and
// gradients of both; the states are shared with the copy. V-Min holds 4 chunks of one layer where 1F1B holds 4 of two.
TEST(StageMemory, SplitBackwardHoldsWhatItsOrderHolds) {
    const Job job = job_of(small(), 8);
    model::Layout layout = test::layout(4, 1, 4, 1, 8);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const auto plain = memory(job, layout);
    layout.schedule = model::PipelineSchedule::dualpipe;
    const auto dual = memory(job, layout);
    EXPECT_NEAR(dual[1].activations / costs.dense_layer.activations, 2.0 * 5.0, 1e-9);
    EXPECT_DOUBLE_EQ(dual[1].weights.value(), (plain[1].weights + plain[2].weights).value());
    EXPECT_DOUBLE_EQ(dual[1].gradients.value(), (plain[1].gradients + plain[2].gradients).value());
    EXPECT_NEAR(dual[1].optimizer / plain[1].optimizer, 1.0, 1e-9);
    EXPECT_EQ(dual[0].weights, dual[3].weights);
    layout.schedule = model::PipelineSchedule::zb_1p;
    EXPECT_NEAR(memory(job, layout)[2].activations / costs.dense_layer.activations, 2.0 * 4.0, 1e-9);
    layout.virtual_pipeline = 2;
    layout.schedule = model::PipelineSchedule::v_min;
    const auto least = memory(job, layout);
    EXPECT_NEAR(least[1].activations / costs.dense_layer.activations, 4.0, 1e-9);
    EXPECT_EQ(least[3].logits.value(), 0.0);  // head and embedding share rank 0
    EXPECT_GT(least[0].logits.value(), 0.0);
}

std::vector<model::PipelineSchedule> every_schedule() {
    std::vector<model::PipelineSchedule> all;
    for (int schedule = 0; schedule < model::num_pipeline_schedules; ++schedule)
        all.push_back(static_cast<model::PipelineSchedule>(schedule));
    return all;
}

TEST(FullestStage, IsTheMaximumToTheLastBit) {
    int layouts = 0;
    for (const model::Transformer& model : {test::llama3_70b(), test::pangu_ultra_moe_718b()})
        for (const int pp : {1, 2, 4, 8, 16})
            for (const int vpp : {1, 2, 5})
                for (const auto schedule : every_schedule())
                    for (const auto split :
                         {model::SplitKind::uniform, model::SplitKind::slots, model::SplitKind::short_last})
                        for (const int level : {0, 1, 3}) {
                            const Job job = job_of(model, 1024);
                            model::Layout layout = test::layout(64 * pp, 8, pp, 1, 8 * pp * 4);
                            layout.virtual_pipeline = vpp;
                            layout.schedule = schedule;
                            layout.split.kind = split;
                            layout.optimizer_sharding = level;
                            if (model.experts) layout.expert_parallel = 32;
                            if (broken_rule(job, layout) != model::VerdictReason::fits) continue;
                            ++layouts;
                            const UnitCosts costs = unit_costs(job, unit_key(layout));
                            const auto stages = stage_memory(job, layout, costs);
                            const FullestStage fullest = fullest_stage(job, layout, costs);
                            Bytes most;
                            for (const StageMemory& stage : stages) most = std::max(most, stage.total());
                            EXPECT_EQ(fullest.total, most);
                            EXPECT_EQ(stages[static_cast<std::size_t>(fullest.stage)].total(), most);
                        }
    EXPECT_GT(layouts, 30);
}

TEST(MemoryVerdict, NamesTheStageAndWhatIsMissing) {
    Job job = job_of(test::llama3_70b(), 8);
    const model::Layout layout = test::layout(8, 4, 2, 1, 8);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const FullestStage fullest = fullest_stage(job, layout, costs);
    job.cluster.accelerator.memory = fullest.total;
    EXPECT_TRUE(memory_verdict(job, layout, costs).feasible());
    job.cluster.accelerator.memory = fullest.total - Bytes{base::gib};
    const model::Verdict verdict = memory_verdict(job, layout, costs);
    EXPECT_EQ(verdict.reason, model::VerdictReason::out_of_memory);
    EXPECT_EQ(verdict.stage, fullest.stage);
    EXPECT_NEAR(verdict.missing.value(), base::gib, 1.0);
    EXPECT_NE(verdict.detail.find("1.00 GiB too much"), std::string::npos) << verdict.detail;
}

TEST(UsableMemory, LeavesTheReserveFree) {
    Job job = job_of(small(), 8);
    job.reserve_fraction = 0.15;
    EXPECT_DOUBLE_EQ(usable_memory(job).value(), 0.85 * 180e9);
}

// The states alone shrink with dp: more cards fit where few do not, and one card less than the answer does not.
TEST(SmallestCardsThatFit, IsTheFirstMultipleThatFits) {
    Job job = test::job(test::llama3_70b(), test::a100(), 256, 4096);
    const model::Layout layout = test::layout(16, 8, 2, 1, 16);
    const int cards = smallest_cards_that_fit(job, layout);
    ASSERT_GT(cards, 16);
    model::Layout other = layout;
    other.cards = cards;
    EXPECT_LE(fullest_stage(job, other, unit_costs(job, unit_key(other))).total, usable_memory(job));
    other.cards = cards - 16;
    EXPECT_GT(fullest_stage(job, other, unit_costs(job, unit_key(other))).total, usable_memory(job));
    job.cluster.num_nodes = cards / 8 - 1;
    EXPECT_EQ(smallest_cards_that_fit(job, layout), 0);
}

TEST(LargestMicroBatchThatFits, DividesTheBatchOfAReplica) {
    const Job job = test::job(small(), test::a100(), 8, 4096);
    const model::Layout layout = test::layout(8, 1, 1, 1, 8 * 12);
    const int largest = largest_micro_batch_that_fits(job, layout);
    ASSERT_GE(largest, 1);
    EXPECT_EQ(12 % largest, 0);
    for (int size = largest + 1; size <= 12; ++size) {
        if (12 % size != 0) continue;
        model::Layout other = layout;
        other.micro_batch_size = size;
        EXPECT_GT(fullest_stage(job, other, unit_costs(job, unit_key(other))).total, usable_memory(job));
    }
}

}  // namespace
}  // namespace windtunnel::train
