#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.hpp"
#include "windtunnel/input/records.hpp"

namespace windtunnel::input {
namespace {

std::string file_with(const tests::TemporaryFolder& folder, const std::string& value) {
    const std::string path = folder / "set.toml";
    std::ofstream{path} << "name = \"s\"\nrows = [\"71bfc409ed9f793c\"]\n\n[[parameter]]\nname = \"gemm\"\nvalue = "
                        << value
                        << "\nprior = 0.75\nlower = 0.3\nupper = 0.98\nlow = 0.5\nhigh = 0.7\nrows = 6\n\n"
                           "[[parameter]]\nname = \"memory\"\nvalue = 0.7\nprior = 0.7\nlower = 0.3\nupper = 0.95\n"
                           "assumed = true\n";
    return path;
}

TEST(FitRecord, ValuesComeWithBoundsIntervalsAndRows) {
    const tests::TemporaryFolder folder;
    const model::FitRecord record = read_fit_record(file_with(folder, "0.6"));
    ASSERT_EQ(record.values.size(), 2U);
    EXPECT_EQ(record.values[0].name, "gemm");
    EXPECT_DOUBLE_EQ(record.values[0].low, 0.5);
    EXPECT_DOUBLE_EQ(record.values[0].high, 0.7);
    EXPECT_EQ(record.values[0].num_rows, 6);
    EXPECT_DOUBLE_EQ(record.values[1].high, 0.7);  // assumed: no interval
    EXPECT_EQ(record.rows, std::vector<std::string>{"71bfc409ed9f793c"});
    EXPECT_EQ(model::num_fitted(record), 1);
}

TEST(FitRecord, AValueOutsideItsBoundsIsAFinding) {
    const tests::TemporaryFolder folder;
    try {
        (void)read_fit_record(file_with(folder, "0.99"));
        FAIL();
    } catch (const base::InputError& error) {
        ASSERT_EQ(error.findings().size(), 1U);
        EXPECT_NE(error.findings()[0].text().find("outside its bounds"), std::string::npos);
    }
}

}  // namespace
}  // namespace windtunnel::input
