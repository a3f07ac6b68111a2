#include "windtunnel/validate/serve_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "windtunnel/input/serve_records.hpp"
#include "windtunnel/validate/serve_figures.hpp"

namespace windtunnel::validate {
namespace {

const model::ServeMeasurements& shipped() {
    static const model::ServeMeasurements all = input::read_serve_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    return all;
}

std::vector<RowResult> all_lines(const model::ServeMeasurements& measurements) {
    std::vector<RowResult> lines;
    for (const model::ServeRow& row : measurements.rows)
        for (RowResult& line : run_serve_row(row, measurements)) lines.push_back(std::move(line));
    return lines;
}

std::vector<std::string> figures_outside(const model::ServeMeasurements& measurements) {
    std::vector<std::string> outside;
    for (const Figure& figure : serve_figures(all_lines(measurements), measurements))
        if (figure.exceeds()) outside.push_back(figure.table + " " + figure.name);
    return outside;
}

const model::ServeRow& row_named(const std::string& id) {
    const auto& rows = shipped().rows;
    return *std::find_if(rows.begin(), rows.end(), [&](const model::ServeRow& row) { return row.id == id; });
}

TEST(PublishedServing, EveryFigureIsInsideItsLimit) {
    EXPECT_EQ(figures_outside(shipped()), std::vector<std::string>{});
}

TEST(PublishedServing, OneShareOffByAThirdIsSeen) {
    model::ServeMeasurements changed = shipped();
    for (model::EngineRule& rule : changed.rules) rule.efficiency.weights *= 0.67;
    EXPECT_GE(figures_outside(changed).size(), 3U);
}

TEST(PublishedServing, EveryLineHasAFinitePredictionOrAReason) {
    for (const RowResult& line : all_lines(shipped())) {
        if (!line.predicted) {
            EXPECT_FALSE(line.reason.empty()) << line.id;
        } else if (line.quantity != "overlap_gain" && line.quantity != "overlap_sign") {
            EXPECT_TRUE(std::isfinite(*line.predicted) && *line.predicted > 0.0) << line.id;
        }
    }
}

TEST(PublishedServing, CardsOfARowWithMultipliedDegreesAreCountedOnce) {
    // (tp 64, experts 8 x 8) and (attention dp 64, 8, 8) are 8 cards; (tp 4, dp 4, ep 16) is 4 with attention dp.
    int eight = 0, four = 0;
    for (const model::ServeRow& row : shipped().rows) {
        if (row.table != model::ServeTable::silicon || row.text("mode") != "agg") continue;
        const ServeJob job = serve_job(row, shipped());
        if (!job.problem.empty()) continue;
        if (row.integer("moe_tp", 0) == 8 && row.integer("moe_ep", 0) == 8) {
            EXPECT_EQ(job.setup.layout.cards(), 8) << row.id;
            ++eight;
        }
        if (row.integer("tp", 0) == 4 && row.integer("attn_dp", 0) == 4) {
            EXPECT_EQ(job.setup.layout.cards(), 4) << row.id;
            EXPECT_EQ(job.setup.layout.attention_data_parallel, 4) << row.id;
            ++four;
        }
    }
    EXPECT_EQ(eight, 51);
    EXPECT_EQ(four, 16);
}

TEST(PublishedServing, DrawnLengthsCountAtNineTenths) {
    const auto& rows = shipped().rows;
    const auto drawn = std::find_if(rows.begin(), rows.end(), [](const model::ServeRow& row) {
        return row.table == model::ServeTable::silicon && row.text("isl") == "8192" && row.text("osl") == "1024" &&
               row.text("mode") == "agg";
    });
    EXPECT_DOUBLE_EQ(serve_job(*drawn, shipped()).loop.prompt, 0.9 * 8192);
    const auto round = std::find_if(rows.begin(), rows.end(), [](const model::ServeRow& row) {
        return row.table == model::ServeTable::silicon && row.text("isl") == "4000" && row.text("mode") == "agg" &&
               row.number("concurrency");
    });
    EXPECT_DOUBLE_EQ(serve_job(*round, shipped()).loop.prompt, 4000.0);
}

TEST(PublishedServing, MoreExpertCardsGiveMoreTokensOnH20) {
    // AN-01: 16 cards, 278 tokens/s each; AN-02: 32 cards, 293.
    const auto rate = [](const char* id) { return *run_serve_row(row_named(id), shipped()).front().predicted; };
    EXPECT_GT(rate("AN-02"), rate("AN-01"));
}

TEST(PublishedServing, TokensPerSecondAreBatchOverTimePerToken) {
    // Five points of CloudMatrix384 and four of Pangu Pro on Atlas (4 cards an instance): within half a percent.
    for (const char* id : {"CM-02", "CM-03", "CM-04", "CM-16", "CM-17"}) {
        const model::ServeRow& row = row_named(id);
        const double printed = *row.number("tokens_per_s_per_chip");
        EXPECT_NEAR(*row.number("batch_per_chip") / *row.number("tpot_s"), printed, 0.005 * printed) << id;
    }
    EXPECT_NEAR(456 / 0.09931 / 4, 1148.0, 0.005 * 1148);
    EXPECT_NEAR(584 / 0.09556 / 4, 1528.0, 0.005 * 1528);
    EXPECT_NEAR(80 / 0.0995 / 4, 201.0, 0.005 * 201);
    EXPECT_NEAR(128 / 0.0997 / 4, 321.0, 0.005 * 321);
}

TEST(PublishedServing, DiesTimesAcceptedTokensGiveTheRateOfAChip) {
    // xDeepServe: 60 sequences a die, 2 dies a chip, 1.9 tokens a step of 93 + 2 ms; 288 dies.
    const double chip = 60 * 2 * 1.9 / 0.095;
    EXPECT_NEAR(chip, 2400.0, 0.005 * 2400);
    EXPECT_NEAR(chip * 288 / 2, 345000.0, 0.005 * 345000);
}

TEST(PublishedServing, ExchangeOverManyCardsFollowsFromFewCards) {
    // Latency and bandwidth from 8 and 32 dies of an A3 supernode (dispatch 132 and 153 us, combine 126 and 151 us, 128
    // tokens, hidden 7168, 8 experts a token); at 256 dies CloudMatrix384 prints 152 and 149 us. Bytes: copies to the
    // ranks that are hit, n (1 - (1 - 1/n)^8), of which (n-1)/n leave.
    const auto megabytes = [](double ranks, double width) {
        return 128 * 7168 * width * ranks * (1 - std::pow(1 - 1 / ranks, 8)) * (ranks - 1) / ranks / 1e6;
    };
    const auto at_256 = [&](double at_8, double at_32, double width) {
        const double per_megabyte = (at_32 - at_8) / (megabytes(32, width) - megabytes(8, width));
        return at_8 + per_megabyte * (megabytes(256, width) - megabytes(8, width));
    };
    EXPECT_NEAR(at_256(132, 153, 1.0), 152.0, 0.1 * 152);
    EXPECT_NEAR(at_256(126, 151, 2.0), 149.0, 0.1 * 149);
    // The cost service moves the same bytes: 1 GB/s, no latency, one layer with experts.
    model::Transformer one = shipped().models.at("DeepSeek-R1");
    one.num_layers = 1;
    one.num_dense_layers = 0;
    model::Accelerator card = shipped().accelerators.at("Ascend-910C-die");
    card.scale_up.bandwidth = BytesPerSecond{1e9};
    model::EngineEfficiency set;
    set.scale_up = 1.0;
    set.all_to_all_latency = set.all_to_all_issue = Seconds{0.0};
    model::EngineNumbers numbers;
    ASSERT_TRUE(model::engine_numbers_of("int8", numbers));
    const serve::EngineCost cost{{one, card, set, {1, 1, 256, 256, 1, 0}, numbers, {}}};
    serve::FractionalLoad load;
    load.decode_sequences = load.outputs = 128;
    EXPECT_NEAR(cost.step_parts(load).collectives.value(), (megabytes(256, 1.0) + megabytes(256, 2.0)) * 1e6 / 1e9,
                1e-6);
}

TEST(PublishedServing, SmallBatchesOfCloudMatrix) {
    // Batch 8 and 24 a chip: 14.9 and 24.6 ms printed.
    for (const char* id : {"CM-04", "CM-16"}) {
        const auto error = run_serve_row(row_named(id), shipped()).front().relative_error();
        ASSERT_TRUE(error.has_value()) << id;
        EXPECT_LT(std::abs(*error), 0.30) << id;
    }
}

TEST(PublishedServing, BalanceOfExpertsInPrefill) {
    // Perfect balance over natural routing: 6688 / 5655 = 1.183.
    const auto rate = [](const char* id) { return *run_serve_row(row_named(id), shipped()).front().predicted; };
    EXPECT_NEAR(rate("CM-01") / rate("CM-18"), 1.183, 0.05 * 1.183);
}

TEST(PublishedServing, CombineBytesOverItsTimeAreThePublishedBandwidth) {
    // 128 tokens x 8 copies x 7168 x 2 B in 126 us: 116.5 GB/s (116 printed).
    EXPECT_NEAR(128.0 * 8 * 7168 * 2 / 126e-6 / 1e9, 116.5, 0.1);
}

}  // namespace
}  // namespace windtunnel::validate
