#pragma once
/// The subcommand calibrate.
#include "windtunnel/app/command_line.hpp"

namespace windtunnel::app {

[[nodiscard]] Command calibrate_command();
[[nodiscard]] ExitCode run_calibrate(const Arguments& arguments, Context& context);

}  // namespace windtunnel::app
