#pragma once
/// Options that several subcommands share, and what they mean.
#include <string>
#include <vector>

#include "windtunnel/app/options.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/model/plan.hpp"
#include "windtunnel/parallel/communicator.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::app {

[[nodiscard]] std::vector<Option> plan_options();   ///< --set, --seed
[[nodiscard]] std::vector<Option> print_options();  ///< --json, --quiet, --log-level, --help
[[nodiscard]] std::vector<Option> run_options();    ///< --output, --resume, --overwrite, --part, --threads, ...
/// The same for a command without a plan.
[[nodiscard]] std::vector<Option> run_options_without_dry_run();
[[nodiscard]] Option top_option(const std::string& default_text);

/// Lists, one behind the other.
[[nodiscard]] std::vector<Option> together(std::vector<std::vector<Option>> lists);

/// The plan of an argument with --set and --seed. Throws base::InputError.
[[nodiscard]] model::Plan plan_of(const Arguments& arguments, std::size_t which_argument = 0);
/// The same on every rank; an error of any rank is thrown on all. `more`: overrides beyond --set.
[[nodiscard]] model::Plan plan_on_all_ranks(const Arguments& arguments, parallel::Communicator& communicator,
                                            const std::vector<input::Override>& more = {});

/// --trials and --half-width. Throws base::InputError.
[[nodiscard]] study::StopRule stop_rule_of(const Arguments& arguments);
[[nodiscard]] std::vector<Option> trial_options();
/// --top, or what is usual.
[[nodiscard]] std::int64_t top_of(const Arguments& arguments, std::int64_t usual);

}  // namespace windtunnel::app
