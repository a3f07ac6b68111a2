#pragma once
/// The manual page and the completion of shells, written from the same table as the help.
#include <string>
#include <vector>

#include "windtunnel/app/command_line.hpp"

namespace windtunnel::app {

/// windtunnel(1) as roff for man(7). Source: man-pages(7) for the order of the sections.
[[nodiscard]] std::string manual_page(const std::vector<Subcommand>& subcommands);

/// A completion function for bash: commands, options of each command, file names elsewhere.
[[nodiscard]] std::string bash_completion(const std::vector<Subcommand>& subcommands);

}  // namespace windtunnel::app
