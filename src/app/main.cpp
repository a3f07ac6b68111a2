#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "windtunnel/app/command_line.hpp"
#include "windtunnel/driver/signals.hpp"

namespace {

/// Threads that wait for the next block must sleep: on a machine that others use too, the spinning of the OpenMP
/// runtime made a search ten times slower. The runtime reads its wait policy when the program is loaded, so the program
/// starts itself once more with the policy set, unless somebody chose one. Where that fails the program goes on as it
/// is.
void sleep_while_waiting(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || ::setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
    std::error_code none;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", none).string();
    if (!program.empty()) ::execv(program.c_str(), argv);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace windtunnel;
    sleep_while_waiting(argv);
    // A closed pipe behind stdout must not end a run that still has a file to write.
    std::signal(SIGPIPE, SIG_IGN);
    driver::await_stop();
    try {
        parallel::Communicator communicator = parallel::Communicator::start();
        std::ostream nowhere{nullptr};  // of all ranks but the first
        const std::vector<std::string> words(argv + 1, argv + argc);
        const bool root = communicator.is_root();
        return static_cast<int>(
            app::run_command_line(words, root ? std::cout : nowhere, root ? std::cerr : nowhere, communicator));
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << std::endl;
        return static_cast<int>(app::ExitCode::failed);
    }
}
