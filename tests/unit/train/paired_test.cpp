/// A forward beside a backward in 1F1B and interleaved orders, and memory over a step.
#include <gtest/gtest.h>

#include <map>

#include "train_examples.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

struct Case {
    Pipeline pipeline;
    std::vector<ChunkTimes> chunks;
    std::vector<Seconds> links;
    PairRates rates{};
    [[nodiscard]] PipelineTimes times() const { return {chunks, links, rates, {}}; }
};

Case paired(model::PipelineSchedule schedule, int p, int v, std::int64_t m) {
    Case c;
    c.pipeline = {schedule, p, v, m, true};
    // Forward 10 of which 3 are expert communication, backward 20 of which 5.
    c.chunks.assign(static_cast<std::size_t>(p * v),
                    {Seconds{10.0}, Seconds{20.0}, Seconds{8.0}, Seconds{3.0}, Seconds{5.0}});
    c.links.assign(static_cast<std::size_t>(p), Seconds{0.0});
    return c;
}

TEST(Paired, OneFOneBHidesTheExchangeOfAllButOneMicroBatch) {
    // p (F + B) + (m - 1)(F + B - saved); saved = (3 + 5) x 112/132.
    const double saved = 8.0 * 112.0 / 132.0;
    for (const int p : {1, 2, 4, 8})
        for (const std::int64_t m : {16, 17, 32}) {
            const Case c = paired(model::PipelineSchedule::one_f_one_b, p, 1, m);
            PipelineRunner runner;
            const double time = runner.run(c.pipeline, c.times()).makespan.value();
            EXPECT_NEAR(time, 30.0 * p + static_cast<double>(m - 1) * (30.0 - saved), 1e-9) << p << ", " << m;
            EXPECT_NEAR(closed_form_pipeline_time(c.pipeline, c.times()).value(), time, 1e-9);
        }
}

TEST(Paired, RunsAsItsTaskGraphAndDoesNotLock) {
    for (const auto schedule : {model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved})
        for (const int p : {2, 3, 4})
            for (const int v : {1, 2, 3}) {
                if ((schedule == model::PipelineSchedule::interleaved) != (v > 1)) continue;
                for (const std::int64_t groups : {1, 2, 5}) {
                    Case c = paired(schedule, p, v, groups * p);
                    c.links.assign(static_cast<std::size_t>(p), Seconds{0.5});
                    c.links.back() = Seconds{0.7};
                    TaskGraph graph{static_cast<std::uint32_t>(p)};
                    pipeline_graph(c.pipeline, c.times(), graph);
                    const Execution twin = execute(graph);
                    ASSERT_FALSE(twin.deadlock);
                    PipelineRunner runner;
                    const double time = runner.run(c.pipeline, c.times()).makespan.value();
                    EXPECT_NEAR(time, twin.makespan.value(), 1e-9) << p << ", " << v << ", " << groups;
                    EXPECT_NEAR(closed_form_pipeline_time(c.pipeline, c.times()).value() / time, 1.0, 0.15)
                        << p << ", " << v << ", " << groups;
                }
            }
}

TEST(Paired, BothSidesSlowEachOther) {
    // Communication at 0.8 of its speed under compute at 0.9: a second of it takes 1.25 s, in which compute loses
    // 0.125: 0.875 s are gained.
    Case c = paired(model::PipelineSchedule::one_f_one_b, 1, 1, 2);
    c.rates = {0.9, 0.8};
    EXPECT_NEAR(saved_by_pair(c.chunks[0], c.chunks[0], c.rates).value(), 8.0 * 0.875, 1e-12);
    PipelineRunner runner;
    EXPECT_NEAR(runner.run(c.pipeline, c.times()).makespan.value(), 60.0 - 7.0, 1e-9);
}

TEST(Paired, APlanHidesExpertCommunicationAndHoldsMoreMicroBatches) {
    Job job = test::job(test::deepseek_v2(8), test::h100(), 64, 4096);
    model::Layout layout = test::layout(64, 1, 4, 1, 256);
    layout.expert_parallel = 16;
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const StepResult apart = step_result(job, layout, costs);
    const Bytes held = stage_memory(job, layout, costs).back().activations;
    const Bytes held_first = stage_memory(job, layout, costs).front().activations;
    job.methods.overlap.experts = true;
    const StepResult beside = step_result(job, layout, costs);
    EXPECT_LT(beside.step_time, apart.step_time);
    EXPECT_LT(beside.parts[Part::ep_comm], 0.6 * apart.parts[Part::ep_comm]);
    EXPECT_NEAR(beside.parts.total() / beside.step_time, 1.0, 1e-12);
    // The last of 4 ranks holds 2 in place of 1, the first 2 x 3 + 2 in place of 4.
    EXPECT_NEAR(stage_memory(job, layout, costs).back().activations / held, 2.0, 1e-12);
    EXPECT_NEAR(stage_memory(job, layout, costs).front().activations / held_first, 2.0, 1e-12);
}

TEST(MemoryTimeline, PeaksWhereTheMemoryModelSays) {
    for (const auto schedule :
         {model::PipelineSchedule::gpipe, model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved,
          model::PipelineSchedule::zb_1p, model::PipelineSchedule::zb_v, model::PipelineSchedule::v_half,
          model::PipelineSchedule::dualpipe, model::PipelineSchedule::dualpipe_v}) {
        const Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 16, 2048);
        model::Layout layout = test::layout(16, 1, 4, 1, 64);
        layout.schedule = schedule;
        if (schedule == model::PipelineSchedule::interleaved || model::is_v_shaped(schedule))
            layout.virtual_pipeline = 2;
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        const std::vector<StageMemory> memory = stage_memory(job, layout, costs);
        std::map<int, double> peak, last;
        for (const MemorySample& sample : memory_timeline(job, layout, costs)) {
            peak[sample.stage] = std::max(peak[sample.stage], sample.held.value());
            last[sample.stage] = sample.held.value();
        }
        ASSERT_EQ(peak.size(), 4U);
        for (const auto& [stage, bytes] : peak) {
            const StageMemory& model = memory[static_cast<std::size_t>(stage)];
            EXPECT_NEAR(bytes / model.total().value(), 1.0, 1e-9) << model::to_text(schedule) << ", stage " << stage;
            EXPECT_NEAR(last[stage], (model.total() - model.activations).value(), 1e-3) << model::to_text(schedule);
        }
    }
}

}  // namespace
}  // namespace windtunnel::train
