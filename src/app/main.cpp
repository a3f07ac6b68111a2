#include <csignal>
#include <iostream>

#include "windtunnel/app/command_line.hpp"
#include "windtunnel/driver/signals.hpp"

int main(int argc, char** argv) {
    using namespace windtunnel;
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
