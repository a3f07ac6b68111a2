#include "windtunnel/base/for_blocks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace windtunnel::base {
namespace {

TEST(SerialForBlocks, VisitsEachBlockOnceInOrder) {
    std::vector<std::uint64_t> seen;
    serial_for_blocks()(4, [&](std::uint64_t block) { seen.push_back(block); });
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(SerialForBlocks, ZeroBlocksDoNothing) {
    serial_for_blocks()(0, [](std::uint64_t) { FAIL(); });
}

}  // namespace
}  // namespace windtunnel::base
