#pragma once
/// What a card reaches on the two network tiers.
///
/// Model:   a message takes a latency plus its bytes over a fraction of the data-sheet bandwidth (alpha-beta).
/// Source:  Hockney, Parallel Computing 20(3), 1994; fractions are fitted (model/efficiency.hpp).
#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/model/hardware.hpp"

namespace windtunnel::comm {

/// Start-up latency and bandwidth per card and direction, as reached by a large message.
struct Link {
    BytesPerSecond bandwidth;
    Seconds latency;
};

/// The leaves that a tier's links end at.
struct Fabric {
    int leaf_domains = 0;           ///< scale-up domains under a leaf; 0: no leaf is modelled
    double oversubscription = 1.0;  ///< card ports of a leaf over its uplinks
};

/// Inside a scale-up domain and between domains.
struct Links {
    Link inside, outside;
    int domain_size = 1;
    model::CollectiveAlgorithm inside_algorithm = model::CollectiveAlgorithm::ring;
    model::CollectiveAlgorithm outside_algorithm = model::CollectiveAlgorithm::ring;
    Fabric fabric{};           ///< of the outer tier
    bool shared_port = false;  ///< groups that leave their domain at once share a card's outer port
};

/// Data-sheet bandwidth times the fitted fraction of it.
[[nodiscard]] Links links_of(const model::Accelerator& accelerator, const model::Efficiency& efficiency) noexcept;

/// Latency plus bytes over bandwidth; a link without bandwidth takes no time for no bytes.
[[nodiscard]] Seconds transfer_time(Bytes message, const Link& link) noexcept;

}  // namespace windtunnel::comm
