#include "windtunnel/train/step.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel::train {
namespace {

/// GPT-3 175B on A100-like cards; round numbers, no claim about a machine.
Job gpt_job() {
    Job job;
    job.transformer.num_layers = 96;
    job.transformer.num_dense_layers = 96;
    job.transformer.hidden = 12288;
    job.transformer.ffn = 4 * 12288;
    job.transformer.attention = {model::AttentionKind::mha, 96, 96, 128};
    job.transformer.vocabulary = 51200;
    job.transformer.activation = model::Activation::gelu;
    job.sequence_length = 2048;
    model::Accelerator& card = job.cluster.accelerator;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{312e12};
    card.matrix_peak[static_cast<std::size_t>(model::Precision::fp16)] = FlopsPerSecond{312e12};
    card.memory = Bytes{80.0 * base::gib};
    card.memory_bandwidth = BytesPerSecond{2e12};
    card.scale_up = {BytesPerSecond{300e9}, Seconds{10e-6}, "NVLink"};
    card.scale_up_domain = 8;
    card.scale_out = {BytesPerSecond{25e9}, Seconds{20e-6}, "IB"};
    card.cards_per_node = 8;
    job.cluster.num_nodes = 128;
    return job;
}

model::Layout layout_of(int cards, int tp, int pp, int vpp, std::int64_t batch) {
    model::Layout layout;
    layout.cards = cards;
    layout.tensor_parallel = tp;
    layout.pipeline_parallel = pp;
    layout.virtual_pipeline = vpp;
    layout.schedule = vpp > 1 ? model::PipelineSchedule::interleaved : model::PipelineSchedule::one_f_one_b;
    layout.global_batch_size = batch;
    return layout;
}

StepResult result_of(const Job& job, const model::Layout& layout) {
    return step_result(job, layout, unit_costs(job, unit_key(layout)));
}

TEST(Step, PartsSumToTheStep) {
    const Job job = gpt_job();
    for (const auto& layout : {layout_of(1024, 8, 8, 1, 1536), layout_of(1024, 8, 8, 6, 1536),
                               layout_of(64, 8, 1, 1, 64), layout_of(512, 4, 16, 2, 2048)})
        for (const auto recompute : {model::Recompute::none, model::Recompute::selective, model::Recompute::full})
            for (const int zero : {0, 1}) {
                model::Layout other = layout;
                other.recompute = recompute;
                other.optimizer_sharding = zero;
                const StepResult step = result_of(job, other);
                EXPECT_NEAR(step.parts.total() / step.step_time, 1.0, 1e-12);
                for (int part = 0; part < num_parts; ++part)
                    EXPECT_GE(step.parts[static_cast<Part>(part)].value(), 0.0);
            }
}

/// A MoE layout of every schedule on 16 cards with 4 ranks.
std::vector<std::pair<Job, model::Layout>> every_schedule() {
    std::vector<std::pair<Job, model::Layout>> all;
    for (int number = 0; number < model::num_pipeline_schedules; ++number) {
        Job job = gpt_job();
        job.transformer.experts = model::Experts{64, 4, 2048, 0};
        job.transformer.num_dense_layers = 0;
        job.transformer.activation = model::Activation::swiglu;
        const auto schedule = static_cast<model::PipelineSchedule>(number);
        model::Layout layout = layout_of(16, 1, 4, 1, 48);
        layout.schedule = schedule;
        layout.expert_parallel = 4;
        if (schedule == model::PipelineSchedule::interleaved || model::is_v_shaped(schedule))
            layout.virtual_pipeline = 2;
        all.emplace_back(job, layout);
    }
    return all;
}

TEST(Step, EveryScheduleSumsItsPartsAndShowsThemInItsTimeline) {
    Seconds exposed_1f1b, exposed_dualpipe;
    for (const auto& [job, layout] : every_schedule()) {
        ASSERT_EQ(broken_rule(job, layout), model::VerdictReason::fits) << model::to_text(layout);
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        const StepResult step = step_result(job, layout, costs);
        EXPECT_EQ(step.step_time.value(), step_time(job, layout, costs).value());
        EXPECT_NEAR(step.parts.total() / step.step_time, 1.0, 1e-12);
        EXPECT_NEAR(closed_form_step_time(job, layout, costs) / step.step_time, 1.0, 0.10) << model::to_text(layout);
        double last = 0.0, busy = 0.0, parts = 0.0;
        for (const TimelineEvent& event : step_timeline(job, layout, costs)) {
            last = std::max(last, (event.start + event.duration).value());
            double nested = 0.0;
            for (const auto& [part, time] : event.parts) nested += time.value();
            EXPECT_NEAR(nested, event.duration.value(), 1e-12) << event.name;
            if (event.stage == step.last_stage && event.stream == "compute") busy += event.duration.value();
        }
        EXPECT_NEAR(last, step.step_time.value(), 1e-9) << model::to_text(layout);
        for (int part = 0; part < num_parts; ++part) {
            EXPECT_GE(step.parts[static_cast<Part>(part)].value(), 0.0);
            parts += step.parts[static_cast<Part>(part)].value();
        }
        for (const Part part : {Part::bubble, Part::pp_comm, Part::dp_comm, Part::optimizer, Part::fixed})
            parts -= step.parts[part].value();
        EXPECT_NEAR(busy, parts, 1e-9) << model::to_text(layout);
        if (layout.schedule == model::PipelineSchedule::one_f_one_b) exposed_1f1b = step.parts[Part::ep_comm];
        if (layout.schedule == model::PipelineSchedule::dualpipe) exposed_dualpipe = step.parts[Part::ep_comm];
    }
    EXPECT_LT(exposed_dualpipe, exposed_1f1b * 0.6);  // pairs hide expert communication
}

TEST(Step, TheStepOfAResultIsTheStepOfASearch) {
    const Job job = gpt_job();
    StepWorkspace workspace;
    for (const auto& layout : {layout_of(1024, 8, 8, 6, 1536), layout_of(64, 8, 1, 1, 64)}) {
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        EXPECT_EQ(step_time(job, layout, costs, workspace).value(), step_result(job, layout, costs).step_time.value());
        EXPECT_EQ(step_time(job, layout, costs).value(), step_result(job, layout, costs).step_time.value());
    }
}

TEST(Step, OneStageHasNoBubbleAndNoTransfers) {
    const StepResult step = result_of(gpt_job(), layout_of(64, 8, 1, 1, 64));
    EXPECT_NEAR(step.parts[Part::bubble].value(), 0.0, 1e-9);
    EXPECT_EQ(step.parts[Part::pp_comm].value(), 0.0);
    EXPECT_NEAR(step.bubble_fraction, 0.0, 1e-12);
}

TEST(Step, ClosedFormStaysCloseToTheExecutor) {
    // Only embedding and head make the stages unequal here.
    const Job job = gpt_job();
    for (const int tp : {1, 2, 8})
        for (const int pp : {1, 2, 4, 8, 16})
            for (const int vpp : {1, 2, 3})
                for (const std::int64_t per_rank : {1, 2, 9}) {
                    if (pp == 1 && vpp > 1) continue;
                    const int dp = 2;
                    const model::Layout layout = layout_of(tp * pp * dp, tp, pp, vpp, per_rank * pp * dp);
                    const UnitCosts costs = unit_costs(job, unit_key(layout));
                    const double ratio = closed_form_step_time(job, layout, costs) / step_time(job, layout, costs);
                    EXPECT_NEAR(ratio, 1.0, 0.05) << tp << " " << pp << " " << vpp << " " << per_rank;
                }
}

TEST(Step, UtilisationFollowsFromFlopsAndTime) {
    const Job job = gpt_job();
    model::Layout layout = layout_of(1024, 8, 8, 1, 1536);
    layout.recompute = model::Recompute::full;
    const StepResult step = result_of(job, layout);
    EXPECT_NEAR(step.mfu, step.model_flops.value() / (1024.0 * 312e12 * step.step_time.value()), 1e-12);
    EXPECT_GT(step.mfu_full_attention, step.mfu);
    // Full recompute runs every layer forward once more: 8 instead of 6 FLOPs per weight, less the head, which is not
    // repeated.
    EXPECT_GT(step.hfu / step.mfu, 1.30);
    EXPECT_LT(step.hfu / step.mfu, 4.0 / 3.0);
    EXPECT_NEAR(step.tokens_per_second, 1536.0 * 2048.0 / step.step_time.value(), 1e-6);
    EXPECT_LT(step.mfu, 1.0);
}

TEST(Step, ASlowerLinkOrCardMakesNothingFaster) {
    const Job job = gpt_job();
    const model::Layout layout = layout_of(1024, 8, 8, 2, 1536);
    const double before = result_of(job, layout).step_time.value();
    Job slow = job;
    slow.cluster.accelerator.scale_out.bandwidth = BytesPerSecond{2.5e9};
    EXPECT_GT(result_of(slow, layout).step_time.value(), before);
    slow = job;
    slow.efficiency.gemm *= 0.8;
    EXPECT_GT(result_of(slow, layout).step_time.value(), before * 1.1);
}

TEST(Step, TimelineEventsAreTheExecutorsTasks) {
    const Job job = gpt_job();
    const model::Layout layout = layout_of(128, 8, 4, 2, 32);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const auto events = step_timeline(job, layout, costs);
    const StepResult step = step_result(job, layout, costs);
    double last = 0.0;
    std::vector<double> busy(4, 0.0), stream_end(4, 0.0);
    std::size_t num_compute = 0;
    for (const TimelineEvent& event : events) {
        const auto stage = static_cast<std::size_t>(event.stage);
        last = std::max(last, event.start.value() + event.duration.value());
        double nested = 0.0;
        for (const auto& [part, time] : event.parts) nested += time.value();
        EXPECT_NEAR(nested, event.duration.value(), 1e-12);
        if (event.stream != "compute") continue;
        ++num_compute;
        EXPECT_GE(event.start.value(), stream_end[stage] - 1e-12);  // one task of a stream at a time
        stream_end[stage] = event.start.value() + event.duration.value();
        busy[stage] += event.duration.value();
    }
    EXPECT_EQ(num_compute, 4U * 2U * 2U * 8U);  // ranks x chunks x (forward, backward) x micro-batches
    EXPECT_NEAR(last, step.step_time.value(), 1e-9);
    double busy_parts = 0.0;
    for (int part = 0; part < num_parts; ++part) busy_parts += step.parts[static_cast<Part>(part)].value();
    for (const Part part : {Part::bubble, Part::pp_comm, Part::dp_comm, Part::optimizer, Part::fixed})
        busy_parts -= step.parts[part].value();
    EXPECT_NEAR(busy[static_cast<std::size_t>(step.last_stage)], busy_parts, 1e-9);
}

TEST(Exchange, VolumesFollowTheShardingLevel) {
    // 1e9 parameters on 2 cards in one domain at 100 GB/s, nothing hidden, no latency: a gather of 2 GB moves 1 GB: 10
    // ms, a scatter of 4 GB: 20 ms. Level 0: 2 x 20; 1: 20 + 10; 2 with 3 micro-batches: 60 + 10; 3: (10 + 10 + 20)
    // x 3.
    Job job = gpt_job();
    job.efficiency.scale_up = 1.0;
    job.efficiency.scale_out_hidden = 0.0;
    job.cluster.accelerator.scale_up = {BytesPerSecond{100e9}, Seconds{0.0}, ""};
    model::Layout layout = layout_of(2, 1, 1, 1, 6);
    const HeldParameters held{1e9, 0.0};
    const auto time = [&](int level) {
        layout.optimizer_sharding = level;
        return exchange_time(job, layout, held, {Seconds{0.0}, Seconds{0.0}}).value();
    };
    EXPECT_NEAR(time(0), 0.040, 1e-12);
    EXPECT_NEAR(time(1), 0.030, 1e-12);
    EXPECT_NEAR(time(2), 0.070, 1e-12);
    EXPECT_NEAR(time(3), 0.120, 1e-12);
    // Half hidden: the time halves while the compute at hand is longer than the hidden half.
    job.efficiency.scale_out_hidden = 0.5;
    layout.optimizer_sharding = 1;
    EXPECT_NEAR(exchange_time(job, layout, held, {Seconds{1.0}, Seconds{1.0}}).value(), 0.015, 1e-12);
    EXPECT_NEAR(exchange_time(job, layout, held, {Seconds{0.0}, Seconds{0.0}}).value(), 0.030, 1e-12);
}

}  // namespace
}  // namespace windtunnel::train
