#pragma once
/// Signals of a run.
///
/// SIGUSR1: no new block; the blocks in hand finish; exit 75 (stop_requested() at rank 0).
/// SIGTERM, SIGINT: at once. Rank 0 syncs the journal, frees the lock and exits 75 without MPI (1 without a journal:
///                  nothing can be resumed); other ranks exit 75.
/// SIGCONT: ignored (mpirun sends it before SIGTERM). SIGXFSZ: ignored, so that a file size limit is an error of
/// write().
#include <string>

namespace windtunnel::driver {

enum class SignalRole { root, worker };

/// Handlers while it lives; the old ones come back with it. One at a time in a process: a signal handler can only
/// reach process-wide state, which therefore stands in signals.cpp.
class SignalGuard {
public:
    explicit SignalGuard(SignalRole role);
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;
    ~SignalGuard();

    /// What SIGTERM syncs and frees. The journal's descriptor must stay open until release_journal().
    void guard_journal(int descriptor, const std::string& lock_path);
    void release_journal() noexcept;
};

[[nodiscard]] bool stop_requested() noexcept;

}  // namespace windtunnel::driver
