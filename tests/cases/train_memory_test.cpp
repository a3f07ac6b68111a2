// User cases on memory, and on time where the same run prints it: UC-001, 004, 005, 008, 009, 011, 014, 021.
#include <gtest/gtest.h>

#include <cmath>

#include "train_examples.hpp"
#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel {
namespace {

using test::gib;

std::vector<train::StageMemory> stages(const train::Job& job, const model::Layout& layout) {
    EXPECT_EQ(train::broken_rule(job, layout), model::VerdictReason::fits) << train::rule_verdict(job, layout).detail;
    return train::stage_memory(job, layout, train::unit_costs(job, train::unit_key(layout)));
}

double allocated_gib(const std::vector<train::StageMemory>& stages) {
    Bytes most;
    for (const train::StageMemory& stage : stages) most = std::max(most, stage.allocated());
    return gib(most);
}

void expect_within(double value, double expected, double percent) {
    EXPECT_NEAR(value, expected, percent / 100.0 * expected);
}

// Megatron-LM pull request 482, its own sheet: 32 layers, hidden 4096, feed-forward 10,880, 50,432 padded words, 2,048
// learned positions, tied table; flash attention, no sequence parallelism; operators of that time were not fused (8 f
// of a gated activation, dropout masks, 12 bytes a logit).
train::Job llama_of_the_sheet(int length) {
    model::Transformer model = test::dense_model(32, 4096, 32, 32, 128, 10880, 50432);
    model.padded_vocabulary = 50432;
    model.tied_embeddings = true;
    model.learned_positions = 2048;
    train::Job job = test::job(model, test::h800(), 32, length);
    job.fused_operators = false;
    return job;
}

// UC-001: dp 8, micro-batch 2: measured peak allocated 69.1 GiB, 7.5 bytes of states a parameter, fits 80 GB.
TEST(MemoryCase, Uc001PureDataParallel) {
    const train::Job job = llama_of_the_sheet(2048);
    model::Layout layout = test::layout(8, 1, 1, 2, 2048);
    layout.sequence_parallel = false;
    const train::StageMemory stage = stages(job, layout)[0];
    expect_within(gib(stage.allocated()), 69.1, 5.0);
    expect_within(stage.states().value(), 7.5 * 6642245632.0, 0.1);
    EXPECT_LE(stage.total(), train::usable_memory(job));
}

// UC-004: tp 8, dp 1, micro-batch 4: 28.8 GiB; 18 bytes a parameter.
TEST(MemoryCase, Uc004PureTensorParallel) {
    model::Layout layout = test::layout(8, 8, 1, 4, 128);
    layout.sequence_parallel = false;
    const train::StageMemory stage = stages(llama_of_the_sheet(2048), layout)[0];
    expect_within(gib(stage.allocated()), 28.8, 6.0);
    expect_within(stage.states().value(), 18.0 * 6642245632.0 / 8.0, 1.0);
}

// UC-014: aicb pull request 36, the same shape, 32 cards, tp 8, 4,096 tokens: 21 GB used on the device; the sheet's
// stack is assumed for the flags that the source leaves open.
TEST(MemoryCase, Uc014DeviceUseOfThirtyTwoCards) {
    model::Layout layout = test::layout(32, 8, 1, 1, 128);
    layout.sequence_parallel = false;
    const train::StageMemory stage = stages(llama_of_the_sheet(4096), layout)[0];
    expect_within(stage.total().value() / 1e9, 21.0, 15.0);
    EXPECT_GT(stage.total(), stage.allocated());
}

// SimuMax docs/b200 v1.2: one node of 8 B200, Megatron-LM, bf16, ZeRO 1, no recompute, fused operators, nothing
// overlapped. Rates that the card and that software reach are those fitted to the same table by others and by us: 0.47
// of peak for products, 0.39 for attention, 0.75 of the memory bandwidth, half of NVLink.
train::Job on_b200(const model::Transformer& model, int length) {
    train::Job job = test::job(model, test::b200(), 8, length);
    job.efficiency.gemm = 0.47;
    job.efficiency.attention = 0.39;
    job.efficiency.memory = 0.75;
    job.efficiency.scale_up = 0.5;
    job.efficiency.scale_up_hidden = job.efficiency.scale_out_hidden = 0.0;
    return job;
}

model::Transformer llama_70b_cut() {
    model::Transformer model = test::llama3_70b();
    model.num_layers = model.num_dense_layers = 12;
    return model;
}

double step_seconds(const train::Job& job, const model::Layout& layout) {
    return train::step_time(job, layout, train::unit_costs(job, train::unit_key(layout))).value();
}

// UC-005: 12 layers, pp 2, dp 4: 66.55 GiB on stage 0 (states 51.84) and 62.97 on the last one, whatever the number of
// micro-batches.
TEST(MemoryCase, Uc005PipelineOfTwoStages) {
    const train::Job job = on_b200(llama_70b_cut(), 4096);
    struct Row {
        int micro_batches;
        double seconds;
    };
    for (const Row& row : {Row{4, 0.8430}, Row{8, 1.4768}, Row{32, 5.4365}}) {
        const model::Layout layout = test::layout(8, 1, 2, 1, 4 * row.micro_batches);
        const auto found = stages(job, layout);
        expect_within(gib(found[0].allocated()), 66.55, 4.0);
        expect_within(gib(found[0].states()), 51.84, 0.1);
        expect_within(gib(found[1].allocated()), 62.97, 4.0);
        EXPECT_GT(found[0].allocated(), found[1].allocated());
        expect_within(step_seconds(job, layout), row.seconds, 15.0);
    }
}

// UC-008: DeepSeek-V2 cut to 4 layers, ep 4, pp 2, dp 4: 44.7 GiB.
TEST(MemoryCase, Uc008ExpertsInAPipeline) {
    const train::Job job = on_b200(test::deepseek_v2(4), 4096);
    struct Row {
        int micro_batches;
        double seconds;
    };
    for (const Row& row : {Row{4, 0.2821}, Row{8, 0.4926}, Row{32, 1.7277}}) {
        model::Layout layout = test::layout(8, 1, 2, 1, 4 * row.micro_batches);
        layout.expert_parallel = 4;
        expect_within(allocated_gib(stages(job, layout)), 44.7, 6.0);
        expect_within(step_seconds(job, layout), row.seconds, 18.0);
    }
}

// UC-009: 32,768 tokens, tp 2, cp 4: 68.43 GiB, 1.758 s. Context parallelism shares out activations and not weights.
TEST(MemoryCase, Uc009ContextParallel) {
    const train::Job job = on_b200(llama_70b_cut(), 32768);
    model::Layout layout = test::layout(8, 2, 1, 1, 4);
    layout.context_parallel = 4;
    const auto found = stages(job, layout);
    expect_within(gib(found[0].allocated()), 68.43, 5.0);
    expect_within(step_seconds(job, layout), 1.758, 15.0);
    const train::UnitCosts with = train::unit_costs(job, train::unit_key(layout));
    layout.context_parallel = 1;
    const train::UnitCosts without = train::unit_costs(job, train::unit_key(layout));
    EXPECT_EQ(with.dense_layer.parameters, without.dense_layer.parameters);
    EXPECT_NEAR(without.dense_layer.activations / with.dense_layer.activations, 4.0, 1e-9);
}

// Korthikanti et al., 2022 (arXiv 2205.05198): GPT without flash attention on A100, 2,048 tokens.
train::Job gpt_of_the_paper(const model::Transformer& model, int cards) {
    train::Job job = test::job(model, test::a100(), cards, 2048);
    job.flash_attention = job.fused_operators = false;
    return job;
}

struct PaperRow {
    int layers, hidden, heads, tp, pp, vpp, micro_batch;
    double none, selective_with_sequence;  ///< GiB of activations, figure 1 of the paper
};

Bytes layer_activations(const PaperRow& row, model::Recompute recompute, bool sequence_parallel) {
    const train::Job job = gpt_of_the_paper(test::gpt(row.layers, row.hidden, row.heads), row.tp * row.pp);
    model::Layout layout = test::layout(row.tp * row.pp, row.tp, row.pp, row.micro_batch, row.micro_batch * row.pp * 4);
    layout.virtual_pipeline = row.vpp;
    if (row.vpp > 1) layout.schedule = model::PipelineSchedule::interleaved;
    layout.recompute = recompute;
    layout.sequence_parallel = sequence_parallel;
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(layout));
    // First stage; the one-stage model also holds the input of the head, which the paper leaves out.
    return stages(job, layout)[0].activations - (row.pp == 1 ? costs.head.activations : Bytes{0.0});
}

