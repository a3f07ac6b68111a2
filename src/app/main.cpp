#include <csignal>
#include <iostream>

#include "windtunnel/app/command_line.hpp"

int main(int argc, char** argv) {
    // A closed pipe behind stdout must not end a run that still has a file to write.
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    return static_cast<int>(windtunnel::app::run_command_line(words, std::cout, std::cerr));
}
