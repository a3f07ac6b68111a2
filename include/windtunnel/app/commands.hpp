#pragma once
/// Each subcommand: its options, and what runs it. One body per file in src/app.
#include "windtunnel/app/command_line.hpp"
#include "windtunnel/app/common_options.hpp"

namespace windtunnel::app {

[[nodiscard]] Command check_command();
[[nodiscard]] Command train_command();
[[nodiscard]] Command show_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command list_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command export_command();
[[nodiscard]] Command gather_command();
[[nodiscard]] Command search_command();
[[nodiscard]] Command avail_command();
[[nodiscard]] Command rehearse_command();
[[nodiscard]] Command serve_command();
[[nodiscard]] Command validate_command();

[[nodiscard]] ExitCode run_check(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_train(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_show(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_compare(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_list(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_export(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_gather(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_search(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_avail(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_rehearse(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_serve(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_validate(const Arguments& arguments, Context& context);
[[nodiscard]] ExitCode run_import(const Arguments& arguments, Context& context);

}  // namespace windtunnel::app
