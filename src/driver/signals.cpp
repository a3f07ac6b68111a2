#include "windtunnel/driver/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "windtunnel/base/contracts.hpp"

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
    std::atomic<bool> has_output{false};
    std::array<std::array<char, 4096>, 4> removed_on_term{};
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
    const char kept[] = "\nwindtunnel: interrupted; continue with --resume, or repeat the gather\n";
    const char lost[] = "\nwindtunnel: interrupted; nothing was kept (no --output)\n";
    if (!state.has_output.load()) {
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, lost, sizeof lost - 1);
        ::_exit(1);
    }
    if (const int journal = state.journal.load(); journal >= 0) ::fdatasync(journal);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kept, sizeof kept - 1);
    for (const auto& path : state.removed_on_term)
        if (path[0] != '\0') ::unlink(path.data());
    ::_exit(exit_interrupted);
}

const std::array<Entry, 5> entries{
    {{SIGUSR1, on_stop}, {SIGTERM, on_terminate}, {SIGINT, on_terminate}, {SIGCONT, SIG_IGN}, {SIGXFSZ, SIG_IGN}}};

}  // namespace

void await_stop() noexcept {
    struct sigaction action {};
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
}

SignalGuard::SignalGuard(SignalRole role) {
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
    state.has_output.store(false);
    for (std::size_t index = 0; index < entries.size(); ++index)
        ::sigaction(entries[index].signal, &state.before[index], nullptr);
    for (auto& path : state.removed_on_term) path.fill('\0');
    state.stop.store(false);
}

void SignalGuard::guard_files(const std::vector<std::string>& removed_on_term) {
    base::expects(removed_on_term.size() <= state.removed_on_term.size(), "a place for each file");
    for (std::size_t i = 0; i < removed_on_term.size(); ++i)
        if (removed_on_term[i].size() < state.removed_on_term[i].size())
            std::memcpy(state.removed_on_term[i].data(), removed_on_term[i].data(), removed_on_term[i].size());
    state.has_output.store(true);
}

void SignalGuard::guard_journal(int descriptor) noexcept {
    state.journal.store(descriptor);
}

void SignalGuard::release_journal() noexcept {
    state.journal.store(-1);
}

bool stop_requested() noexcept {
    return state.stop.load();
}

}  // namespace windtunnel::driver
