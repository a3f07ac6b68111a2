#pragma once
/// The ladder of recovery as a table: states, what an action in a state takes, and which event leads where.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/chain.hpp"
#include "windtunnel/model/failures.hpp"

namespace windtunnel::model {

struct RecoveryState {
    std::string name;
    Law time;                      ///< of the action in this state
    std::optional<Seconds> limit;  ///< an action that takes longer ends there, as an error
    FilePlace place;
};

/// One row of the table.
struct RecoveryTransition {
    std::size_t from = 0;
    std::string event;  ///< ok, error, stop, downgrade, ...
    std::size_t to = 0;
    double probability = 0.0;  ///< that the action ends with this event, if it ends within its limit
    FilePlace place;
};

struct RecoveryMachine {
    std::string title;
    std::vector<RecoveryState> states;
    std::vector<RecoveryTransition> transitions;
    std::size_t initial = 0;
    std::size_t final = 0;
    /// Row of a state and an event; empty: the event has no meaning there.
    [[nodiscard]] std::optional<std::size_t> row(std::size_t state, const std::string& event) const {
        for (std::size_t i = 0; i < transitions.size(); ++i)
            if (transitions[i].from == state && transitions[i].event == event) return i;
        return std::nullopt;
    }
};

}  // namespace windtunnel::model
