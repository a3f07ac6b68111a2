#pragma once
/// The subcommands: one table that names each with its options and the function that runs it.
#include <ostream>
#include <string>
#include <vector>

#include "windtunnel/app/exit_code.hpp"
#include "windtunnel/app/log.hpp"
#include "windtunnel/app/options.hpp"

namespace windtunnel::app {

/// What a subcommand writes to. Only rank 0 has streams that lead anywhere.
struct Context {
    std::ostream& out;               ///< data
    Log& log;                        ///< notes, warnings
    std::vector<std::string> words;  ///< the command line without the program's name, for /provenance
    bool progress_allowed = true;
};

struct Subcommand {
    Command command;
    ExitCode (*run)(const Arguments& arguments, Context& context);
};

/// In the order of the help page.
[[nodiscard]] std::vector<Subcommand> subcommands();

/// Runs what the words say. Errors become text on `log` and an exit code; nothing is thrown.
[[nodiscard]] ExitCode run_command_line(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

}  // namespace windtunnel::app
