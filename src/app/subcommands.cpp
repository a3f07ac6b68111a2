#include "windtunnel/app/calibrate.hpp"
#include "windtunnel/app/commands.hpp"

namespace windtunnel::app {

// clang-format off
std::vector<Subcommand> subcommands() {
    using enum Subcommand::Ranks;
    return {
        {check_command(), root, run_check},
        {train_command(), all, run_train},
        {search_command(), all, run_search},
        {avail_command(), all, run_avail},
        {rehearse_command(), all, run_rehearse},
        {serve_command(), all, run_serve},
        {validate_command(), all, run_validate},
        {calibrate_command(), all, run_calibrate},
        {import_command(), root, run_import},
        {export_command(), root, run_export},
        {gather_command(), all, run_gather},
        {compare_command(), root, run_compare},
        {show_command(), root, run_show},
        {list_command(), root, run_list},
    };
}
// clang-format on

}  // namespace windtunnel::app
