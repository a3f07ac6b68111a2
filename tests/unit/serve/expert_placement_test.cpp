#include "windtunnel/serve/expert_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace windtunnel::serve {
namespace {

// README of DeepSeek's EPLB: two layers, 12 experts in 4 groups, 16 slots on 2 nodes of 4 cards. The card loads follow
// from the placement printed there: an expert with two replicas puts half of its load on each.
const std::vector<double> layer_0{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86};
const std::vector<double> layer_1{20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27};
constexpr PlacementRequest readme{16, 4, 2, 8};

std::vector<double> sorted(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
}

TEST(ExpertPlacement, GivesThePublishedCardLoads) {
    EXPECT_EQ(sorted(card_loads(layer_0, place_experts(layer_0, readme))),
              sorted({121.5, 86.5, 125.0, 113.0, 147.5, 131.5, 156.0, 152.0}));
    EXPECT_EQ(sorted(card_loads(layer_1, place_experts(layer_1, readme))),
              sorted({173.0, 179.5, 120.5, 172.0, 123.0, 152.0, 118.5, 117.5}));
}

TEST(ExpertPlacement, GivesThePublishedSkew) {
    // Means 1033 / 8 = 129.125 and 1156 / 8 = 144.5.
    EXPECT_NEAR(skew_of(card_loads(layer_0, place_experts(layer_0, readme))), 156.0 / 129.125, 1e-12);
    EXPECT_NEAR(skew_of(card_loads(layer_1, place_experts(layer_1, readme))), 179.5 / 144.5, 1e-12);
}

TEST(ExpertPlacement, EveryExpertHasASlotAndNoLoadIsLost) {
    const std::vector<double> load = zipf_loads(64, 0.7);
    const ExpertPlacement placement = place_experts(load, {80, 8, 2, 16});
    for (int expert = 0; expert < 64; ++expert)
        EXPECT_NE(std::find(placement.slots.begin(), placement.slots.end(), expert), placement.slots.end()) << expert;
    const std::vector<double> cards = card_loads(load, placement);
    EXPECT_NEAR(std::accumulate(cards.begin(), cards.end(), 0.0), 64.0, 64.0 * 1e-12);
}

TEST(ExpertPlacement, ReplicasLowerTheSkewOfAHotExpert) {
    // Loads 9 and 7 times 1 on 4 cards of 2 slots: the hot card has 9 + 1 of 16, mean 4. With 4 more slots the hot
    // expert is cut into shares of 9/5.
    std::vector<double> load(8, 1.0);
    load[3] = 9.0;
    const double plain = skew_of(card_loads(load, place_experts(load, {8, 1, 1, 4})));
    EXPECT_NEAR(plain, 10.0 / 4.0, 1e-12);
    EXPECT_LT(skew_of(card_loads(load, place_experts(load, {12, 1, 1, 4}))), 1.4);
}

TEST(ExpertPlacement, WhatDoesNotDivideIsRefused) {
    EXPECT_FALSE(is_placeable(12, {11, 4, 2, 8}));  // fewer slots than experts
    EXPECT_FALSE(is_placeable(12, {16, 5, 1, 8}));  // 12 experts in 5 groups
    EXPECT_FALSE(is_placeable(12, {18, 4, 2, 8}));  // 18 slots on 8 cards
    EXPECT_TRUE(is_placeable(12, readme));
}

}  // namespace
}  // namespace windtunnel::serve
