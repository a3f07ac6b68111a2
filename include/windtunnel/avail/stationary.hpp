#pragma once
/// Long run and first passage of a sparse chain.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/sparse_chain.hpp"

namespace windtunnel::avail {

struct Stationary {
    std::vector<double> share;  ///< of time in each state; sums to 1
    double residual = 0.0;      ///< largest |inflow - outflow| / outflow of a state
    double error = 0.0;         ///< estimated: sum of absolute errors of the shares
    int sweeps = 0;             ///< of Gauss-Seidel; 0: elimination
    bool converged = true;
};

/// Largest |inflow - outflow| / outflow of a state.
[[nodiscard]] double imbalance(const SparseChain& chain, const std::vector<double>& share);

/// Elimination without subtractions, states with few neighbours first; each share keeps its relative accuracy.
/// Inputs:  every state reaches every other.
/// Returns: empty when more than `most_operations` would be needed.
/// Source:  Grassmann, Taksar, Heyman, Operations Research 33(5), 1985.
[[nodiscard]] std::optional<Stationary> stationary_by_elimination(const SparseChain& chain, double most_operations);

/// Sweeps along the main flow of the chain.
///
/// Model:   Gauss-Seidel, no relaxation parameter. States in reverse postorder of a depth-first walk from the initial
///          state that leaves each state's strongest transition to the last, so that most of the flow runs forward; all
///          weight starts in the initial state. Sums of terms >= 0 only.
/// Returns: error = change of the last sweep x factor/(1 - factor), factor = measured rate of convergence; converged
///          when that is below 1e-12 and no share changes by more than 1e-10 of itself.
/// Limits:  every state reaches every other. A chain that falls apart into nearly separate groups converges slowly;
///          after most_sweeps the result says converged = false.
/// Source:  Stewart, Introduction to the Numerical Solution of Markov Chains, 1994, chapter 3.
[[nodiscard]] Stationary stationary_by_sweeps(const SparseChain& chain, int most_sweeps = 20'000);

/// Elimination where it is cheap, else sweeps.
[[nodiscard]] Stationary stationary(const SparseChain& chain);

/// The long run from the initial state: shares of all states, also with states that are left for good and with several
/// closed classes, which are then weighted by the probability of ending there.
[[nodiscard]] Stationary long_run(const SparseChain& chain, const Classes& classes);

/// Until one of the marked states is entered.
struct FirstPassage {
    double mean_time = 0.0;           ///< infinite where the marked states may never be entered
    std::vector<double> time_in;      ///< expected time in each state before; meaningless when mean_time is infinite
    std::vector<double> probability;  ///< of entering a state with mark k first, [0] = none ever
    bool converged = true;
    double error = 0.0;  ///< relative
};

/// Mean time and where it ends.
///
/// Model:   a chain that restarts in the initial state whenever a marked state is entered is stationary; times between
///          restarts are first passages (renewal reward). Marks: 0 = none, 1, 2, ... = kinds of states that end it.
/// Source:  any text on renewal theory.
[[nodiscard]] FirstPassage first_passage(const SparseChain& chain, const std::vector<std::uint32_t>& marks);

}  // namespace windtunnel::avail
