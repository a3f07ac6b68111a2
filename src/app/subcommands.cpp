#include "windtunnel/app/commands.hpp"

namespace windtunnel::app {

std::vector<Subcommand> subcommands() {
    return {{check_command(), run_check},
            {import_command(), run_import},
            {compare_command(), run_compare},
            {show_command(), run_show},
            {list_command(), run_list}};
}

}  // namespace windtunnel::app
