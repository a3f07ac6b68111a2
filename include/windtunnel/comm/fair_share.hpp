#pragma once
/// Rates of flows that share links.
#include <span>
#include <vector>

#include "windtunnel/topology/graph.hpp"
#include "windtunnel/topology/routes.hpp"

namespace windtunnel::comm {

/// A flow over channels (directions of links): it loads channel c with `share` of its rate.
struct Flow {
    struct Use {
        int channel = 0;
        double share = 1.0;  ///< > 0; below 1 where the flow is spread over equal paths
    };
    std::vector<Use> uses{};
    BytesPerSecond most{};  ///< what the flow would take alone; 0: no bound of its own
    int priority = 0;       ///< a higher one is served first, whatever it leaves goes to the next
    double weight = 1.0;    ///< > 0: rates grow in proportion to weights
};

/// Model:   max-min fairness by progressive filling: rates of all flows of a priority grow together, in proportion to
///          their weights, until a channel is full or a flow has its most; those flows stop, the others go on. Strict
///          priorities.
/// Inputs:  capacities >= 0 of the channels. A flow with neither channels nor a bound gets infinity.
/// Returns: a rate for each flow. No channel carries more than its capacity; no rate can grow without taking from one
///          that is not larger (relative to its weight), and every flow is stopped by a full channel or its own bound.
/// Limits:  steady rates; O(flows x (channels + flows)) a priority.
/// Source:  Bertsekas and Gallager, Data Networks, 1992, section 6.5.2.
[[nodiscard]] std::vector<BytesPerSecond> fair_rates(std::span<const BytesPerSecond> capacities,
                                                     std::span<const Flow> flows);

/// Times at which flows of given sizes end when they start together and share as above; rates are dealt anew at each
/// end. Infinity for a flow that no channel lets through.
[[nodiscard]] std::vector<Seconds> fair_times(std::span<const BytesPerSecond> capacities, std::span<const Flow> flows,
                                              std::span<const Bytes> sizes);

/// Channels of a graph: 2 x link (a to b) and 2 x link + 1 (b to a), 0 where the link does not work.
[[nodiscard]] std::vector<BytesPerSecond> channels_of(const topology::Graph& graph, const topology::Health& health);

/// The flow of a routed pair. Empty uses when the pair is not connected.
[[nodiscard]] Flow flow_of(const topology::Graph& graph, const topology::Health& health, int from, int to,
                           topology::Spread spread);

}  // namespace windtunnel::comm
