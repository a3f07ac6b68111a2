#include "windtunnel/base/text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace windtunnel::base {
namespace {

TEST(ShortestText, ReadsBackToTheSameBits) {
    for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, -123456.789, 2.0})
        EXPECT_EQ(std::strtod(shortest_text(value).c_str(), nullptr), value);
    EXPECT_EQ(shortest_text(0.1), "0.1");
}

TEST(TextOf, SizesAreBinary) {
    EXPECT_EQ(text_of(Bytes{4.1 * gib}), "4.1 GiB");
    EXPECT_EQ(text_of(Bytes{512}), "512 B");
    EXPECT_EQ(text_of(Bytes{0}), "0 B");
    EXPECT_EQ(text_of(Bytes{-2 * mib}), "-2 MiB");
}

TEST(TextOf, TimesTakeTheLargestUnitThatFits) {
    EXPECT_EQ(text_of(Seconds{11135.0}), "3.09 h");  // 11,135 / 3,600 = 3.093
    EXPECT_EQ(text_of(Seconds{0.012}), "12 ms");
    EXPECT_EQ(text_of(Seconds{90}), "1.5 min");
    EXPECT_EQ(text_of(54.0 * day), "54 d");
}

}  // namespace
}  // namespace windtunnel::base
