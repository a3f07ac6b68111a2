#include "windtunnel/base/errors.hpp"

#include <gtest/gtest.h>

namespace windtunnel::base {
namespace {

TEST(Finding, ReadsLikeACompilerMessage) {
    const Finding finding{"pod.toml", 14, 13, "network[1].bandwidth", "\"400 Gbit\" is data", "data/time"};
    EXPECT_EQ(finding.text(), "pod.toml:14:13: error: network[1].bandwidth: \"400 Gbit\" is data (expected data/time)");
}

TEST(Finding, LeavesOutWhatIsUnknown) {
    EXPECT_EQ((Finding{"plan.toml", 0, 0, "", "no such file", ""}.text()), "plan.toml: error: no such file");
    EXPECT_EQ((Finding{"", 0, 0, "--seeed", "unknown option", "--seed"}.text()),
              "command line: error: --seeed: unknown option (expected --seed)");
}

TEST(InputError, CarriesEveryFindingInOrder) {
    const InputError error{{{"a.toml", 1, 0, "", "first", ""}, {"b.toml", 2, 3, "", "second", ""}}};
    ASSERT_EQ(error.findings().size(), 2U);
    EXPECT_STREQ(error.what(), "a.toml:1: error: first\nb.toml:2:3: error: second");
}

}  // namespace
}  // namespace windtunnel::base
