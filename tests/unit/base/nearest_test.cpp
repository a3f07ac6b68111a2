#include "windtunnel/base/nearest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace windtunnel::base {
namespace {

TEST(EditDistance, CountsChangedLetters) {
    EXPECT_EQ(edit_distance("trials", "trials"), 0);
    EXPECT_EQ(edit_distance("trails", "trials"), 1);  // one swap
    EXPECT_EQ(edit_distance("trial", "trials"), 1);   // one letter missing
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // k>s, e>i, +g
}

TEST(NearestName, IsTheClosestKnownOne) {
    const std::vector<std::string> known{"output", "overwrite", "threads", "trials"};
    EXPECT_EQ(nearest_name("trails", known), "trials");
    EXPECT_EQ(nearest_name("ouput", known), "output");
    EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(NearestName, TakesAVeryLongName) {
    const std::vector<std::string> known{"seed"};
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'x'), known), "seed");
}

}  // namespace
}  // namespace windtunnel::base
