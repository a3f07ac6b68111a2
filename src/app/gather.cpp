#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/journal.hpp"

namespace windtunnel::app {

Command gather_command() {
    constexpr int most_journals = 100'000;
    return {"gather",
            "Makes one result file of the journals of an unfinished run, or of the parts of one study.",
            "JOURNAL...",
            1,
            most_journals,
            together({{{"output", "FILE.h5", "the result file", "required", false, 'o'},
                       {"overwrite", "", "replace an existing result file"}},
                      print_options()})};
}

ExitCode run_gather(const Arguments& arguments, Context& context) {
    namespace fs = std::filesystem;
    if (arguments.text("output").empty()) throw_usage_error("--output", "not given", "-o FILE.h5");
    GatherJob job;
    for (const std::string& path : arguments.positional()) job.journals.push_back(fs::absolute(path).string());
    job.output = fs::absolute(arguments.text("output")).string();
    if (arguments.has("overwrite")) job.existing = driver::Existing::overwrite;

    // The journal says which command wrote it, and where: the study is made again from that.
    const store::JournalHeader header = store::Journal::open(job.journals[0]).header();
    const auto subcommand = header.command.empty() ? std::nullopt : find_subcommand(header.command[0]);
    if (!subcommand) throw base::RunError{fmt::format("{}: names no command of this program", job.journals[0])};
    std::error_code error;
    fs::current_path(header.working_folder, error);
    if (error)
        throw base::RunError{fmt::format("{}: was made in the folder {}, which cannot be entered: {}", job.journals[0],
                                         header.working_folder, error.message())};
    std::vector<std::string> words = header.command;
    std::erase(words, "--quiet");  // how loud the parts were is their own affair
    for (const char* name : {"json", "quiet"}) {
        const std::string option = std::string{"--"} + name;
        if (arguments.has(name) && std::ranges::find(words, option) == words.end()) words.push_back(option);
    }
    Context inner{context.out, context.log, context.communicator};
    inner.gather = std::move(job);
    return run_subcommand(*subcommand, words, inner);
}

}  // namespace windtunnel::app
