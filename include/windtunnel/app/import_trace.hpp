#pragma once
/// `import trace FILE -o FOLDER`: a request trace in our columns, and the laws fitted to it.
#include "windtunnel/app/command_line.hpp"

namespace windtunnel::app {

/// Reads line by line: the memory does not grow with the trace.
[[nodiscard]] ExitCode import_trace(const Arguments& arguments, Context& context);

}  // namespace windtunnel::app
