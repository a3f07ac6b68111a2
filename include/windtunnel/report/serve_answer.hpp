#pragma once
/// The answer of `serve`: latencies with their intervals, throughput, use of the cards, what limits.
#include <string>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/serve_study.hpp"

namespace windtunnel::report {

[[nodiscard]] std::string serve_text(const model::Plan& plan, const study::ServeAnswer& answer);
[[nodiscard]] std::string serve_json(const model::Plan& plan, const study::ServeAnswer& answer);

/// A line of the file that --requests writes, and its heading. Times in seconds from the start.
[[nodiscard]] std::string requests_heading();
[[nodiscard]] std::string request_line(const serve::Served& served);

}  // namespace windtunnel::report
