#include "windtunnel/app/command_line.hpp"

#include <fmt/format.h>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::app {
namespace {

std::string overview() {
    std::string text =
        "windtunnel rehearses a large AI cluster before it is built or booked.\n\n"
        "Usage: windtunnel COMMAND [options] ARGUMENTS\n\nCommands:\n";
    for (const Subcommand& subcommand : subcommands()) {
        const Command& command = subcommand.command;
        text += fmt::format("  {:<28}{}\n", command.name + (command.arguments.empty() ? "" : " " + command.arguments),
                            command.summary.substr(0, command.summary.find('\n')));
    }
    return text +
           "\nwindtunnel COMMAND --help names the options of a command; windtunnel --version the build.\n"
           "Exit codes: 0 done, 1 failed while running, 2 wrong usage or input, 3 nothing feasible, 75 interrupted\n"
           "and resumable. Runs alone, under mpirun and under srun.\n";
}

LogLevel level_of(const Arguments& arguments) {
    const std::vector<std::string> names{"error", "warning", "info", "debug"};
    if (arguments.has("quiet")) return LogLevel::error;
    if (!arguments.has("log-level")) return LogLevel::info;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (arguments.text("log-level") == names[i]) return static_cast<LogLevel>(i);
    }
    throw_usage_error("--log-level", fmt::format("\"{}\" is no level", arguments.text("log-level")),
                      "error, warning, info or debug");
}

ExitCode run_subcommand(const Subcommand& subcommand, const std::vector<std::string>& words, std::ostream& out,
                        Log& log) {
    const Arguments arguments = parse(subcommand.command, {words.begin() + 1, words.end()});
    if (arguments.has("help")) {
        out << help(subcommand.command);
        return ExitCode::done;
    }
    log.set_level(level_of(arguments));
    Context context{out, log, words, !arguments.has("quiet") && !arguments.has("no-progress")};
    return subcommand.run(arguments, context);
}

ExitCode dispatch(const std::vector<std::string>& words, std::ostream& out, Log& log) {
    const std::string first = words.empty() ? "--help" : words[0];
    if (first == "--help" || first == "-h" || first == "help") {
        out << overview();
        return words.empty() ? ExitCode::wrong_input : ExitCode::done;
    }
    if (first == "--version") {
        out << version_text();
        return ExitCode::done;
    }
    std::vector<std::string> names;
    for (const Subcommand& subcommand : subcommands()) {
        if (subcommand.command.name == first) return run_subcommand(subcommand, words, out, log);
        names.push_back(subcommand.command.name);
    }
    const bool option = first.starts_with('-');
    if (option) names = {"--help", "--version"};
    throw_usage_error(first, option ? "unknown option of windtunnel" : "unknown command",
                      base::nearest_name(first, names) + " perhaps; windtunnel --help names all commands");
}

}  // namespace

ExitCode run_command_line(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
    Log log{err, LogLevel::info};
    try {
        return dispatch(words, out, log);
    } catch (const base::InputError& error) {
        err << error.what() << std::endl;
        return ExitCode::wrong_input;
    } catch (const base::RunError& error) {
        err << "error: " << error.what() << std::endl;
        return ExitCode::failed;
    } catch (const std::bad_alloc&) {
        err << "error: out of memory; use more ranks on other nodes, or a smaller plan" << std::endl;
        return ExitCode::failed;
    } catch (const std::exception& error) {
        err << "error: " << error.what() << std::endl;
        return ExitCode::failed;
    }
}

}  // namespace windtunnel::app
