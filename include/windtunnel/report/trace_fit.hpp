#pragma once
/// What `import trace` writes: the fitted laws as a [serve.load] section, and one row of the trace in our columns.
#include <string>
#include <vector>

#include "windtunnel/serve/trace_fit.hpp"

namespace windtunnel::report {

/// For people: spans, means, every law that was tried with its distance.
[[nodiscard]] std::string trace_fit_text(const serve::TraceFit& fit, const std::string& format);
/// A TOML section with the best laws, and in comments how good they are.
[[nodiscard]] std::string trace_fit_toml(const serve::TraceFit& fit, const std::string& source);

[[nodiscard]] std::string trace_heading(bool with_blocks);
[[nodiscard]] std::string trace_line(const model::TraceRow& row, const std::vector<std::uint32_t>& blocks,
                                     bool with_blocks);

}  // namespace windtunnel::report
