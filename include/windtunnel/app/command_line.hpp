#pragma once
/// The subcommands: one table that names each with its options and the function that runs it.
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "windtunnel/app/exit_code.hpp"
#include "windtunnel/app/log.hpp"
#include "windtunnel/app/options.hpp"
#include "windtunnel/driver/options.hpp"
#include "windtunnel/parallel/communicator.hpp"

namespace windtunnel::app {

/// Journals to be merged instead of computing.
struct GatherJob {
    std::vector<std::string> journals;
    std::string output;
    driver::Existing existing = driver::Existing::refuse;
};

/// Where a subcommand runs and what it writes to. Only rank 0 has streams that lead anywhere.
struct Context {
    std::ostream& out;  ///< data
    Log& log;           ///< notes, warnings
    parallel::Communicator& communicator;
    std::vector<std::string> words{};  ///< the command line without the program's name, for /provenance
    bool progress_allowed = true;
    std::optional<GatherJob> gather{};
};

struct Subcommand {
    Command command;
    enum class Ranks { all, root } ranks = Ranks::root;  ///< which of them run it
    ExitCode (*run)(const Arguments& arguments, Context& context);
};

/// In the order of the help page.
[[nodiscard]] std::vector<Subcommand> subcommands();

/// Runs what the words say. Errors become text on `log` and an exit code; nothing is thrown.
[[nodiscard]] ExitCode run_command_line(const std::vector<std::string>& words, std::ostream& out, std::ostream& err,
                                        parallel::Communicator& communicator);

/// One subcommand with its words, name first; throws base::InputError and base::RunError.
[[nodiscard]] ExitCode run_subcommand(const Subcommand& subcommand, const std::vector<std::string>& words,
                                      Context& context);
[[nodiscard]] std::optional<Subcommand> find_subcommand(const std::string& name);

}  // namespace windtunnel::app
