#pragma once
/// A sparse chain at a time, and over an interval that begins at 0.
#include <span>
#include <vector>

#include "windtunnel/avail/sparse_chain.hpp"

namespace windtunnel::avail {

/// Probabilities of a Poisson count, by index from `first`; all others together are below 1e-38.
///
/// Model:   from the mode outwards by ratios, normalised by their own sum: no overflow, no underflow.
/// Inputs:  mean >= 0.
/// Source:  Fox and Glynn, Communications of the ACM 31(4), 1988, for the idea of weights around the mode.
struct PoissonWindow {
    explicit PoissonWindow(double mean);
    std::uint64_t first = 0;
    std::vector<double> weight;
    [[nodiscard]] std::uint64_t end() const noexcept { return first + weight.size(); }
};

struct TransientAnswer {
    std::vector<double> at_time;      ///< expected reward per time at the time, by reward
    std::vector<double> accumulated;  ///< expected reward collected from 0 to the time
    double error = 0.0;               ///< relative, for rewards >= 0: what was cut off or taken from the long run
    std::uint64_t steps = 0;          ///< of the chain in discrete time
    bool complete = true;             ///< false: the limit of work came first
};

/// Expected rewards at a time and up to it.
///
/// Model:   the chain jumps at the ticks of one Poisson clock with a rate above every exit rate; the number of ticks is
///          independent of the path. Sums of terms >= 0 for rewards >= 0, so rare states keep their relative accuracy.
///          When `long_run` is given and every probability is within `close` of its share there, relative, the rest of
///          the sum is the long run: a bound that later steps cannot break.
///          With absorbing states, when one step shrinks every other probability by nearly the same factor, it does so
///          in all later steps (bounds on the factor cannot widen), and the rest follows in closed form.
/// Inputs:  start: probabilities by state (or any weights); rewards: by state; absorbing: states that are kept once
///          entered (empty: none).
/// Limits:  steps x transitions <= most_work.
/// Source:  Jensen, Skandinavisk Aktuarietidskrift 36, 1953; Reibman and Trivedi, Computers and OR 15(1), 1988.
struct Uniformisation {
    const SparseChain& chain;
    std::vector<std::uint8_t> absorbing{};
    const std::vector<double>* long_run = nullptr;
    double close = 1e-12;  ///< not below the accuracy of the shares
    double most_work = 2e11;
};
[[nodiscard]] TransientAnswer transient(const Uniformisation& system, const std::vector<double>& start,
                                        std::span<const std::vector<double>* const> rewards, double time);

/// Variance of the time average of a reward over (0, time), started in the long run.
///
/// Model:   2/time^2 x integral of (time - u) x covariance(u), the covariance by the same Poisson clock.
struct VarianceAnswer {
    double variance = 0.0;
    bool complete = true;
};
[[nodiscard]] VarianceAnswer variance_of_time_average(const Uniformisation& system, const std::vector<double>& shares,
                                                      const std::vector<double>& reward, double time);

}  // namespace windtunnel::avail
