#include "windtunnel/driver/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace windtunnel::driver {
namespace {

constexpr int exit_interrupted = 75;

struct Entry {
    int signal;
    void (*handler)(int);
};

/// The state of the handlers.
struct SignalState {
    std::atomic<bool> stop{false};
    std::atomic<bool> is_root{true};
    std::atomic<int> journal{-1};
    std::array<char, 4096> lock_path{};
    std::array<struct sigaction, 5> before{};
};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
SignalState state;

void on_stop(int) {
    state.stop.store(true);
}

/// Async-signal-safe calls only.
void on_terminate(int) {
    if (!state.is_root.load()) ::_exit(exit_interrupted);
    const int journal = state.journal.load();
    const char kept[] = "\nwindtunnel: interrupted; the journal is kept, continue with --resume\n";
    const char lost[] = "\nwindtunnel: interrupted; nothing was kept (no --output)\n";
    if (journal < 0) {
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, lost, sizeof lost - 1);
        ::_exit(1);
    }
    ::fdatasync(journal);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kept, sizeof kept - 1);
    if (state.lock_path[0] != '\0') ::unlink(state.lock_path.data());
    ::_exit(exit_interrupted);
}

const std::array<Entry, 5> entries{
    {{SIGUSR1, on_stop}, {SIGTERM, on_terminate}, {SIGINT, on_terminate}, {SIGCONT, SIG_IGN}, {SIGXFSZ, SIG_IGN}}};

}  // namespace

SignalGuard::SignalGuard(SignalRole role) {
    state.stop.store(false);
    state.is_root.store(role == SignalRole::root);
    for (std::size_t index = 0; index < entries.size(); ++index) {
        struct sigaction action {};
        action.sa_handler = entries[index].handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(entries[index].signal, &action, &state.before[index]);
    }
}

SignalGuard::~SignalGuard() {
    release_journal();
    for (std::size_t index = 0; index < entries.size(); ++index)
        ::sigaction(entries[index].signal, &state.before[index], nullptr);
}

void SignalGuard::guard_journal(int descriptor, const std::string& lock_path) {
    state.lock_path.fill('\0');
    if (lock_path.size() < state.lock_path.size())
        std::memcpy(state.lock_path.data(), lock_path.data(), lock_path.size());
    state.journal.store(descriptor);
}

void SignalGuard::release_journal() noexcept {
    state.journal.store(-1);
}

bool stop_requested() noexcept {
    return state.stop.load();
}

}  // namespace windtunnel::driver
