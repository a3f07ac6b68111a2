#pragma once
/// Cards and clusters: what the data sheets say. What a card really reaches stands in model/efficiency.hpp.
#include <array>
#include <optional>
#include <string>

#include "windtunnel/base/quantity.hpp"
#include "windtunnel/model/collectives.hpp"
#include "windtunnel/model/on_chip.hpp"

namespace windtunnel::model {

enum class Precision { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, int8 };
inline constexpr int num_precisions = 8;

/// Bytes of one stored element.
[[nodiscard]] constexpr double bytes_per_element(Precision precision) noexcept {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return 4.0;
        case Precision::fp16:
        case Precision::bf16:
            return 2.0;
        case Precision::fp8:
        case Precision::mxfp8:
        case Precision::int8:
            return 1.0;
        case Precision::nvfp4:
            return 0.5;
    }
    return 0.0;
}

/// One level of the network, seen from a card: bandwidth per card and direction, start-up latency of a message.
struct NetworkTier {
    BytesPerSecond bandwidth;
    Seconds latency;
    std::string kind;                                           ///< NVLink4, HCCS, RoCE, ...
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;  ///< of collectives on this tier
    int leaf_cards = 0;             ///< cards under a leaf switch of the tier; 0: no leaf is modelled
    double oversubscription = 1.0;  ///< card ports of a leaf over its uplinks, >= 1
    bool shared_port = false;       ///< groups that use the tier at once share a card's port
};

struct Accelerator {
    std::string id;
    std::string vendor;
    /// Dense matrix peak by precision; 0: the card does not have it. mxfp8 falls back to fp8.
    std::array<FlopsPerSecond, num_precisions> matrix_peak{};
    FlopsPerSecond vector_peak;  ///< 0: unknown, vector operators are bound by memory
    Bytes memory;                ///< as the card reports it (64 GB of an Ascend 910B is 64 GiB)
    BytesPerSecond memory_bandwidth;
    NetworkTier scale_up;     ///< inside a domain (node, NVLink rack, supernode)
    int scale_up_domain = 1;  ///< cards in a domain
    NetworkTier scale_out;    ///< between domains
    int cards_per_node = 1;
    Watts power;  ///< board power; 0: unknown
    OnChip on_chip;

    /// Peak for the precision, 0 where the card lacks it.
    [[nodiscard]] FlopsPerSecond peak(Precision precision) const noexcept;
};

/// Cards of one kind, in equal nodes, on two network tiers. Composed from an accelerator and a size.
struct Cluster {
    std::string id;
    Accelerator accelerator;
    int num_nodes = 0;       ///< that a job may use
    int reserved_nodes = 0;  ///< more of them, kept as spares by the plan

    [[nodiscard]] int cards_per_node() const noexcept { return accelerator.cards_per_node; }
    [[nodiscard]] int num_cards() const noexcept { return num_nodes * accelerator.cards_per_node; }
};

}  // namespace windtunnel::model
