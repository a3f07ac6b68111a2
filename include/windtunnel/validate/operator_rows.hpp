#pragma once
/// Measured operator times against what the other rows of their table say, and against the roofline of their card.
#include <map>
#include <string>

#include "windtunnel/model/operator_table.hpp"
#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::validate {

/// One column of times of one table: an item of the study.
struct OperatorColumn {
    std::size_t table = 0;
    std::size_t quantity = 0;
};
[[nodiscard]] std::vector<OperatorColumn> operator_columns(const model::OperatorTables& tables);

/// The lines of a column: "latency_s", each inner point with what the others say (compute/operator_times.hpp), family =
/// name of the file; "beyond_ep_32_s", rows of all-to-all over more
/// than 32 ranks, as the rows of up to 32 say; and "roofline_s", each row of a card that is described, first principles
/// with the default shares of the data sheet, family = class of the operator.
[[nodiscard]] std::vector<RowResult> operator_rows(const model::OperatorTables& tables, const OperatorColumn& column);

/// First principles for a row: what the data sheet of its card gives at the default shares (model/efficiency.hpp).
///
/// Model:   products: gemm.hpp; attention: flash for prompts, cache traffic or work for decoding (absorbed for latent
///          attention: one latent row of 576 a position); experts: two grouped products over the experts in use; each
///          with one launch a kernel.
/// Returns: empty where the class, the card or a column that it needs is not known.
/// Limits:  head size 128, latent attention as in DeepSeek-V3. Source: as the headers named.
[[nodiscard]] std::optional<Seconds> roofline_time(const model::OperatorTables& tables,
                                                   const model::OperatorTable& table, const model::OperatorRow& row);

/// Median and 90th percentile by file, all judged files together, and the roofline by class.
[[nodiscard]] std::vector<Figure> operator_figures(std::span<const RowResult> rows,
                                                   const model::OperatorTables& tables);

}  // namespace windtunnel::validate
