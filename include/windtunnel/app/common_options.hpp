#pragma once
/// Options that several subcommands share, and what they mean.
#include <string>
#include <vector>

#include "windtunnel/app/options.hpp"
#include "windtunnel/model/plan.hpp"

namespace windtunnel::app {

[[nodiscard]] std::vector<Option> plan_options();   ///< --set, --seed
[[nodiscard]] std::vector<Option> print_options();  ///< --json, --quiet, --log-level, --help
[[nodiscard]] std::vector<Option> run_options();    ///< --output, --resume, --overwrite, --part, --threads, ...
[[nodiscard]] Option top_option(const std::string& default_text);

/// Lists, one behind the other.
[[nodiscard]] std::vector<Option> together(std::vector<std::vector<Option>> lists);

/// The plan of the first argument with --set and --seed. Throws base::InputError.
[[nodiscard]] model::Plan plan_of(const Arguments& arguments);

}  // namespace windtunnel::app
