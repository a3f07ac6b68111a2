#pragma once
#include <string>

namespace windtunnel::app {

/// Replaces the file by the text; base::RunError with the path when that fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace windtunnel::app
