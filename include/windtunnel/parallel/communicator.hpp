#pragma once
/// The ranks of a run: MPI when a launcher started several, else one process without a single MPI call.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace windtunnel::parallel {

struct Message {
    int source = 0;
    int tag = 0;
    std::string bytes;
};

/// A value that owns MPI. All calls from the thread that made it. Waiting polls and sleeps (50 us), it never spins:
/// a waiting rank leaves its core to others.
class Communicator {
public:
    static constexpr int any_source = -1;

    /// One process; no MPI.
    Communicator();
    /// MPI_Init if the environment says that an MPI launcher started this process, else one process. Throws
    /// base::RunError when a launcher started several processes that do not know each other.
    [[nodiscard]] static Communicator start();

    Communicator(Communicator&&) noexcept;
    Communicator& operator=(Communicator&&) noexcept;
    ~Communicator();  ///< MPI_Finalize

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] bool is_root() const noexcept { return rank_ == 0; }
    /// Ranks of this host that share this rank's cores, itself included.
    [[nodiscard]] int ranks_on_same_cores() const noexcept { return ranks_on_same_cores_; }

    /// Returns when the receiver has taken it or MPI has copied it. Any length.
    void send(int destination, int tag, std::string_view bytes);
    /// The next message from `source`, if one is there. Messages of one source come in the order of their sending.
    [[nodiscard]] std::optional<Message> try_receive(int source = any_source);
    /// Waits for the next message.
    [[nodiscard]] Message receive();

    /// Ends all ranks at once with this exit code; the last resort.
    [[noreturn]] void abort(int exit_code);

private:
    struct Mpi;
    int rank_ = 0;
    int size_ = 1;
    int ranks_on_same_cores_ = 1;
    std::unique_ptr<Mpi> mpi_;
};

/// Pause between two polls.
inline constexpr std::chrono::microseconds poll_pause{50};

/// What the environment says about how this process was started.
enum class Launch {
    alone,       ///< no launcher: one process
    mpi,         ///< an MPI launcher: MPI_Init
    singletons,  ///< a launcher started several processes and gave them nothing to find each other with
    doubtful     ///< a job with several tasks, and this looks like its batch script: one process, with a warning
};
/// `variable` gives the value of an environment variable, nullptr without one.
[[nodiscard]] Launch launch_kind(const char* (*variable)(const char* name));

/// Number of processes that the launcher says it started: OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_STEP_NUM_TASKS; 0: it
/// says nothing.
[[nodiscard]] int launched_processes(const char* (*variable)(const char* name));

/// Name and version of the MPI library that this program was built with; makes no MPI call.
[[nodiscard]] std::string mpi_version();

}  // namespace windtunnel::parallel
