#pragma once
/// A member that is up and down in turn, for times of any law.
#include <vector>

#include "windtunnel/model/time_law.hpp"

namespace windtunnel::avail {

/// From 0 to a time, on equidistant points; starts new and up.
struct RenewalPath {
    std::vector<double> failures;  ///< expected number up to the point
    std::vector<double> repairs;   ///< the same; up with probability 1 + repairs - failures
};

/// Model:   expected failures W = F + F * dR and repairs R = H * dW, F the law of a life, H of a repair (no repair:
///          R = 0); measures on a grid, the kernel taken at the middle of each step.
/// Inputs:  num_steps >= 1; repair empty: none.
/// Limits:  error of order step^(1 + shape) for a Weibull life of shape < 1, step^2 for smooth laws, step for a fixed
///          time that is no multiple of the step. num_steps^2 operations.
/// Source:  Xie, Communications in Statistics: Simulation 18, 1989; Cox, Renewal Theory, 1962.
[[nodiscard]] RenewalPath renewal_path(const model::TimeLaw& life, const model::TimeLaw* repair, double time,
                                       std::size_t num_steps);

struct RenewalAnswer {
    double availability = 1.0;
    double failures = 0.0;
    double repairs = 0.0;
    double up_time = 0.0;  ///< expected, from 0 to the time
    double error = 0.0;    ///< estimated, relative
};

/// At a time, by paths of doubled numbers of steps and Aitken's extrapolation, until two agree to `tolerance`.
/// Steps are chosen so that fixed times fall on points where a grid of at most 2,048 steps has that.
[[nodiscard]] RenewalAnswer renewal_at(const model::TimeLaw& life, const model::TimeLaw* repair, double time,
                                       double tolerance = 1e-9);

/// Number of steps, at least `least`, with which fixed times of the laws are multiples of the step; `least` where none
/// is.
[[nodiscard]] std::size_t fitting_steps(const model::TimeLaw& life, const model::TimeLaw* repair, double time,
                                        std::size_t least);

}  // namespace windtunnel::avail
