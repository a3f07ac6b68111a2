#include "windtunnel/app/command_line.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <system_error>

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
        text += fmt::format("  {:<33} {}\n", command.name + (command.arguments.empty() ? "" : " " + command.arguments),
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

ExitCode dispatch(const std::vector<std::string>& words, Context& context) {
    const std::string first = words.empty() ? "--help" : words[0];
    if (first == "--help" || first == "-h" || first == "help") {
        context.out << overview();
        return words.empty() ? ExitCode::wrong_input : ExitCode::done;
    }
    if (first == "--version") {
        context.out << version_text();
        return ExitCode::done;
    }
    if (const auto subcommand = find_subcommand(first)) return run_subcommand(*subcommand, words, context);
    const bool option = first.starts_with('-');
    std::vector<std::string> names;
    if (option) names = {"--help", "--version"};
    for (const Subcommand& subcommand : subcommands()) {
        if (!option) names.push_back(subcommand.command.name);
    }
    throw_usage_error(first, option ? "unknown option of windtunnel" : "unknown command",
                      base::nearest_name(first, names) + " perhaps; windtunnel --help names all commands");
}

/// What lies behind stdout may be full, or nobody may listen any more: the second is no error.
ExitCode after_output(std::ostream& out, std::ostream& err, ExitCode code) {
    if (out.rdbuf() == nullptr) return code;  // a rank that prints nothing
    errno = 0;
    out.flush();
    if (out.good() || errno == EPIPE) return code;
    err << "error: cannot write to standard output: " << std::generic_category().message(errno) << std::endl;
    return ExitCode::failed;
}

}  // namespace

std::optional<Subcommand> find_subcommand(const std::string& name) {
    for (const Subcommand& subcommand : subcommands()) {
        if (subcommand.command.name == name) return subcommand;
    }
    return std::nullopt;
}

ExitCode run_subcommand(const Subcommand& subcommand, const std::vector<std::string>& words, Context& context) {
    const Arguments arguments = parse(subcommand.command, {words.begin() + 1, words.end()});
    if (arguments.has("help")) {
        context.out << help(subcommand.command);
        return ExitCode::done;
    }
    context.log.set_level(level_of(arguments));
    context.progress_allowed = !arguments.has("quiet") && !arguments.has("no-progress");
    context.words = words;
    if (subcommand.ranks == Subcommand::Ranks::root && !context.communicator.is_root()) return ExitCode::done;
    return subcommand.run(arguments, context);
}

ExitCode run_command_line(const std::vector<std::string>& words, std::ostream& out, std::ostream& err,
                          parallel::Communicator& communicator) {
    Log log{err, LogLevel::info};
    Context context{out, log, communicator};
    try {
        return after_output(out, err, dispatch(words, context));
    } catch (const base::InputError& error) {
        err << error.what() << std::endl;
        return ExitCode::wrong_input;
    } catch (const std::bad_alloc&) {
        err << "error: out of memory; use a smaller plan, or a machine with more memory" << std::endl;
        return ExitCode::failed;
    } catch (const std::exception& error) {
        err << "error: " << error.what() << std::endl;
        return ExitCode::failed;
    }
}

}  // namespace windtunnel::app
