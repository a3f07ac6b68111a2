#pragma once
/// A chain in which every time is fixed has one history: it is walked.
#include <string>
#include <vector>

#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Does every transition take one fixed time?
[[nodiscard]] bool has_fixed_times(const model::Chain& chain);

struct FixedHistory {
    struct Event {
        double time;
        std::size_t transition;
    };
    std::vector<Event> events;      ///< up to the horizon, in order
    std::vector<double> at_end;     ///< reward per time in the state at the horizon, by reward
    std::vector<double> collected;  ///< up to the horizon, by reward
    std::string problem;            ///< empty: walked to the horizon, or to the end of all that can happen
};

/// Model:   clocks run while their transitions are possible (TransitionClock); those that are due at the same moment
///          and were possible before it fire together, in the order of the transitions.
/// Limits:  10^6 events.
[[nodiscard]] FixedHistory fixed_history(const model::Chain& chain, double horizon);

}  // namespace windtunnel::avail
