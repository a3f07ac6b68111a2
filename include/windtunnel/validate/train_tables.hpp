#pragma once
/// The tables over all published training rows: errors by family as the project sets them itself, order of layouts,
/// scaling, intervals, memory. Every figure is one line, with the limit that stands for it.
///
/// Model:   a row is complete when hidden, layers, heads, sequence, tp, pp, micro-batch, batch and cards are printed,
/// its
///          confidence is not low and it is no LoRA run. A row without printed step time or tokens/s is converted from
///          MFU or TFLOP/s, and stands apart. Rows that a fit may have seen do not judge.
/// Inputs:  the lines of run_rows and the measurements behind them.
/// Returns: figures; shares and errors as fractions, efficiencies as fractions, counts as they are.
/// Limits:  a figure of less than `least_rows_judged` rows of the user's own is printed and not judged.
/// Source:  Kendall, Biometrika 30, 1938 (rank correlation).
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::validate {

/// Absolute errors of some lines; quantiles by nearest rank.
struct ErrorSummary {
    int count = 0;
    double mean = 0.0, median = 0.0, percentile_90 = 0.0, percentile_95 = 0.0, worst = 0.0;
};
[[nodiscard]] ErrorSummary error_summary(std::vector<double> errors);

/// One number of a table.
struct Figure {
    std::string table, name, measure;
    std::optional<double> value;   ///< absent: nothing to compute it from
    int count = 0;                 ///< rows, pairs or points behind it
    std::optional<double> target;  ///< what the project wants
    std::optional<double> limit;   ///< what fails: the target, or where it is missed the error of the day and a tenth
    bool at_least = false;         ///< a lower limit
    bool judged = true;

    [[nodiscard]] bool misses(const std::optional<double>& bound) const {
        return bound && value && (at_least ? *value < *bound : *value > *bound);
    }
    [[nodiscard]] bool exceeds() const { return judged && misses(limit); }
};

inline constexpr int least_rows_judged = 10;

/// Is everything printed that a step time rests on, see above.
[[nodiscard]] bool is_complete(const model::PublishedRow& row);
/// Neither step time nor tokens/s: the source, or whoever copied it, gives MFU or TFLOP/s.
[[nodiscard]] bool is_converted(const model::PublishedRow& row);

/// Rank correlation over the pairs whose measured values differ by more than 3 %: (concordant - discordant) / pairs.
struct RankCorrelation {
    int concordant = 0, discordant = 0;
    [[nodiscard]] int pairs() const { return concordant + discordant; }
    [[nodiscard]] double tau() const { return pairs() > 0 ? double(concordant - discordant) / pairs() : 0.0; }
};
struct MeasuredPair {
    double predicted = 0.0, measured = 0.0;
};
void add_ranks(const std::vector<MeasuredPair>& set, RankCorrelation& ranks);

[[nodiscard]] std::vector<Figure> train_figures(std::span<const RowResult> results,
                                                const model::Measurements& measurements);

}  // namespace windtunnel::validate
