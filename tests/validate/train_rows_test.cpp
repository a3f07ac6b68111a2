#include "windtunnel/validate/train_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/input/records.hpp"

namespace windtunnel::validate {
namespace {

const model::Measurements& shipped() {
    static const model::Measurements all = input::read_measurements(WINDTUNNEL_SOURCE_DIR "/inputs", {});
    return all;
}

std::vector<std::string> families_outside(const model::Measurements& measurements) {
    std::vector<std::string> outside;
    const auto results = run_rows(measurements.rows, measurements);
    for (const FamilyError& family : family_errors(results, measurements.limits))
        if (family.exceeds()) outside.push_back(family.quantity + " " + family.family);
    return outside;
}

TEST(PublishedTraining, EveryFamilyIsInsideItsLimit) {
    EXPECT_EQ(families_outside(shipped()), std::vector<std::string>{});
}

TEST(PublishedTraining, EveryFigureIsInsideItsLimit) {
    int judged = 0;
    for (const Figure& figure : train_figures(run_rows(shipped().rows, shipped()), shipped())) {
        judged += figure.limit && figure.value ? 1 : 0;
        EXPECT_FALSE(figure.exceeds()) << figure.table << ", " << figure.name << ", " << figure.measure << ": "
                                       << figure.value.value_or(0.0) << " for " << *figure.limit;
    }
    EXPECT_GE(judged, 30);
}

TEST(PublishedTraining, FiguresSeeOneEfficiencyOffByAFifth) {
    model::Measurements changed = shipped();
    for (model::CalibrationRule& rule : changed.calibrations) rule.efficiency.gemm *= 0.8;
    int outside = 0;
    for (const Figure& figure : train_figures(run_rows(changed.rows, changed), changed)) outside += figure.exceeds();
    EXPECT_GT(outside, 5);
}

TEST(PublishedTraining, OneEfficiencyOffByAFifthIsSeen) {
    // Matrix products of every calibration reach 20 % less.
    model::Measurements changed = shipped();
    for (model::CalibrationRule& rule : changed.calibrations) rule.efficiency.gemm *= 0.8;
    EXPECT_GT(families_outside(changed).size(), 5U);
    // The same for one set only.
    changed = shipped();
    for (model::CalibrationRule& rule : changed.calibrations)
        if (rule.name.ends_with("megatron-2022-a100.toml")) rule.efficiency.gemm *= 0.8;
    EXPECT_FALSE(families_outside(changed).empty());
}

TEST(PublishedTraining, EachFamilyHasALimit) {
    const auto results = run_rows(shipped().rows, shipped());
    for (const FamilyError& family : family_errors(results, shipped().limits))
        if (family.num_rows > 0) {
            EXPECT_TRUE(family.limit.has_value()) << family.quantity << " " << family.family;
        }
}

TEST(PublishedTraining, MostCompleteRowsAreSimulated) {
    int num_step_times = 0;
    for (const RowResult& line : run_rows(shipped().rows, shipped()))
        if (line.quantity == "step_time_s" && line.predicted) {
            ++num_step_times;
            EXPECT_GT(*line.predicted, 0.0) << line.id;
            EXPECT_TRUE(std::isfinite(*line.predicted)) << line.id;
        } else if (!line.predicted) {
            EXPECT_FALSE(line.reason.empty()) << line.id;
        }
    EXPECT_GE(num_step_times, 870);  // complete rows of the collection
}

TEST(PublishedTraining, LinearityBeyondThePointsOfTheFit) {
    // GPT-3 175B on Ascend at 2,048 to 6,144 cards from its points up to 1,024; and the claims for 135B (256 to 4,096
    // cards, 96 %) and 718B (512 to 8,192, 95.05 %) from the same spread: within 5 points. The third claim, 96.48 %,
    // names no base.
    int beyond = 0, claims = 0;
    for (const Figure& figure : train_figures(run_rows(shipped().rows, shipped()), shipped())) {
        if (!figure.name.starts_with("pangu_ascend ") || figure.measure != "difference") continue;
        EXPECT_LT(std::abs(*figure.value), 0.05) << figure.name;
        beyond += figure.name.find("GPT3") != std::string::npos;
        claims += figure.name.find("Pangu-Ultra") != std::string::npos;
    }
    EXPECT_EQ(beyond, 5);  // two of them in the fit
    EXPECT_EQ(claims, 2);
}

TEST(PublishedTraining, TheOtherToolAgreesOnWhatBothCount) {
    // States and FLOPs of a block follow from the same arithmetic.
    int compared = 0;
    for (const Figure& figure : train_figures(run_rows(shipped().rows, shipped()), shipped())) {
        if (figure.table != "cross-check with Calculon" || figure.measure != "median") continue;
        const bool arithmetic = figure.name.starts_with("weights") || figure.name.starts_with("optimizer") ||
                                figure.name.starts_with("block_forward_flops");
        if (!arithmetic) continue;
        ++compared;
        EXPECT_LT(*figure.value, 0.1) << figure.name;
        EXPECT_EQ(figure.count, 29) << figure.name;
    }
    EXPECT_EQ(compared, 3);
}

TEST(PublishedTraining, OneParameterSetServesTheMegatronPapers) {
    // SC21 without the ZeRO-3 rows, and Korthikanti: mean below 5 %, none above 12 % (five of these rows were fitted).
    double sum = 0.0, worst = 0.0;
    int count = 0;
    for (const RowResult& line : run_rows(shipped().rows, shipped()))
        if ((line.file == "megatron_sc21" || line.file == "korthikanti2022") && line.quantity == "step_time_s" &&
            line.family.ends_with("megatron_2023") && line.predicted) {
            const double error = std::abs(*line.relative_error());
            sum += error;
            worst = std::max(worst, error);
            ++count;
        }
    ASSERT_EQ(count, 20);
    EXPECT_LT(sum / count, 0.05);
    EXPECT_LT(worst, 0.12);
}

}  // namespace
}  // namespace windtunnel::validate
