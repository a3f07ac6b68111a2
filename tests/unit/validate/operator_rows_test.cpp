#include "windtunnel/validate/operator_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel::validate {
namespace {

/// Products on a card of 100 TFLOP/s and 1 TB/s: 20 us + 2 us a row, in powers of two.
model::OperatorTables tables() {
    model::OperatorTable table;
    table.shape.name = "gemm";
    table.shape.family = "file";
    table.shape.keys = {"system", "dtype"};
    table.shape.axes = {"m", "n", "k"};
    table.shape.quantities = {"latency_us"};
    table.shape.terms = {{}, {{0, 1.0}}};
    table.shape.accelerators = {{"c", "card"}};
    for (double m = 1.0; m <= 8192.0; m *= 2.0)
        table.rows.push_back({1, {"c", "bfloat16"}, {m, 1024.0, 1024.0}, {20e-6 + 2e-6 * m}});
    model::OperatorTables all;
    all.tables.push_back(table);
    model::Accelerator card;
    card.matrix_peak[static_cast<std::size_t>(model::Precision::bf16)] = FlopsPerSecond{100e12};
    card.memory_bandwidth = BytesPerSecond{1e12};
    all.accelerators["card"] = card;
    return all;
}

// 14 rows, 12 of them inside; the trend is exact, so the others know each.
TEST(OperatorRows, LeaveOutEveryInnerPoint) {
    const auto rows = operator_rows(tables(), {0, 0});
    int left_out = 0;
    for (const RowResult& row : rows)
        if (row.quantity == "latency_s") {
            EXPECT_LT(std::abs(*row.relative_error()), 1e-3);
            ++left_out;
        }
    EXPECT_EQ(left_out, 12);
}

// One row of 1024 x 1024: 2 MiB + 2 KiB + 2 KiB at 0.7 TB/s = 3.00 us, and a launch of 5 us.
TEST(Roofline, OfAProductIsTrafficOrWorkAndALaunch) {
    const model::OperatorTables all = tables();
    const auto time = roofline_time(all, all.tables[0], all.tables[0].rows[0]);
    ASSERT_TRUE(time);
    EXPECT_NEAR(time->value(), (2.0 * 1024 * 1024 + 2 * 2048) / 0.7e12 + 5e-6, 1e-9);
    model::OperatorTables unknown = all;
    unknown.accelerators.clear();
    EXPECT_FALSE(roofline_time(unknown, unknown.tables[0], unknown.tables[0].rows[0]));
}

TEST(OperatorFigures, KeepTheLimitOfTheirFile) {
    model::OperatorTables all = tables();
    const auto rows = operator_rows(all, {0, 0});
    for (const Figure& figure : operator_figures(rows, all)) EXPECT_FALSE(figure.exceeds()) << figure.name;
    all.limits = {{"file", 0.0, 0.0}};
    int exceeded = 0;
    for (const Figure& figure : operator_figures(rows, all)) exceeded += figure.exceeds() ? 1 : 0;
    EXPECT_EQ(exceeded, 2);
    all.tables[0].shape.judged = false;  // printed only
    for (const Figure& figure : operator_figures(rows, all)) EXPECT_FALSE(figure.exceeds()) << figure.name;
}

}  // namespace
}  // namespace windtunnel::validate
