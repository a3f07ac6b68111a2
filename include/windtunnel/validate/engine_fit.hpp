#pragma once
/// Shares of an engine on a card, fitted to published rows.
#include <span>
#include <string>
#include <vector>

#include "windtunnel/validate/serve_rows.hpp"

namespace windtunnel::validate {

/// A row with its job.
struct FitRow {
    const model::ServeRow* row = nullptr;
    ServeJob job;
};

struct EngineFitRule {
    std::vector<std::string> parameters;  ///< that move; the others stay at the start
    double first_token_weight = 0.3;      ///< of a TTFT beside 1 of every other quantity
    double prior_weight = 0.01;           ///< of the mean squared logarithm of moved over start
    int most_sweeps = 40;
};

/// Mean loss of the rows under a set: for each quantity the logarithm r of predicted over measured enters as |r|,
/// rounded off below 0.05; beyond a factor of two it counts half.
[[nodiscard]] double fit_loss(std::span<const FitRow> rows, const model::EngineEfficiency& set,
                              const EngineFitRule& rule);

/// Model:   pattern search along one parameter at a time in the logarithm, steps from a factor 1.5 down to 1.01.
/// Inputs:  rows whose jobs have no problem. Returns: the set with the least loss that was met; the start without rows.
/// Limits:  a local minimum. Source: Hooke and Jeeves, J. ACM 8(2), 1961.
[[nodiscard]] model::EngineEfficiency fit_engine(std::span<const FitRow> rows, const model::EngineEfficiency& start,
                                                 const EngineFitRule& rule);

/// Every rule's set, fitted anew: first the rules that others start from. A row counts for each rule that matches it if
/// it may be used (hash, or every_row) and `left_out` does not hold it back. Rules without parameters keep their set.
template <class LeftOut>
[[nodiscard]] std::vector<model::EngineEfficiency> fit_rules(const std::vector<FitRow>& rows,
                                                             const std::vector<model::EngineRule>& rules,
                                                             const LeftOut& left_out) {
    std::vector<model::EngineEfficiency> sets(rules.size());
    for (const bool second : {false, true})
        for (std::size_t r = 0; r < rules.size(); ++r) {
            const model::EngineRule& rule = rules[r];
            if (rule.start.empty() == second) continue;
            if (rule.parameters.empty()) {
                sets[r] = rule.efficiency;
                continue;
            }
            model::EngineEfficiency start;
            for (std::size_t other = 0; other < rules.size(); ++other)
                if (second && rules[other].name == rule.start) start = sets[other];
            std::vector<FitRow> used;
            for (const FitRow& fit : rows)
                if (rule_matches(rule, *fit.row, fit.job) && (rule.every_row || model::used_to_fit(*fit.row)) &&
                    !left_out(fit))
                    used.push_back(fit);
            EngineFitRule how;
            how.parameters = rule.parameters;
            how.prior_weight = rule.prior_weight;
            sets[r] = fit_engine(used, start, how);
            sets[r].name = rule.name.substr(rule.name.rfind('/') + 1);
            sets[r].name = sets[r].name.substr(0, sets[r].name.rfind('.'));
            sets[r].evidence = model::Evidence::fitted;
        }
    return sets;
}

/// What is left out of a fit and judged by it: a fifth of the models of a file, or one row.
struct LeftOut {
    std::string file;  ///< of the rows, for folds of models
    int fold = -1;
    std::string rule, row;  ///< for one row of a rule with every_row
};
[[nodiscard]] std::vector<LeftOut> left_out_of(const model::ServeMeasurements& measurements);
/// The lines of the rows that were left out, in the families FILE/unseen_models/ENGINE or RULE/leave_one_out.
[[nodiscard]] std::vector<RowResult> run_left_out(const LeftOut& left_out,
                                                  const model::ServeMeasurements& measurements);

/// All shipped rows that a fit may use, with their jobs.
[[nodiscard]] std::vector<FitRow> fit_rows(const model::ServeMeasurements& measurements);

/// The sets of all rules fitted to the rows that may be used, with the width that holds 90 of 100 other rows: name of
/// the file and its text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> fitted_files(
    const model::ServeMeasurements& measurements);

/// TOML text of a set, as the reader takes it.
[[nodiscard]] std::string engine_set_text(const model::EngineEfficiency& set, const std::vector<std::string>& fitted,
                                          const std::string& about);

}  // namespace windtunnel::validate
