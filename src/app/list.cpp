#include <algorithm>
#include <filesystem>
#include <vector>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/commands.hpp"
#include "windtunnel/base/errors.hpp"

namespace windtunnel::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_below(const fs::path& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
        if (at->is_regular_file(error)) files.push_back(at->path().string());
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace

Command list_command() {
    return {"list",   "Names the inputs that are shipped: plans, models, clusters, accelerators, failures, ...",
            "[KIND]", 0,
            1,        together({{{"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_list(const Arguments& arguments, Context& context) {
    const std::string folder = shipped_inputs();
    if (folder.empty())
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    fs::path place = folder;
    if (!arguments.positional().empty()) {
        place /= arguments.positional()[0];
        std::error_code error;
        if (!fs::is_directory(place, error)) {
            std::string kinds;
            for (const auto& entry : fs::directory_iterator{folder, error}) {
                if (entry.is_directory(error)) kinds += (kinds.empty() ? "" : ", ") + entry.path().filename().string();
            }
            throw_usage_error(arguments.positional()[0], "no such kind of input in " + folder, kinds);
        }
    }
    for (const std::string& file : files_below(place)) context.out << file << '\n';
    return ExitCode::done;
}

}  // namespace windtunnel::app
