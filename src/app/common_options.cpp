#include "windtunnel/app/common_options.hpp"

#include <fmt/format.h>

#include <limits>

#include "windtunnel/input/read.hpp"

namespace windtunnel::app {

std::vector<Option> plan_options() {
    return {{"set", "KEY=VALUE", "replaces or adds a key of the plan, for example train.layout.tensor_parallel=4", "",
             true},
            {"seed", "N", "seed of all random streams", "the plan's, else 1"}};
}

std::vector<Option> print_options() {
    return {{"json", "", "print the answer as JSON with exact values"},
            {"quiet", "", "no notes and no progress on stderr; errors only"},
            {"log-level", "LEVEL", "error, warning, info or debug", "info"},
            {"help", "", "print this text", "", false, 'h'}};
}

std::vector<Option> run_options() {
    return {
        {"output", "FILE.h5", "write the result file", "none", false, 'o'},
        {"resume", "", "go on from FILE.h5.journal; start from the beginning where there is none"},
        {"overwrite", "", "replace an existing result file or journal"},
        {"part", "I/N", "compute every N-th block from I on (I from 0) into the journal; `gather` merges the parts"},
        {"threads", "N", "threads of each rank", "OMP_NUM_THREADS, else the cores of the rank"},
        {"dry-run", "", "read and check everything, print what would be done, compute nothing"},
        {"no-progress", "", "no progress lines on stderr"}};
}

Option top_option(const std::string& default_text) {
    return {"top", "N", "number of rows to print", default_text};
}

std::vector<Option> together(std::vector<std::vector<Option>> lists) {
    std::vector<Option> all;
    for (auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

model::Plan plan_of(const Arguments& arguments) {
    std::vector<input::Override> overrides;
    for (const std::string& text : arguments.texts("set")) {
        const auto at = text.find('=');
        if (at == std::string::npos || at == 0)
            throw_usage_error("--set", fmt::format("\"{}\" is no KEY=VALUE", text),
                              "for example --set train.layout.tensor_parallel=4");
        overrides.push_back({text.substr(0, at), text.substr(at + 1)});
    }
    if (const auto seed = arguments.integer("seed", 0, std::numeric_limits<std::int64_t>::max()))
        overrides.push_back({"plan.seed", fmt::format("{}", *seed)});
    return input::read_plan(arguments.positional().at(0), overrides);
}

}  // namespace windtunnel::app
