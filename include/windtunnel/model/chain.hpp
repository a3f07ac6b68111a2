#pragma once
/// A Markov chain in continuous time as its author wrote it: bounded integer variables, guarded transitions, rewards,
/// and what is asked of it.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace windtunnel::model {

/// Where something stands in a file, for findings that only the state space shows.
struct FilePlace {
    std::string file;
    int line = 0, column = 0;
    std::string field;  ///< for example chain.transition[2].rate
};

/// A function of the variables, in the order of Chain::variables. A copy shares nothing with its original; one copy
/// serves one thread at a time.
using StateFunction = std::function<double(std::span<const double> state)>;

struct ChainVariable {
    std::string name;
    std::int64_t least = 0, most = 1, initial = 0;
};

/// New value of one variable, from the values before the transition.
struct ChainUpdate {
    std::size_t variable = 0;
    StateFunction value;
    FilePlace place;
};

struct ChainTransition {
    std::string name;
    StateFunction guard;  ///< possible where it is not 0; empty: everywhere
    StateFunction rate;   ///< per time unit, >= 0; 0: not possible
    std::vector<ChainUpdate> updates;
    FilePlace place;       ///< of the transition
    FilePlace rate_place;  ///< of its rate
};

/// Collected at a rate while in a state, and at once with a transition.
struct ChainReward {
    std::string name;
    StateFunction per_time;                ///< empty: 0
    std::vector<StateFunction> per_event;  ///< by transition, of the state before it; empty: 0
    FilePlace place;
};

enum class MeasureKind {
    steady_state,   ///< reward per time in the long run
    transient,      ///< reward per time at `time`
    accumulated,    ///< reward collected from 0 to `time`
    time_averaged,  ///< the same over `time`
    variance,       ///< of the time average over `time`, started in the long run
    mean_time,      ///< until the target is reached
    reward_until,   ///< reward collected until the target is reached
    probability,    ///< target reached (by `time`, where given) before `avoid`
    frequency,      ///< entries into the target per time in the long run
    formula         ///< of the measures before it
};

struct ChainMeasure {
    std::string name;
    MeasureKind kind = MeasureKind::steady_state;
    std::optional<double> time;         ///< in time units
    std::optional<std::size_t> reward;  ///< index
    StateFunction target;               ///< holds where it is not 0
    StateFunction avoid;
    StateFunction formula;  ///< of the values of all measures in order; the ones behind it are 0
    FilePlace place;
};

/// The known answer of one measure.
struct ExpectedAnswer {
    std::string quantity;  ///< name of a measure, or `states`
    double value = 0.0;
    double tolerance = 1e-9;
    bool absolute = false;  ///< tolerance of the difference itself, not relative to the value
};

struct Chain {
    std::string id;       ///< name of its file
    std::string variant;  ///< empty: the file has none
    std::string group;    ///< for the table of errors
    std::string title;
    std::uint64_t text_hash = 0;  ///< of its file
    std::string time_unit = "h";
    std::int64_t most_states = 5'000'000;
    std::vector<ChainVariable> variables;
    std::vector<ChainTransition> transitions;
    std::vector<ChainReward> rewards;
    std::vector<ChainMeasure> measures;
    std::vector<ExpectedAnswer> expected;
    FilePlace place;  ///< of the chain
};

}  // namespace windtunnel::model
