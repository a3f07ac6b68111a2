#pragma once
/// The tables over all published rows of inference engines, with the limit that stands for each figure.
///
/// Model:   rows that a fit has seen do not judge; what is set aside is printed without limit. "unseen models" were
///          predicted by sets that no row of the model was fitted to.
/// Inputs:  the lines of run_serve_row and run_left_out. Returns: figures; errors and shares as fractions.
/// Limits:  families whose lines are absent (rows of the user's own) give no figure.
#include "windtunnel/model/serve_measurement.hpp"
#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::validate {

[[nodiscard]] std::vector<Figure> serve_figures(std::span<const RowResult> results,
                                                const model::ServeMeasurements& measurements);

}  // namespace windtunnel::validate
