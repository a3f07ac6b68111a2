#include "windtunnel/app/common_options.hpp"

#include <fmt/format.h>

#include <limits>

#include "windtunnel/parallel/first_error.hpp"

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

std::vector<Option> run_options_without_dry_run() {
    std::vector<Option> options = run_options();
    std::erase_if(options, [](const Option& option) { return option.name == "dry-run"; });
    return options;
}

Option top_option(const std::string& default_text) {
    return {"top", "N", "number of rows to print", default_text};
}

std::vector<Option> together(std::vector<std::vector<Option>> lists) {
    std::vector<Option> all;
    for (auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

namespace {

constexpr std::int64_t greatest_seed = 9'200'000'000'000'000'000;  // as plan.seed

std::vector<input::Override> overrides_of(const Arguments& arguments) {
    std::vector<input::Override> overrides;
    for (const std::string& text : arguments.texts("set")) {
        const auto at = text.find('=');
        if (at == std::string::npos || at == 0)
            throw_usage_error("--set", fmt::format("\"{}\" is no KEY=VALUE", text),
                              "for example --set train.layout.tensor_parallel=4");
        overrides.push_back({text.substr(0, at), text.substr(at + 1)});
    }
    if (const auto seed = arguments.integer("seed", 0, greatest_seed))
        overrides.push_back({"plan.seed", fmt::format("{}", *seed)});
    return overrides;
}

}  // namespace

model::Plan plan_of(const Arguments& arguments, std::size_t which_argument) {
    return input::read_plan(arguments.positional().at(which_argument), overrides_of(arguments));
}

model::Plan plan_on_all_ranks(const Arguments& arguments, parallel::Communicator& communicator,
                              const std::vector<input::Override>& more) {
    model::Plan plan;
    parallel::on_all_ranks(communicator, [&] {
        std::vector<input::Override> overrides = overrides_of(arguments);
        overrides.insert(overrides.end(), more.begin(), more.end());
        plan = input::read_plan(arguments.positional().at(0), overrides);
    });
    return plan;
}

std::vector<Option> trial_options() {
    return {
        {"trials", "N", "histories of each failure variant; exactly so many without --half-width",
         "rehearsal.trials of the plan; chain file: 10000"},
        {"half-width", "W",
         "go on until the 95 % interval of the useful share (of every measure of a chain file) is +- W: 0.5% of its "
         "value, or 0.002",
         "none"}};
}

std::int64_t top_of(const Arguments& arguments, std::int64_t usual) {
    constexpr std::int64_t most = 100'000;
    return arguments.integer("top", 1, most).value_or(usual);
}

study::StopRule stop_rule_of(const Arguments& arguments) {
    study::StopRule rule;
    rule.trials = arguments.integer("trials", 1, study::StopRule::most_trials);
    if (!arguments.has("half-width")) return rule;
    std::string text = arguments.text("half-width");
    const bool relative = text.ends_with('%');
    if (relative) text.pop_back();
    const auto value = to_number(text);
    constexpr double hundred = 100.0;
    if (!value || *value <= 0.0 || *value >= (relative ? hundred : 1.0))
        throw_usage_error("--half-width", fmt::format("\"{}\" cannot be used", arguments.text("half-width")),
                          "a share of the value like 0.5%, or a plain number between 0 and 1 like 0.002");
    (relative ? rule.relative_half_width : rule.absolute_half_width) = relative ? *value / hundred : *value;
    return rule;
}

}  // namespace windtunnel::app
