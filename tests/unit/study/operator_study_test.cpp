#include "windtunnel/study/operator_study.hpp"

#include <gtest/gtest.h>

#include "run_study.hpp"

namespace windtunnel::study {
namespace {

/// Two columns of times, 10 + m and 20 + 3 m, over eight sizes.
model::OperatorTables two_columns() {
    model::OperatorTable table;
    table.shape.name = table.shape.family = "op";
    table.shape.axes = {"m"};
    table.shape.quantities = {"a", "b"};
    for (double m = 1.0; m <= 128.0; m *= 2.0) table.rows.push_back({2, {}, {m}, {10.0 + m, 20.0 + 3.0 * m}});
    model::OperatorTables tables;
    tables.tables.push_back(table);
    tables.files = {{"operator table", "op.csv", "text", 7}};
    return tables;
}

TEST(OperatorStudy, GivesWhatItsColumnsGiveInOrder) {
    const model::OperatorTables tables = two_columns();
    const OperatorStudy study{tables};
    const ValidateAnswer answer = study.answer(test::run(study, 2));
    std::vector<validate::RowResult> expected;
    for (const validate::OperatorColumn& column : validate::operator_columns(tables))
        for (const validate::RowResult& line : validate::operator_rows(tables, column)) expected.push_back(line);
    ASSERT_EQ(answer.rows.size(), 12U);  // six inner points of eight, twice
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(answer.rows[i].id, expected[i].id);
        EXPECT_EQ(answer.rows[i].predicted, expected[i].predicted);
        EXPECT_EQ(answer.rows[i].measured, expected[i].measured);
    }
    EXPECT_TRUE(answer.within_limits());
    EXPECT_EQ(study.tables(test::run(study, 1)).size(), 3U);
}

TEST(OperatorStudy, EveryFileThatWasReadCounts) {
    model::OperatorTables tables = two_columns();
    const std::string before = OperatorStudy{tables}.identity();
    tables.files[0].hash = 8;
    EXPECT_NE(OperatorStudy{tables}.identity(), before);
}

TEST(OperatorStudy, PackedLinesComeBack) {
    const OperatorStudy study{two_columns()};
    const auto lines = study.evaluate(*study.next_round({}), {0, 2}, {});
    const auto back = study.unpack(study.pack(lines));
    ASSERT_EQ(back.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(back[i].id, lines[i].id);
        EXPECT_EQ(back[i].family, lines[i].family);
        EXPECT_EQ(back[i].quantity, lines[i].quantity);
        EXPECT_EQ(back[i].predicted, lines[i].predicted);
    }
}

}  // namespace
}  // namespace windtunnel::study