// UC-011 and its three larger sisters: the closed forms s b h L (10 + 24/t + 5 a s/(h t)) and s b h L/t (34) with the
// factor 1 + (p - 1)/(p v) of interleaving. Exact: rounding only.
TEST(MemoryCase, Uc011ClosedFormsOfActivations) {
    for (const PaperRow& row :
         {PaperRow{48, 6144, 64, 8, 1, 1, 4, 59.25, 9.5625}, PaperRow{96, 12288, 96, 8, 8, 3, 1, 66.84375, 12.3515625},
          PaperRow{105, 20480, 128, 8, 35, 3, 1, 114.0234375, 23.076171875},
          PaperRow{128, 25600, 160, 8, 64, 1, 1, 131.25, 26.5625}}) {
        EXPECT_NEAR(gib(layer_activations(row, model::Recompute::none, false)), row.none, 1e-9);
        EXPECT_NEAR(gib(layer_activations(row, model::Recompute::selective, true)), row.selective_with_sequence, 1e-9);
    }
}

// Percent of no recompute, read off the paper's figure: sequence 66.84, selective 49.42, both 16.18, full 7.64.
TEST(MemoryCase, Uc011ShareOfEachTechnique) {
    const PaperRow row{48, 6144, 64, 8, 1, 1, 4, 59.25, 9.5625};
    const Bytes none = layer_activations(row, model::Recompute::none, false);
    expect_within(100.0 * (layer_activations(row, model::Recompute::none, true) / none), 66.84, 1.0);
    expect_within(100.0 * (layer_activations(row, model::Recompute::selective, false) / none), 49.42, 1.0);
    expect_within(100.0 * (layer_activations(row, model::Recompute::selective, true) / none), 16.18, 1.0);
    expect_within(100.0 * (layer_activations(row, model::Recompute::full, false) / none), 7.64, 1.0);
}

