#pragma once
/// Replicas of hot experts and their places on cards.
#include <span>
#include <vector>

namespace windtunnel::serve {

/// Experts of one layer on cards: `slots[s]` is the logical expert in slot s; a card has slots / cards neighbours.
struct ExpertPlacement {
    std::vector<int> slots;
    int cards = 1;
};

struct PlacementRequest {
    int slots = 0;   ///< physical experts over all cards, a multiple of cards, >= experts
    int groups = 1;  ///< experts of a group stay on one node; a divisor of the number of experts
    int nodes = 1;   ///< a divisor of groups and of cards
    int cards = 1;   ///< a divisor of slots
};

/// Can the request be met by `experts` experts?
[[nodiscard]] bool is_placeable(int experts, const PlacementRequest& request) noexcept;

/// Hierarchical placement: groups to nodes, replicas within a node, replicas to cards.
///
/// Model:   each packing takes the heaviest thing left and gives it to the lightest bin with room; each further replica
///          goes to the expert with the largest load per replica. Ties: lower index.
/// Inputs:  load >= 0 of each logical expert; is_placeable(). Returns: a placement.
/// Limits:  a heuristic; co-location of experts that are used together plays no part.
/// Source:  DeepSeek-V3 report, section 3.4.1; policy described in the README of DeepSeek's EPLB.
[[nodiscard]] ExpertPlacement place_experts(std::span<const double> load, const PlacementRequest& request);

/// Load of each card: the load of an expert is shared by its replicas.
[[nodiscard]] std::vector<double> card_loads(std::span<const double> load, const ExpertPlacement& placement);

/// Largest load over the mean; 1 where nothing is loaded.
[[nodiscard]] double skew_of(std::span<const double> card_load) noexcept;

/// Zipf loads of n experts, mean 1: rank r carries r^-exponent of the whole. Exponent 0: all alike.
[[nodiscard]] std::vector<double> zipf_loads(int experts, double exponent);

}  // namespace windtunnel::serve
