#include "windtunnel/base/build_info.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace windtunnel::base {
namespace {

TEST(BuildInfo, NamesVersionGitStateAndCompiler) {
    const BuildInfo info = build_info();
    EXPECT_EQ(std::count(info.version.begin(), info.version.end(), '.'), 2) << info.version;
    EXPECT_FALSE(info.git_state.empty());
    EXPECT_NE(info.compiler.find_first_of("0123456789"), std::string::npos) << info.compiler;
#ifdef WINDTUNNEL_CONTRACTS
    EXPECT_TRUE(info.contracts);
#else
    EXPECT_FALSE(info.contracts);
#endif
}

}  // namespace
}  // namespace windtunnel::base
