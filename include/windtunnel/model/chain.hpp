#pragma once
/// A Markov chain in continuous time as its author wrote it: bounded integer variables, guarded transitions, rewards,
/// and what is asked of it.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "windtunnel/model/time_law.hpp"

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

/// A transition after a random time of its own instead of a rate.
struct TransitionClock {
    TimeLaw law;
    ClockMemory memory = ClockMemory::lapses;
    /// Clocks that run at once, each with its own age; empty: one. A further one starts new; when there are fewer, the
    /// one that fired is gone, else the youngest.
    StateFunction members;
};

struct ChainTransition {
    std::string name;
    StateFunction guard;  ///< possible where it is not 0; empty: everywhere
    StateFunction rate;   ///< per time unit, >= 0; 0: not possible; not read where there is a clock
    std::optional<TransitionClock> clock;
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
    formula,        ///< of the measures before it
    time_of_event,  ///< expected time of the `number`-th of the events
    level,          ///< probability that a level of the hierarchy works, in the long run or at `time`
    // Of the measure `of`, by a constant:
    derivative,
    elasticity,  ///< derivative x constant / value
    // Of the measure `of`, over the ranges of the constants, independent and uniform:
    range_mean,
    range_variance,
    first_order,    ///< share of the variance that the constant explains alone
    total_effect,   ///< share of the variance that goes when all others are fixed
    morris_mean,    ///< mean of the absolute elementary effects over the whole range
    morris_spread,  ///< their standard deviation, with sign
    // Of a steady_state or transient measure that is 1 while the system works, by a component:
    birnbaum,          ///< P(works | component works) - P(works | it does not)
    criticality,       ///< birnbaum x component's unavailability / system's unavailability
    downtime_share,    ///< share of the system's failures that this component's failures are
    improvement,       ///< availability gained by a component that never fails
    fussell_vesely,    ///< share of the system's unavailability with a failed minimal cut that holds the component
    risk_achievement,  ///< unavailability with the component failed / as it is
    risk_reduction,    ///< unavailability as it is / with the component perfect
    // Of the job with checkpoints, with the interval of `rule`:
    interval,
    wall_mean,
    wall_deviation,
    efficiency,
    clean_interval  ///< probability that an interval and its checkpoint see no failure
};

/// How a chain is walked in discrete time.
enum class StepMode {
    none,
    linear,       ///< a transition has probability rate x step, at most one per step
    exponential,  ///< something happens with probability 1 - exp(-rate x step), at most one per step
    skeleton      ///< the chain in continuous time, looked at every step
};

enum class IntervalRule { given, young, daly, optimum };

struct ChainMeasure {
    std::string name;
    MeasureKind kind = MeasureKind::steady_state;
    std::optional<double> time;         ///< in time units
    std::optional<std::size_t> reward;  ///< index
    StateFunction target;               ///< holds where it is not 0
    StateFunction avoid;
    StateFunction formula;  ///< of the values of all measures in order; the ones behind it are 0
    FilePlace place;
    std::size_t of = 0;               ///< measure before it
    std::string by;                   ///< constant or component
    std::vector<std::size_t> events;  ///< transitions
    std::uint64_t number = 1;
    double step = 0.0;
    StepMode step_mode = StepMode::none;
    IntervalRule rule = IntervalRule::given;
    bool generated = false;  ///< asked for by a table [importance] or [sensitivity]
};

/// A class of equal components behind some variables and transitions, for engines that need members.
struct ChainComponent {
    std::string name;
    std::size_t variable = 0;  ///< number of members that work
    std::int64_t count = 1;
    TimeLaw life;
    std::optional<TimeLaw> repair;
    std::size_t failure = 0;                       ///< index in transitions
    std::optional<std::size_t> repair_transition;  ///< index in transitions
    bool independent = false;                      ///< members fail and are repaired without regard to anything else
    FilePlace place;
};

/// A part of the hierarchy: works while enough of its members do. Members of a level are independent copies.
struct ChainLevel {
    struct Member {
        bool is_level = false;
        std::size_t index = 0;  ///< in components, or in levels before it
        std::int64_t copies = 1, needed = 1;
    };
    std::string name;
    std::vector<Member> members;
};

/// A constant of the file; unknown: no number has been published, and none is invented.
struct ChainConstant {
    std::string name;
    double value = 0.0;
    bool unknown = false;
};

/// A constant that may lie anywhere between two values.
struct ConstantRange {
    std::string constant;
    double least = 0.0, most = 1.0;
};

/// At which value of an unknown constant a measure just meets its target, for each value of a second constant.
struct BreakEven {
    std::size_t measure = 0;
    double target = 0.0;
    std::string unknown;
    double least = 0.0, most = 1.0;
    std::string over;  ///< empty: one value
    std::vector<double> values;
    FilePlace place;
};

/// A job that computes in intervals, each followed by a checkpoint, under Poisson failures.
struct CheckpointCycle {
    struct Layer {
        std::string name;
        double fraction = 1.0;  ///< of the failures that this layer of recovery takes
        TimeLaw recover;
        double lost_work = 0.0;  ///< done again; to_checkpoint: all since the last checkpoint
        bool to_checkpoint = true;
    };
    double mtbf = 1.0;  ///< mean time between failures, in time in which failures strike
    double write = 0.0;
    bool failures_in_recovery = false;  ///< may a failure strike a recovery, which then begins anew?
    double work = 0.0;
    std::optional<double> interval;  ///< of work, without the checkpoint
    std::vector<Layer> layers;       ///< fractions sum to 1
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
    std::vector<ChainComponent> components;
    std::vector<ChainLevel> levels;
    std::vector<ChainConstant> constants;
    std::vector<ConstantRange> ranges;
    std::int64_t samples = 1024;  ///< of the ranges, where they are sampled
    std::vector<BreakEven> break_evens;
    std::optional<CheckpointCycle> checkpoint;
    StateFunction function;  ///< of the ranged constants in order: the form [function]
    /// The same file with other values of its constants, in the order of `constants`; empty after a wrong value.
    std::function<std::optional<Chain>(std::span<const double> values)> with_constants;
    [[nodiscard]] bool has_clocks() const noexcept {
        for (const ChainTransition& transition : transitions)
            if (transition.clock) return true;
        return false;
    }
};

}  // namespace windtunnel::model
