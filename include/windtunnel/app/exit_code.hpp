#pragma once
/// What the shell sees.

namespace windtunnel::app {

enum class ExitCode : int {
    done = 0,
    failed = 1,        ///< while running; also: outside a limit of `validate`
    wrong_input = 2,   ///< usage or files
    infeasible = 3,    ///< nothing feasible; the result file is written all the same
    interrupted = 75,  ///< the journal holds what is done; --resume goes on
};

}  // namespace windtunnel::app
