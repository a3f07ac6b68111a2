#include "windtunnel/base/philox.hpp"

#include <gtest/gtest.h>

#include <set>

namespace windtunnel::base {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The three known-answer vectors of philox4x32-10 published with Random123: zeros, ones, digits of pi.
static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0}) == Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(Philox, GivesThePublishedVectorsAtRunTimeToo) {
    volatile std::uint32_t zero = 0;
    EXPECT_EQ(philox4x32_10({zero, zero, zero, zero}, {zero, zero}),
              (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(RandomStream, EveryCoordinateHasItsOwnPlaceInCounterAndKey) {
    // All 128 + 64 bits are used once: block | purpose | trial (64) under the key seed (64).
    const RandomStream stream{0x0123456789abcdefULL, 0x55, 0xfedcba9876543210ULL};
    const auto bits = philox4x32_10({9, 0x55, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567});
    EXPECT_EQ(stream.block(9)[0], (std::uint64_t{bits[1]} << 32U | bits[0]));
    EXPECT_EQ(stream.block(9)[1], (std::uint64_t{bits[3]} << 32U | bits[2]));
}

TEST(RandomStream, NeighboursShareNoWord) {
    std::set<std::uint64_t> words;
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (std::uint32_t purpose = 0; purpose < 4; ++purpose)
            for (std::uint64_t trial = 0; trial < 4; ++trial)
                for (std::uint32_t block = 0; block < 4; ++block)
                    for (const auto word : RandomStream{seed, purpose, trial}.block(block)) words.insert(word);
    EXPECT_EQ(words.size(), 512U);  // 4^4 blocks of two words
}

TEST(OpenUniform, NeverReachesZeroOrOne) {
    EXPECT_EQ(open_uniform(0), 0x1p-53);
    EXPECT_EQ(open_uniform(~std::uint64_t{0}), 1.0 - 0x1p-53);
}

TEST(Draws, ABlockServesTwoDraws) {
    const RandomStream stream{1, 2, 3};
    Draws draws{stream};
    for (std::uint32_t block = 0; block < 5; ++block)
        for (const auto word : stream.block(block)) EXPECT_EQ(draws.bits(), word);
    EXPECT_EQ(draws.number(), 10U);
}

}  // namespace
}  // namespace windtunnel::base
