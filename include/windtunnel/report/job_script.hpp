#pragma once
/// A job script for Slurm that fits the size of a run.
#include <optional>
#include <string>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::report {

/// What a node offers, and how long a run should take.
struct JobWish {
    int cores_per_node = 64;
    std::optional<int> nodes;          ///< empty: as few as keep the run within `wanted`
    Seconds wanted = Seconds{3600.0};  ///< wall clock of the run, without waiting in the queue
};

/// Where and how long a run goes.
///
/// Model:   core time over cores x 0.9; the limit asked for is one and a half times that and ten minutes, in whole
///          minutes; ranks of eight threads, because threads of a rank share memory and ranks share messages.
/// Inputs:  core_time >= 0; cores_per_node >= 1. Returns: at least one node, rank and thread.
/// Limits:  nodes <= 1,024: beyond that the hand-out of blocks is the bottleneck (docs/performance.md).
/// Source:  the driver's measured efficiency; margins are chosen here.
struct JobSize {
    int nodes = 1, ranks_per_node = 1, threads_per_rank = 1;
    Seconds run_time;
    int limit_minutes = 10;
};
[[nodiscard]] JobSize job_size(Seconds core_time, const JobWish& wish) noexcept;
inline constexpr int most_nodes = 1024;

/// The script: runs `windtunnel command plan -o result`, stops in good order before the limit, comes back and resumes.
/// Words are quoted for the shell. `items` and the sizes stand in a comment.
[[nodiscard]] std::string job_script(const std::string& command, const std::string& plan, const std::string& result,
                                     const std::string& items, const JobSize& size);

/// 'text', safe as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace windtunnel::report
