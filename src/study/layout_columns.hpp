#pragma once
/// The columns that describe a layout, shared by the tables of search and train.
#include <cmath>
#include <limits>
#include <vector>

#include "rows.hpp"
#include "windtunnel/model/layout.hpp"

namespace windtunnel::study {

[[nodiscard]] std::vector<store::ColumnSchema> layout_columns();
void put_layout(Rows& rows, const model::Layout& layout);

}  // namespace windtunnel::study
