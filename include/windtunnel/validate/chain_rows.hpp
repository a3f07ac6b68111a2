#pragma once
/// Chains with known answers: answer beside answer.
#include <vector>

#include "windtunnel/model/chain.hpp"
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::validate {

/// A line per known answer, in order; family = file/group, tolerance = that of the answer. A chain that cannot be
/// solved gives its lines without a prediction, with the first finding as the reason. A chain without known answers
/// gives none.
[[nodiscard]] std::vector<RowResult> run_chain(const model::Chain& chain);

}  // namespace windtunnel::validate
