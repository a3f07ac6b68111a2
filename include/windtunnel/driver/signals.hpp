#pragma once
/// Signals of a run.
///
/// SIGUSR1: no new block; the blocks in hand finish; exit 75 (stop_requested() at rank 0). A batch system may send it
///          before a run begins or after its last block: await_stop() keeps the first and outlives the second.
/// SIGTERM, SIGINT: at once. Rank 0 syncs the journal, removes lock and half-written files and exits 75 without MPI
///                  (1 without an output: nothing can be resumed); other ranks exit 75.
/// SIGCONT: ignored (mpirun sends it before SIGTERM). SIGXFSZ: ignored, so that a file size limit is an error of
/// write().
#include <string>
#include <vector>

namespace windtunnel::driver {

enum class SignalRole { root, worker };

/// From now on SIGUSR1 is only noted: the next SignalGuard's run stops at once. For main(), before anything else.
void await_stop() noexcept;

/// Handlers while it lives; the old ones come back, and a noted stop is forgotten, when it goes. One at a time in a
/// process: a signal handler can only reach process-wide state, which therefore stands in signals.cpp.
class SignalGuard {
public:
    explicit SignalGuard(SignalRole role);
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;
    ~SignalGuard();

    /// There is an output, so SIGTERM ends with 75; it removes these files. Once in the life of a guard.
    void guard_files(const std::vector<std::string>& removed_on_term);
    /// What SIGTERM syncs. The descriptor must stay open until release_journal().
    void guard_journal(int descriptor) noexcept;
    void release_journal() noexcept;
};

[[nodiscard]] bool stop_requested() noexcept;

}  // namespace windtunnel::driver
