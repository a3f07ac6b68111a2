#include "windtunnel/study/validate_study.hpp"

#include <gtest/gtest.h>

#include "run_study.hpp"
#include "windtunnel/base/pack.hpp"

namespace windtunnel::study {
namespace {

model::Measurements rows(std::size_t count) {
    model::Measurements measurements;
    for (std::size_t i = 0; i < count; ++i) {
        model::PublishedRow row;
        row.id = "row-" + std::to_string(i);
        measurements.rows.push_back(row);
    }
    return measurements;
}

TEST(ValidateStudy, GivesWhatTheRowsGiveInOrder) {
    // Rows without hardware cannot be simulated: each still has its line, with a reason.
    const model::Measurements measurements = rows(20);
    const ValidateStudy study{measurements};
    const ValidateAnswer answer = study.answer(test::run(study, 3));
    const auto expected = validate::run_rows(measurements.rows, measurements);
    ASSERT_EQ(answer.rows.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(answer.rows[i].id, expected[i].id);
        EXPECT_EQ(answer.rows[i].reason, expected[i].reason);
        EXPECT_FALSE(answer.rows[i].reason.empty());
    }
}

TEST(ValidateStudy, EveryFileThatWasReadCounts) {
    // A calibration, a default or a measured value that changed makes another study: no old journal fits it.
    model::Measurements measurements = rows(2);
    measurements.files = {{"calibration", "a.toml", "gemm = 0.7", 1}, {"limits", "limits.toml", "mean = 0.1", 2}};
    const std::string before = ValidateStudy{measurements}.identity();
    measurements.files[0].path = "elsewhere/a.toml";
    EXPECT_EQ(ValidateStudy{measurements}.identity(), before);
    measurements.files[0].hash = 3;
    EXPECT_NE(ValidateStudy{measurements}.identity(), before);
}

TEST(ValidateStudy, NoRowsAreNoWork) {
    const ValidateStudy study{model::Measurements{}};
    EXPECT_FALSE(study.next_round(study.start()));
    EXPECT_TRUE(study.answer(study.start()).rows.empty());
}

TEST(ValidateStudy, RecordsSurvivePacking) {
    const ValidateStudy study{model::Measurements{}};
    validate::RowResult row;
    row.id = "a";
    row.predicted = 1.25;
    row.assumed = {"recompute", "split"};
    row.used_to_fit = true;
    const std::string bytes = study.pack({row});
    const auto again = study.unpack(bytes);
    EXPECT_EQ(again.at(0).predicted, 1.25);
    EXPECT_FALSE(again.at(0).measured);
    EXPECT_EQ(again.at(0).assumed.size(), 2U);
    EXPECT_EQ(study.pack(again), bytes);
    EXPECT_THROW((void)study.unpack(std::string_view{bytes}.substr(0, bytes.size() - 2)), base::PackError);
}

}  // namespace
}  // namespace windtunnel::study
