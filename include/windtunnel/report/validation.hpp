#pragma once
/// Published rows beside what the model predicts.
#include <span>
#include <string>

#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::report {

/// A line for each row and quantity, then the error by family, then the figures, a table each.
[[nodiscard]] std::string validation_text(std::span<const validate::RowResult> rows,
                                          std::span<const validate::FamilyError> families,
                                          std::span<const validate::Figure> figures);
[[nodiscard]] std::string validation_json(std::span<const validate::RowResult> rows,
                                          std::span<const validate::FamilyError> families,
                                          std::span<const validate::Figure> figures);

/// id,family,quantity,predicted,measured,relative_error,low,high,used_to_fit,reason; RFC 4180, exact numbers.
[[nodiscard]] std::string validation_csv(std::span<const validate::RowResult> rows);

}  // namespace windtunnel::report
