#include "windtunnel/study/long_rounds.hpp"

#include <gtest/gtest.h>

namespace windtunnel::study {
namespace {

TEST(LongRounds, JoinBlocksOnlyWhenThereAreManyForEveryRank) {
    EXPECT_EQ(joined_blocks(0), 1U);
    EXPECT_EQ(joined_blocks(65'536), 1U);
    EXPECT_EQ(joined_blocks(131'071), 1U);
    EXPECT_EQ(joined_blocks(131'072), 2U);
    EXPECT_EQ(joined_blocks(1U << 20U), 8U);  // 2^20 / 2^16 = 16, at most 8
}

}  // namespace
}  // namespace windtunnel::study
