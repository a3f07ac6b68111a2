#include "windtunnel/validate/train_tables.hpp"

#include <gtest/gtest.h>

namespace windtunnel::validate {
namespace {

/// A complete row on A100.
model::PublishedRow row(const std::string& id, double seconds) {
    model::PublishedRow row;
    row.id = id;
    row.file = "bloom_bigscience";
    row.model = "M";
    row.hidden = row.heads = row.layers = row.sequence = 8;
    row.tp = row.pp = row.mbs = 1;
    row.gbs = 64;
    row.cards = 16;
    row.accelerator = "A100-80GB-SXM";
    row.dtype = "fp16";
    row.step_time_s = seconds;
    return row;
}

RowResult line(const std::string& id, double predicted, double measured) {
    RowResult result;
    result.id = id;
    result.file = "bloom_bigscience";
    result.quantity = "step_time_s";
    result.predicted = predicted;
    result.measured = measured;
    result.low = 0.9 * predicted;
    result.high = 1.1 * predicted;
    return result;
}

const Figure* find(const std::vector<Figure>& figures, const std::string& table, const std::string& name,
                   const std::string& measure) {
    for (const Figure& figure : figures)
        if (figure.table == table && figure.name == name && figure.measure == measure) return &figure;
    return nullptr;
}

TEST(ErrorSummary, NearestRanks) {
    // 1 % to 20 %: mean 10.5; ranks 10, 18, 19 of 20.
    std::vector<double> errors;
    for (int i = 20; i > 0; --i) errors.push_back(0.01 * i);
    const ErrorSummary summary = error_summary(errors);
    EXPECT_EQ(summary.count, 20);
    EXPECT_NEAR(summary.mean, 0.105, 1e-12);
    EXPECT_NEAR(summary.median, 0.10, 1e-12);
    EXPECT_NEAR(summary.percentile_90, 0.18, 1e-12);
    EXPECT_NEAR(summary.percentile_95, 0.19, 1e-12);
    EXPECT_NEAR(summary.worst, 0.20, 1e-12);
    EXPECT_EQ(error_summary({}).count, 0);
}

TEST(RankCorrelation, PairsNearerThanThreePercentDoNotCount) {
    // Measured 100, 102, 110, 120; pairs without (100, 102): 5. Predicted 1, 2, 4, 3: only (110, 120) is reversed.
    RankCorrelation ranks;
    add_ranks({{1.0, 100.0}, {2.0, 102.0}, {4.0, 110.0}, {3.0, 120.0}}, ranks);
    EXPECT_EQ(ranks.pairs(), 5);
    EXPECT_EQ(ranks.discordant, 1);
    EXPECT_DOUBLE_EQ(ranks.tau(), 0.6);
    // A tie of the prediction does not rank: it counts as reversed.
    RankCorrelation tied;
    add_ranks({{1.0, 100.0}, {1.0, 200.0}}, tied);
    EXPECT_EQ(tied.discordant, 1);
}

TEST(CompleteRows, NeedEveryDimensionAndNoAdapter) {
    model::PublishedRow one = row("a", 1.0);
    EXPECT_TRUE(is_complete(one));
    EXPECT_FALSE(is_converted(one));
    one.phase = "lora";
    EXPECT_FALSE(is_complete(one));
    one = row("a", 1.0);
    one.mbs.reset();
    EXPECT_FALSE(is_complete(one));
    one = row("a", 1.0);
    one.confidence = "low";
    EXPECT_FALSE(is_complete(one));
    one.step_time_s.reset();
    one.mfu = 0.4;
    EXPECT_TRUE(is_converted(one));
}

/// Four layouts of one sweep, 2 % off each but one, which is 20 % too slow and the last of the order.
model::Measurements sweep(std::vector<RowResult>& lines) {
    model::Measurements all;
    const double measured[] = {100.0, 110.0, 120.0, 130.0}, predicted[] = {102.0, 112.2, 144.0, 132.6};
    for (int i = 0; i < 4; ++i) {
        const std::string id = "row " + std::to_string(i);
        all.rows.push_back(row(id, measured[i]));
        lines.push_back(line(id, predicted[i], measured[i]));
    }
    return all;
}

TEST(TrainFigures, ErrorsOrderAndIntervals) {
    std::vector<RowResult> lines;
    const model::Measurements all = sweep(lines);
    const auto figures = train_figures(lines, all);
    const Figure* mean = find(figures, "step time", "all complete rows", "mean");
    ASSERT_NE(mean, nullptr);
    EXPECT_EQ(mean->count, 4);
    EXPECT_NEAR(mean->value.value(), (0.02 * 3 + 0.2) / 4, 1e-12);
    EXPECT_NEAR(find(figures, "step time", "dense bf16/fp16 on A100 and H100", "worst")->value.value(), 0.2, 1e-12);
    EXPECT_FALSE(find(figures, "step time", "MoE on H100", "mean")->value.has_value());
    EXPECT_NEAR(find(figures, "order of layouts", "BLOOM", "tau")->value.value(), 4.0 / 6.0, 1e-12);  // 5 - 1 of 6
    // 0.9 x 144 = 129.6 is above 120: three of four inside, each interval 10 % wide to a side.
    EXPECT_NEAR(find(figures, "90 % interval", "complete rows", "held")->value.value(), 0.75, 1e-12);
    EXPECT_NEAR(find(figures, "90 % interval", "complete rows", "half-width to mean error")->value.value(), 0.1 / 0.065,
                1e-12);
}

TEST(TrainFigures, ALimitIsTheTargetOrWhatIsSetBesideIt) {
    std::vector<RowResult> lines;
    model::Measurements all = sweep(lines);
    all.figure_limits = {{"step time", "all complete rows", "mean", 0.05, 0.07, false},
                         {"order of layouts", "BLOOM", "tau", 0.8, 0.8, true}};
    const auto figures = train_figures(lines, all);
    const Figure* mean = find(figures, "step time", "all complete rows", "mean");
    EXPECT_TRUE(mean->misses(mean->target));
    EXPECT_FALSE(mean->exceeds());
    EXPECT_TRUE(find(figures, "order of layouts", "BLOOM", "tau")->exceeds());
    // Few rows of the user's own are shown and not judged.
    for (model::PublishedRow& one : all.rows) one.of_the_user = true;
    for (const Figure& figure : train_figures(lines, all)) EXPECT_FALSE(figure.exceeds()) << figure.name;
}

TEST(TrainFigures, RowsOfTheFitAndConvertedRowsStandApart) {
    std::vector<RowResult> lines;
    model::Measurements all = sweep(lines);
    lines[2].used_to_fit = true;
    all.rows[3].step_time_s.reset();
    all.rows[3].mfu = 0.5;
    lines[3].quantity = "mfu";
    lines[3].predicted = 0.4;  // the step is 0.5 / 0.4 of the measured one
    lines[3].measured = 0.5;
    const auto figures = train_figures(lines, all);
    EXPECT_EQ(find(figures, "step time", "all complete rows", "mean")->count, 2);
    EXPECT_EQ(find(figures, "step time", "all complete rows", "mean, fitted")->count, 1);
    EXPECT_NEAR(find(figures, "step time converted from MFU or TFLOP/s", "all", "mean")->value.value(), 0.25, 1e-12);
}

TEST(TrainFigures, ScalingIsRelativeToTheSmallestSize) {
    // 16, 32, 64 cards with 64, 128, 256 sequences: measured 1, 1.25, 2 s; predicted 1, 1, 1 s.
    model::Measurements all;
    std::vector<RowResult> lines;
    const double measured[] = {1.0, 1.25, 2.0};
    for (int i = 0; i < 3; ++i) {
        model::PublishedRow one = row("size " + std::to_string(i), measured[i]);
        one.file = "internevo_7b";
        one.cards = 16 << i;
        one.gbs = 64 << i;
        all.rows.push_back(one);
        lines.push_back(line(one.id, 1.0, measured[i]));
        lines.back().file = one.file;
    }
    const Figure* worst = nullptr;
    const auto figures = train_figures(lines, all);
    worst = find(figures, "scaling efficiency", "worst of internevo_7b", "difference");
    ASSERT_NE(worst, nullptr);
    EXPECT_EQ(worst->count, 2);
    EXPECT_NEAR(worst->value.value(), 0.5, 1e-12);  // predicted 1, measured 1 / 2
}

TEST(TrainFigures, LinearityFollowsFromTheSlowestCard) {
    // Base 128: sqrt(2 ln n) grows by 0.6083 to 1,024 cards and by 0.9638 to 4,096. A loss of 2 % at 1,024 is a spread
    // of (1 / 0.98 - 1) / 0.6083 = 0.03355 and gives 1 / (1 + 0.03355 x 0.9638) = 0.96868 at 4,096.
    model::Measurements all;
    std::vector<RowResult> lines;
    for (const auto& [cards, linearity] : {std::pair{1024, 0.98}, std::pair{4096, 0.95}}) {
        model::PublishedRow one = row("linear " + std::to_string(cards), 1.0);
        one.cards = cards;
        one.linearity = linearity;
        one.linearity_base = 128;
        all.rows.push_back(one);
        lines.push_back(line(one.id, 1.0, 1.0));
    }
    const auto figures = train_figures(lines, all);
    const Figure* worst = find(figures, "scaling efficiency", "worst of bloom_bigscience", "difference");
    ASSERT_NE(worst, nullptr);
    EXPECT_EQ(worst->count, 1);
    EXPECT_NEAR(worst->value.value(), 0.96868 - 0.95, 1e-5);
}

}  // namespace
}  // namespace windtunnel::validate
