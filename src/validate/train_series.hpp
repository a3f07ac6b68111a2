#pragma once
/// Tables over sets of rows that belong together: layouts of one sweep, sizes of one series.
#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::validate {

/// A line with the row behind it.
struct RowOf {
    const RowResult* line;
    const model::PublishedRow* row;
};

/// Kendall's tau of the sweeps: rows of one source, model, sequence, batch, dtype and number of cards; sets of four
/// rows and more.
void order_figures(const std::vector<RowOf>& lines, std::vector<Figure>& figures);

/// Efficiency at each size of a series to its smallest size, measured and predicted; and series of linearity.
void scaling_figures(const std::vector<RowOf>& lines, std::vector<Figure>& figures);

}  // namespace windtunnel::validate
