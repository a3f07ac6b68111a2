#pragma once
/// A positive random time of any kind, in the time unit of its owner.
#include <string>
#include <vector>

namespace windtunnel::model {

enum class TimeLawKind {
    exponential,       ///< scale: mean
    weibull,           ///< shape, scale
    lognormal,         ///< shape: standard deviation of the logarithm, scale: median
    gamma,             ///< shape, scale; a whole shape is an Erlang law
    deterministic,     ///< scale: the time
    uniform,           ///< between shape and scale
    hyperexponential,  ///< with probability weight[i] exponential of mean time[i]
    phase_type,  ///< starts in phase i with weight[i]; time[i * n + j]: rate i -> j, time[i * n + i]: rate to the end
    empirical    ///< time[i] with probability weight[i]
};

struct TimeLaw {
    TimeLawKind kind = TimeLawKind::exponential;
    double shape = 1.0;
    double scale = 1.0;
    std::vector<double> weight;
    std::vector<double> time;
    friend bool operator==(const TimeLaw&, const TimeLaw&) = default;
};

/// What a clock does while its transition is not possible.
enum class ClockMemory {
    lapses,   ///< forgets its age: a new time is drawn when the transition is possible again
    stops,    ///< keeps its age and stands still
    runs_on,  ///< keeps its age and goes on; due while not possible: fires as soon as it is
};

}  // namespace windtunnel::model
