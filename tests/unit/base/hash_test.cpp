#include "windtunnel/base/hash.hpp"

#include <gtest/gtest.h>

namespace windtunnel::base {
namespace {

// Published FNV-1a vectors: the empty text gives the offset basis, "a" and "foobar" stand in the authors' test suite.
static_assert(fnv1a_64("") == 0xcbf29ce484222325ULL);
static_assert(fnv1a_64("a") == 0xaf63dc4c8601ec8cULL);
static_assert(fnv1a_64("foobar") == 0x85944171f73967e8ULL);

TEST(Fnv1a, NamesARowOfAResult) {
    EXPECT_EQ(hex_text(fnv1a_64("GPT-22b|2048|A100-80GB-SXM|8|fp16|8|1|1|1|4|4")), "71bfc409ed9f793c");
}

TEST(Fnv1a, LettersAbove127AreBytesOnEveryCompiler) {
    // (basis ^ 0xff) x prime, by hand in 64-bit arithmetic
    EXPECT_EQ(fnv1a_64("\xff"), (0xcbf29ce484222325ULL ^ 0xffULL) * 0x100000001b3ULL);
}

TEST(HexText, KeepsLeadingZeros) {
    EXPECT_EQ(hex_text(0x1f), "000000000000001f");
}

}  // namespace
}  // namespace windtunnel::base
