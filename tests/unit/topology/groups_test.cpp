#include "windtunnel/topology/groups.hpp"

#include <gtest/gtest.h>

namespace windtunnel::topology {
namespace {

TEST(PlaceGroup, TensorGroupFillsANode) {
    EXPECT_EQ(place_group(8, 1, 8), (GroupPlacement{8, 8, 1}));
    EXPECT_EQ(place_group(4, 1, 8), (GroupPlacement{4, 4, 1}));
    EXPECT_TRUE(place_group(8, 1, 8).inside_one_domain());
}

TEST(PlaceGroup, TensorGroupLargerThanANodeSpansTwo) {
    EXPECT_EQ(place_group(16, 1, 8), (GroupPlacement{16, 8, 2}));
}

TEST(PlaceGroup, MembersOneNodeApartAreAlone) {
    EXPECT_EQ(place_group(48, 8, 8), (GroupPlacement{48, 1, 48}));
}

// Stride 2 in nodes of 8: 4 members a node, each with a port of its own.
TEST(PlaceGroup, MembersInBetweenShareNodes) {
    EXPECT_EQ(place_group(16, 2, 8), (GroupPlacement{16, 4, 4}));
}

TEST(PlaceGroup, OneMemberIsInsideADomain) {
    EXPECT_TRUE(place_group(1, 64, 8).inside_one_domain());
}

// 6144 cards = tp 8 x dp 48 x pp 16; experts: ep 32 over tp and dp of a stage, edp 12.
TEST(Groups, OfALayoutFoldExpertsOverTensorAndDataRanks) {
    model::Layout layout;
    layout.cards = 6144;
    layout.tensor_parallel = 8;
    layout.pipeline_parallel = 16;
    layout.expert_parallel = 32;
    EXPECT_EQ(tensor_group(layout, 8), (GroupPlacement{8, 8, 1}));
    EXPECT_EQ(data_group(layout, 8), (GroupPlacement{48, 1, 48}));
    EXPECT_EQ(expert_group(layout, 8), (GroupPlacement{32, 8, 4}));
    EXPECT_EQ(expert_data_group(layout, 8), (GroupPlacement{12, 1, 12, 4}));
    EXPECT_TRUE(pipeline_leaves_domain(layout, 8));
}

// A rack of 72: tp 2 x cp 4 x dp 8 = 64 cards lie in one domain; gradients go over dp x cp = 32 ranks two apart.
TEST(Groups, ContextRanksStandBetweenTensorAndDataRanks) {
    model::Layout layout;
    layout.cards = 64;
    layout.tensor_parallel = 2;
    layout.context_parallel = 4;
    EXPECT_EQ(context_group(layout, 72), (GroupPlacement{4, 4, 1}));
    EXPECT_EQ(data_group(layout, 72), (GroupPlacement{32, 32, 1}));
    EXPECT_EQ(data_group(layout, 8), (GroupPlacement{32, 4, 8}));
    EXPECT_FALSE(pipeline_leaves_domain(layout, 72));
}

}  // namespace
}  // namespace windtunnel::topology
