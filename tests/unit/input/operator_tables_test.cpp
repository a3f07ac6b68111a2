#include "windtunnel/input/operator_tables.hpp"

#include <gtest/gtest.h>

namespace windtunnel::input {
namespace {

const std::string shapes = R"([[table]]
name = "product"
file = "gemm.csv"
class = "gemm"
keys = ["card"]
axes = ["m", "n"]
quantities = ["latency_us"]
terms = ["1", "m*n^2/m", "waves"]
scales = [1, 2]
source = "by hand"
licence = "none"
)";

std::vector<OperatorFile> read(const std::string& text, std::vector<base::Finding>& findings) {
    return parse_operator_shapes(text, "tables.toml", findings);
}

TEST(OperatorShapes, ReadTermsAsProductsOfPowers) {
    std::vector<base::Finding> findings;
    const auto files = read(shapes, findings);
    ASSERT_TRUE(findings.empty()) << findings.front().message;
    const model::OperatorTableShape& shape = files.at(0).shape;
    EXPECT_TRUE(shape.terms.at(0).empty());
    ASSERT_EQ(shape.terms.at(1).size(), 3U);
    EXPECT_EQ(shape.terms[1][1].column, 1);
    EXPECT_EQ(shape.terms[1][1].power, 2.0);
    EXPECT_EQ(shape.terms[1][2].power, -1.0);
    EXPECT_EQ(shape.terms.at(2).at(0).column, model::TermFactor::waves);
    EXPECT_EQ(shape.family, "gemm");
}

TEST(OperatorShapes, NameEveryMistakeAtOnce) {
    std::vector<base::Finding> findings;
    (void)read(
        "[[table]]\nname = 3\nfile = \"a.csv\"\nclass = \"gem\"\naxes = [\"m\"]\nquantities = []\n"
        "terms = [\"m*q\"]\nscales = [1, 2]\ncolour = 1\nsource = \"s\"\nlicence = \"l\"\n",
        findings);
    std::string fields;
    for (const base::Finding& finding : findings) fields += finding.field + " ";
    for (const char* field : {"name", "class", "quantities", "terms", "scales", "colour"})
        EXPECT_NE(fields.find(field), std::string::npos) << field << " in " << fields;
}

TEST(OperatorTable, ReadsRowsWithTheirUnitsAndLeavesOutWhatWasNotMeasured) {
    std::vector<base::Finding> findings;
    const auto files = read(shapes, findings);
    const auto table = parse_operator_table(files.at(0), "card,m,n,latency_us\n\"a,b\",1,2,10\na,2,2,\na,4,2,30\n",
                                            "gemm.csv", findings);
    ASSERT_TRUE(findings.empty());
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].key[0], "a,b");
    EXPECT_NEAR(*table.rows[0].time[0], 10e-6, 1e-18);
    EXPECT_EQ(table.rows[1].line, 4);
}

TEST(OperatorTable, FindsBadNumbersShortLinesAndMissingColumns) {
    std::vector<base::Finding> findings;
    const auto files = read(shapes, findings);
    (void)parse_operator_table(files.at(0), "card,m,n,latency_us\na,x,2,10\na,2,2\na,-1,2,5\na,1,2,nan\n", "g.csv",
                               findings);
    ASSERT_EQ(findings.size(), 4U);
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_EQ(findings[0].field, "m");
    EXPECT_EQ(findings[1].line, 3);
    EXPECT_EQ(findings[3].field, "latency_us");
    findings.clear();
    (void)parse_operator_table(files.at(0), "card,m,latency_us\na,1,2\n", "g.csv", findings);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].field, "n");
    findings.clear();
    (void)parse_operator_table(files.at(0), "", "g.csv", findings);
    EXPECT_EQ(findings.size(), 1U);
}

TEST(OperatorTable, TakesPackedAndWideColumnsApart) {
    std::vector<base::Finding> findings;
    OperatorFile packed;
    packed.shape.keys = {"op"};
    packed.shape.axes = {"m", "k"};
    packed.shape.quantities = {"t"};
    packed.packed = "shape";
    packed.where = {{"op", "x"}};
    auto table = parse_operator_table(packed, "op,shape,t\nx,m=2;k=3,1\ny,q=1,1\n", "p.csv", findings);
    ASSERT_TRUE(findings.empty());
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].at, (std::vector<double>{2.0, 3.0}));

    OperatorFile wide;
    wide.shape.axes = {"n", "kv"};
    wide.shape.quantities = {"us"};
    wide.wide = "kv";
    table = parse_operator_table(wide, "n,kv_note,kv0,kv16\n1,a,5,\n2,b,6,7\n", "w.csv", findings);
    ASSERT_TRUE(findings.empty()) << findings.front().message;
    ASSERT_EQ(table.rows.size(), 3U);
    EXPECT_EQ(table.rows[2].at, (std::vector<double>{2.0, 16.0}));
    EXPECT_NEAR(*table.rows[2].time[0], 7e-6, 1e-18);
}

}  // namespace
}  // namespace windtunnel::input
