#include "windtunnel/report/comparison.hpp"

#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

ResultFile file_with(std::vector<std::string> variants, std::vector<double> values, std::vector<double> errors) {
    const store::TableSchema schema{"avail/summary",
                                    "useful time",
                                    {{"variant", store::ColumnType::text, "1", "variant", {}},
                                     {"availability", store::ColumnType::real, "1", "useful share", {}},
                                     {"availability_standard_error", store::ColumnType::real, "1", "its error", {}}}};
    ResultFile file;
    file.tables = {{schema, {std::move(variants), std::move(values), std::move(errors)}}};
    file.num_rows = {file.tables[0].num_rows()};
    return file;
}

TEST(Comparison, MatchesRowsByTheirLabelAndCombinesErrors) {
    const auto first = file_with({"a", "b"}, {0.90, 0.80}, {0.003, 0.01});
    const auto second = file_with({"b", "a"}, {0.80, 0.92}, {0.01, 0.004});
    const auto all = differences(first, second);
    ASSERT_EQ(all.size(), 1U);  // b is equal; errors are no rows of their own
    EXPECT_EQ(all[0].row, "a");
    EXPECT_DOUBLE_EQ(all[0].first, 0.90);
    EXPECT_DOUBLE_EQ(all[0].second, 0.92);
    // sqrt(0.003^2 + 0.004^2) = 0.005
    EXPECT_NEAR(all[0].half_width_95.value(), 1.959964 * 0.005, 1e-12);
}

TEST(Comparison, MatchesRowsByNumberWhereLabelsRepeat) {
    const auto all = differences(file_with({"a", "a"}, {1.0, 2.0}, {0, 0}), file_with({"a", "a"}, {1.0, 3.0}, {0, 0}));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].row, "1");
}

TEST(Comparison, NamesInputsThatDiffer) {
    ResultFile first = file_with({}, {}, {});
    ResultFile second = first;
    first.provenance.files = {{"plan", "a.toml", "x", 1}};
    second.provenance.files = {{"plan", "b.toml", "y", 2}};
    first.provenance.seed = 1;
    second.provenance.seed = 2;
    second.tables.clear();
    EXPECT_EQ(differing_inputs(first, second),
              (std::vector<std::string>{"plan: a.toml and b.toml differ", "seed: 1 and 2",
                                        "only the first has a table avail/summary"}));
}

TEST(Comparison, SaysWhenNothingDiffers) {
    const auto file = file_with({"a"}, {0.5}, {0.1});
    EXPECT_NE(comparison_text(file, file).find("equal numbers"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel::report
