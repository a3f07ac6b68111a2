#include "windtunnel/train/documents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "train_examples.hpp"
#include "windtunnel/base/philox.hpp"
#include "windtunnel/train/step.hpp"

namespace windtunnel::train {
namespace {

/// 8 equal ranks, forward only, with these loads.
double gpipe_time(const std::vector<double>& loads, double forward) {
    const Pipeline pipeline{model::PipelineSchedule::gpipe, 8, 1, static_cast<std::int64_t>(loads.size())};
    const std::vector<ChunkTimes> chunks(8, ChunkTimes{Seconds{forward}, Seconds{0.0}});
    const std::vector<Seconds> links(8, Seconds{0.0});
    PipelineRunner runner;
    return runner.run(pipeline, {chunks, links, {}, loads}).makespan.value();
}

TEST(Documents, AFlowShopTakesItsSumAndTheLargestOnEveryOtherStage) {
    // Proportionate flow shop: T = sum + (p - 1) max, for every order.
    std::vector<double> loads{0.5, 1.7, 1.0, 0.2, 0.9, 1.1};
    const double expected = 3.0 * (5.4 + 7.0 * 1.7);
    for (int order = 0; order < 20; ++order) {
        EXPECT_NEAR(gpipe_time(loads, 3.0), expected, 1e-9);
        std::next_permutation(loads.begin(), loads.end());
    }
}

TEST(Documents, EvenMicroBatchesGainWhatTheLongestCost) {
    // 32 micro-batches on 8 ranks: (32 + 7 x 1.251)/39 = 1.0450, (32 + 7 x 1.459)/39 = 1.0824.
    for (const auto& [imbalance, gain] : {std::pair{1.251, 0.0450}, std::pair{1.459, 0.0824}}) {
        std::vector<double> loads(32, (32.0 - imbalance) / 31.0);
        loads[11] = imbalance;
        EXPECT_NEAR(gpipe_time(loads, 1.0) / gpipe_time(std::vector<double>(32, 1.0), 1.0) - 1.0, gain, 6e-5);
    }
}

TEST(Documents, LoadsRunAsInTheTaskGraph) {
    for (const auto schedule : {model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::interleaved,
                                model::PipelineSchedule::zb_1p, model::PipelineSchedule::dualpipe_v}) {
        const int chunks_of_rank =
            schedule == model::PipelineSchedule::one_f_one_b || schedule == model::PipelineSchedule::zb_1p ? 1 : 2;
        const Pipeline pipeline{schedule, 4, chunks_of_rank, 16};
        std::vector<double> loads;
        for (int i = 0; i < 16; ++i) loads.push_back(0.6 + 0.05 * ((i * 7) % 16));
        const std::vector<ChunkTimes> chunks(static_cast<std::size_t>(pipeline.num_stages()),
                                             ChunkTimes{Seconds{1.0}, Seconds{2.0}, Seconds{0.9}});
        const std::vector<Seconds> links(4, Seconds{0.1});
        const PipelineTimes times{chunks, links, {}, loads};
        PipelineRunner runner;
        TaskGraph graph{4};
        pipeline_graph(pipeline, times, graph);
        EXPECT_NEAR(runner.run(pipeline, times).makespan.value(), execute(graph).makespan.value(), 1e-9);
    }
}

TEST(Documents, FillTheOpenMicroBatchWhileItHasRoom) {
    // Room 10: 6 | 5 4 | 7 2 | 6 ... of the list 6, 5, 4, 7, 2.
    model::Documents documents;
    documents.lengths = {6, 5, 4, 7, 2};
    const Packed packed = pack(documents, {1, 4, 1.0, 10.0}, {1.0, 0.0}, 1);
    ASSERT_EQ(packed.load.size(), 4U);
    EXPECT_NEAR(packed.load[0], 0.6, 1e-12);
    EXPECT_NEAR(packed.load[1], 0.9, 1e-12);
    EXPECT_NEAR(packed.load[2], 0.9, 1e-12);
    EXPECT_NEAR(packed.load[3], 0.6, 1e-12);
    EXPECT_NEAR(packed.fill, 0.75, 1e-12);
    EXPECT_NEAR(packed.imbalance, 0.9 / 0.75, 1e-12);
    EXPECT_NEAR(packed.square_tokens, 36 + 25 + 16 + 49 + 4 + 36, 1e-9);
}

TEST(Documents, PaddedTheyTakeASequenceEach) {
    model::Documents documents;
    documents.lengths = {10, 2};
    documents.packing = model::Packing::padded;
    const Packed packed = pack(documents, {1, 2, 2.0, 10.0}, {0.0, 1.0}, 1);
    EXPECT_NEAR(packed.load[0], (100.0 + 4.0) / 200.0, 1e-12);
    EXPECT_NEAR(packed.fill, 0.6, 1e-12);
}

TEST(Documents, LongestFirstEvensOutTheWork) {
    model::Documents documents;
    documents.median = 900.0;
    documents.sigma = 0.6;
    const Bins bins{4, 32, 1.0, 8192.0};
    const DocumentWork work{1.0, 1.0 / 8192.0};
    const Packed in_order = pack(documents, bins, work, 8);
    documents.packing = model::Packing::longest_first;
    const Packed longest = pack(documents, bins, work, 8);
    EXPECT_LT(longest.imbalance, in_order.imbalance);
    EXPECT_GT(in_order.imbalance, 1.05);
    EXPECT_LE(longest.tokens, in_order.tokens + 1e-6);
    EXPECT_LT(longest.delayed, 10);
}

/// Smallest largest load over all assignments.
double best_load(const std::vector<double>& work, std::vector<double>& bins, std::size_t next, double best) {
    if (next == work.size()) return std::min(best, *std::max_element(bins.begin(), bins.end()));
    for (double& bin : bins) {
        bin += work[next];
        if (bin < best) best = best_load(work, bins, next + 1, best);
        bin -= work[next];
    }
    return best;
}

TEST(Documents, LongestFirstIsWithinAThirdOfTheBest) {
    // Graham: at most 4/3 - 1/(3 m) times the optimum, against brute force for nine documents.
    base::Draws draws{{7, 1, 0}};
    for (int round = 0; round < 50; ++round)
        for (const int bins : {2, 3, 4}) {
            std::vector<double> work;
            for (int i = 0; i < 9; ++i) work.push_back(1.0 + 20.0 * draws.uniform());
            const std::vector<double> load = longest_first(work, bins);
            std::vector<double> empty(static_cast<std::size_t>(bins), 0.0);
            const double best = best_load(work, empty, 0, 1e9);
            const double most = *std::max_element(load.begin(), load.end());
            EXPECT_GE(most, best - 1e-9);
            EXPECT_LE(most, best * (4.0 / 3.0 - 1.0 / (3.0 * bins)) + 1e-9);
            EXPECT_NEAR(std::accumulate(load.begin(), load.end(), 0.0), std::accumulate(work.begin(), work.end(), 0.0),
                        1e-9);
        }
}

TEST(Documents, OfOneLengthChangeNothing) {
    Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 16, 2048);
    const model::Layout layout = test::layout(16, 1, 4, 1, 64);
    const UnitCosts costs = unit_costs(job, unit_key(layout));
    const StepResult plain = step_result(job, layout, costs);
    job.documents.lengths = {2048};
    const StepResult same = step_result(job, layout, costs);
    EXPECT_NEAR(same.step_time / plain.step_time, 1.0, 1e-12);
    EXPECT_NEAR(same.model_flops / plain.model_flops, 1.0, 1e-12);
    EXPECT_NEAR(same.tokens_per_second / plain.tokens_per_second, 1.0, 1e-12);
}

TEST(Documents, UnevenOnesCostBubbleAndSumTheirParts) {
    for (const auto schedule : {model::PipelineSchedule::one_f_one_b, model::PipelineSchedule::dualpipe}) {
        Job job = test::job(test::gpt(24, 4096, 32), test::a100(), 16, 2048);
        job.documents.median = 900.0;
        job.documents.sigma = 0.8;
        model::Layout layout = test::layout(16, 1, 4, 1, 64);
        layout.schedule = schedule;
        const UnitCosts costs = unit_costs(job, unit_key(layout));
        const StepResult in_order = step_result(job, layout, costs);
        EXPECT_NEAR(in_order.parts.total() / in_order.step_time, 1.0, 1e-9);
        EXPECT_LT(in_order.fill, 1.0);
        double last = 0.0;
        for (const TimelineEvent& event : step_timeline(job, layout, costs)) {
            double nested = 0.0;
            for (const auto& [part, time] : event.parts) nested += time.value();
            EXPECT_NEAR(nested, event.duration.value(), 1e-12) << event.name;
            last = std::max(last, (event.start + event.duration).value());
        }
        EXPECT_NEAR(last, in_order.step_time.value(), 1e-9);
        job.documents.packing = model::Packing::longest_first;
        EXPECT_GT(step_result(job, layout, costs).tokens_per_second, in_order.tokens_per_second);
    }
}

}  // namespace
}  // namespace windtunnel::train