// Parameters and optimizer without embedding: 18 x 12 L h^2 / t = 45.5625 GiB; step 1.42 s with full recompute and 1.10
// s with sequence parallelism and selective recompute on eight A100. Rates as fitted to that paper: 0.84 of peak for
// products, 0.48 for attention.
TEST(MemoryCase, Uc011StatesAndStepTime) {
    train::Job job = gpt_of_the_paper(test::gpt(48, 6144, 64), 8);
    job.efficiency.gemm = 0.84;
    job.efficiency.attention = 0.48;
    job.efficiency.memory = 0.74;
    job.efficiency.scale_up = 0.69;
    model::Layout layout = test::layout(8, 8, 1, 4, 4);
    layout.recompute = model::Recompute::selective;
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(layout));
    expect_within(48.0 * 18.0 * costs.dense_layer.parameters / base::gib, 45.5625, 1.0);
    expect_within(step_seconds(job, layout), 1.10, 15.0);
    layout.recompute = model::Recompute::full;
    layout.sequence_parallel = false;
    expect_within(step_seconds(job, layout), 1.42, 15.0);
}

// UC-021: DeepSpeed's estimator, ZeRO 2, 2,851e6 parameters on 8 cards: 4 N + 16 N/8 bytes = 15.93 GiB. States only:
// activations, buffers and context are left out.
TEST(MemoryCase, Uc021StatesOfZeroTwo) {
    const train::ModelStates states = train::model_states({2851e6, 0.0}, 8.0, 1.0, 2, 2.0, 4.0);
    expect_within(gib(states.total()), 15.93, 0.5);
}

}  // namespace
}  // namespace windtunnel
