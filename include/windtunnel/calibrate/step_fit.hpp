#pragma once
/// Efficiencies of one card and software family from measured step times.
///
/// Model:   the executor of `train` under a set of efficiencies; r = ln(predicted / measured);
/// calibrate/least_squares.hpp. Inputs:  rows with job, layout and measured time; which values may move; the values of
/// the parent set as priors. Returns: values in the units of calibrate/parameters.hpp. Limits: a value is free only
/// where it moves the step time of
///          at least five fitted rows by more than 0.2 % of its own change; the others stay at their prior.
/// Source:  which values stay free in the end: after Akaike for errors with a double exponential law, where a value
///          has to lower the sum of |r| by more than its mean; half of that, as held-out folds preferred.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/calibrate/least_squares.hpp"
#include "windtunnel/calibrate/parameters.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::calibrate {

struct MeasuredStep {
    std::string id, source;  ///< source: what is left out together
    std::uint64_t hash = 0;  ///< rows of equal hash stand on one side
    train::Job job;          ///< its efficiency is not looked at
    model::Layout layout;
    std::string release;  ///< of the software, empty: not said
    double measured_s = 0.0;
    bool used = false;  ///< may be used to fit
};

struct StepSet {
    std::string name;
    std::vector<std::string> free;  ///< keys of calibrate/parameters.hpp
    bool releases = false;
    double gemm_prior_ratio = 1.0;  ///< to the parent's
    std::vector<MeasuredStep> rows;
};

inline constexpr int least_rows = 5;

/// Where a set starts: the values of its parent, or the priors.
[[nodiscard]] model::Efficiency base_efficiency(const StepSet& set, const model::Efficiency* parent);

/// Predicted step time of a row, s.
[[nodiscard]] double predicted_s(const MeasuredStep& row, const model::Efficiency& efficiency);

/// Values that may move, and how many of the rows each touches.
struct Candidate {
    std::string name;  ///< key, or "release 26.04"
    FreeValue value;
    int num_rows = 0;
    [[nodiscard]] bool is_free() const noexcept { return num_rows >= least_rows; }
};
/// All that the set frees, rows not counted. `rows`: indices of the rows of the fit.
[[nodiscard]] std::vector<Candidate> listed_values(const StepSet& set, const model::Efficiency& base,
                                                   const std::vector<std::size_t>& rows);
/// The same with the rows that each touches.
[[nodiscard]] std::vector<Candidate> candidates(const StepSet& set, const model::Efficiency& base,
                                                const std::vector<std::size_t>& rows);

/// A set of efficiencies with these values.
[[nodiscard]] model::Efficiency with_values(const model::Efficiency& base, const std::vector<Candidate>& free,
                                            const std::vector<double>& values);

/// The problem refers to its arguments.
[[nodiscard]] Problem problem_of(const StepSet& set, const model::Efficiency& base, const std::vector<Candidate>& free,
                                 const std::vector<std::size_t>& rows);

/// Puts values back to their priors that the rows do not need.
struct Choice {
    std::vector<Candidate> free;  ///< what is left
    std::vector<double> values;
};
[[nodiscard]] Choice needed_values(const StepSet& set, const model::Efficiency& base,
                                   const std::vector<Candidate>& free, std::vector<double> values,
                                   const std::vector<std::size_t>& rows);

/// Rows that may be used, but for those of one source.
[[nodiscard]] std::vector<std::size_t> used_rows(const StepSet& set,
                                                 const std::optional<std::string>& without_source = std::nullopt);

/// Fold of a row: twins stand together.
[[nodiscard]] inline std::uint64_t fold_of(const MeasuredStep& row, std::uint64_t num_folds) noexcept {
    return row.hash / 10 % num_folds;
}

}  // namespace windtunnel::calibrate
