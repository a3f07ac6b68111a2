#include "windtunnel/report/text_table.hpp"

#include <gtest/gtest.h>

namespace windtunnel::report {
namespace {

TEST(TextTable, SetsNumbersToTheRightAndTextToTheLeft) {
    TextTable table{{"part", "time", "kind"}};
    table.add_row({"gemm", "12.5 s", "a"});
    table.add_row({"attention", "3 s", "bcd"});
    EXPECT_EQ(table.text(),
              "  part         time  kind\n"
              "  gemm       12.5 s  a\n"
              "  attention     3 s  bcd\n");
}

TEST(TextTable, CountsLettersNotBytes) {
    TextTable table{{"a", "b"}};
    table.add_row({"\xC2\xB5s", "1"});  // micro sign: two bytes, one letter
    table.add_row({"xyz", "2"});
    EXPECT_EQ(table.text(), "  a    b\n  \xC2\xB5s   1\n  xyz  2\n");
}

}  // namespace
}  // namespace windtunnel::report
