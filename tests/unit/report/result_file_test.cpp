#include "windtunnel/report/result_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace windtunnel::report {
namespace {

store::Table sample() {
    store::TableSchema schema{"search/best",
                              "best designs",
                              {{"step_time_s", store::ColumnType::real, "s", "time of a step", {}},
                               {"cards", store::ColumnType::integer, "1", "cards used", {}},
                               {"verdict", store::ColumnType::enumeration, "1", "verdict", {"fits", "out_of_memory"}},
                               {"layout", store::ColumnType::text, "1", "layout", {}}}};
    return {schema,
            {std::vector<double>{12.5, std::nan("")}, std::vector<std::int64_t>{9216, 8},
             std::vector<std::int64_t>{0, 1}, std::vector<std::string>{"tp 8", "tp \"4\""}}};
}

TEST(ResultFileText, PrintsCellsWithTheirUnit) {
    const store::Table table = sample();
    EXPECT_EQ(cell_text(table, 0, 0), "12.5 s");
    EXPECT_EQ(cell_text(table, 0, 1), "-");
    EXPECT_EQ(cell_text(table, 1, 0), "9,216");
    EXPECT_EQ(cell_text(table, 2, 1), "out_of_memory");
    EXPECT_EQ(cell_text(table, 3, 0), "tp 8");
}

TEST(ResultFileText, AnEnumCodeWithoutANameIsPrintedAsANumber) {
    store::Table table = sample();
    std::get<std::vector<std::int64_t>>(table.columns[2])[0] = 7;
    EXPECT_EQ(cell_text(table, 2, 0), "7");
}

TEST(ResultFileJson, HoldsExactValuesUnitsAndAllRowCounts) {
    ResultFile file;
    file.path = "a.h5";
    file.tables = {sample()};
    file.num_rows = {50};
    const auto document = nlohmann::json::parse(json(file));
    const auto& table = document["tables"]["search/best"];
    EXPECT_EQ(table["num_rows"], 50);
    EXPECT_EQ(table["units"]["step_time_s"], "s");
    EXPECT_EQ(table["rows"][0]["step_time_s"], 12.5);
    EXPECT_TRUE(table["rows"][1]["step_time_s"].is_null());
    EXPECT_EQ(table["rows"][1]["verdict"], "out_of_memory");
    EXPECT_EQ(table["rows"][1]["layout"], "tp \"4\"");
}

}  // namespace
}  // namespace windtunnel::report
