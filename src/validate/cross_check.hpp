#pragma once
/// Parts of a step beside those of another tool.
#include "windtunnel/validate/train_tables.hpp"

namespace windtunnel::validate {

/// For each part: configurations compared, median and worst difference, and the share within 10 %; and those that are
/// not compared, by reason. Parts that the two model differently say so in their name.
void cross_check_figures(const model::CrossChecks& checks, std::vector<Figure>& figures);

}  // namespace windtunnel::validate
