#pragma once
/// Published rows beside what the model predicts.
#include <span>
#include <string>

#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::report {

/// A line for each row and quantity, then the error by family.
[[nodiscard]] std::string validation_text(std::span<const validate::RowResult> rows,
                                          std::span<const validate::FamilyError> families);
[[nodiscard]] std::string validation_json(std::span<const validate::RowResult> rows,
                                          std::span<const validate::FamilyError> families);

/// id,family,quantity,predicted,measured,relative_error,low,high,used_to_fit,reason; RFC 4180, exact numbers.
[[nodiscard]] std::string validation_csv(std::span<const validate::RowResult> rows);

}  // namespace windtunnel::report
