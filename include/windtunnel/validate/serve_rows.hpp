#pragma once
/// Published measurements of inference engines against the cost service: an engine and a load from each row.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/serve_measurement.hpp"
#include "windtunnel/serve/closed_loop.hpp"
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::validate {

/// A row as the model sees it; efficiency is filled from the row's set when it is predicted.
struct ServeJob {
    serve::EngineSetup setup;        ///< the engine; of a split row the decode instances
    serve::EngineSetup prefill;      ///< split rows: the prefill instances
    int prefill_instances = 0;       ///< 0: one pool
    int instances = 1;               ///< that share the load
    serve::ClosedLoop loop;          ///< of one attention data-parallel rank
    serve::ClosedLoop prefill_loop;  ///< split rows
    bool drawn_lengths = false;      ///< from 0.8 of the printed length to the whole
    bool offline = false, static_batch = false, decode_step = false, prefill_step = false;
    bool natural_skew = false;   ///< nothing balances the experts: the set's own skew
    double per_chip = 1.0;       ///< chips that a rate is divided by; dies of a package counted together
    serve::FractionalLoad step;  ///< decode_step, prefill_step
    double vision_products = 0.0, vision_attention = 0.0;  ///< operations of a vision tower in the step, 16 bit
    std::string rule;                                      ///< set of shares, empty: none fits
    model::EngineEfficiency efficiency;
    std::string family;
    std::vector<std::string> assumed;
    std::string problem;  ///< why the row cannot be predicted
};
[[nodiscard]] ServeJob serve_job(const model::ServeRow& row, const model::ServeMeasurements& measurements);

/// Does a rule speak of this row? The job must have its model and card.
[[nodiscard]] bool rule_matches(const model::EngineRule& rule, const model::ServeRow& row, const ServeJob& job);

/// A quantity of a row with what was measured; predicted is empty where the model does not give it.
struct ServeQuantity {
    std::string name;  ///< tpot_s, ttft_s, latency_s, tokens_per_s, step_time_s, tokens_per_s_per_chip
    double measured = 0.0;
    double predicted = 0.0;
};
/// Every quantity that the row prints and the model gives, with the shares of `efficiency`.
[[nodiscard]] std::vector<ServeQuantity> predict(const model::ServeRow& row, const ServeJob& job,
                                                 const model::EngineEfficiency& efficiency);

/// A line per quantity, with the shipped set of the row. Rows that were fitted are a family of their own.
[[nodiscard]] std::vector<RowResult> run_serve_row(const model::ServeRow& row,
                                                   const model::ServeMeasurements& measurements);

/// Lines of a row with another set, in another family.
[[nodiscard]] std::vector<RowResult> serve_lines(const model::ServeRow& row, const ServeJob& job,
                                                 const model::EngineEfficiency& set, const std::string& family,
                                                 bool fitted);

/// Does a set apply to a fit? Not split rows, nor what is set aside.
[[nodiscard]] bool may_be_fitted(const ServeJob& job);

}  // namespace windtunnel::validate
