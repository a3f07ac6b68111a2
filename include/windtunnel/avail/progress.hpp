#pragma once
/// How far a job is: steps done, the last checkpoint, and what running for a while adds. No failures here.
/// Model:   equal intervals of whole steps, a blocking checkpoint after each but the last.
#include <cstdint>
#include <limits>

#include "windtunnel/avail/job.hpp"

namespace windtunnel::avail {

/// Work advances in intervals with a blocking checkpoint after each but the last.
class Progress {
public:
    explicit Progress(const JobOnCluster& job) noexcept;

    /// Wall time until the work is done if nothing happens; steps take `slowdown` (>= 1) times as long.
    [[nodiscard]] double time_to_finish(double slowdown) const noexcept;
    /// Runs for `wall` seconds, at most until the work is done.
    void run(double wall, double slowdown) noexcept;
    /// Runs to the end of the work.
    void finish(double slowdown) noexcept;

    /// Rolls back to the last complete checkpoint or to the beginning of the step; gives the seconds of work lost.
    double lose_since_checkpoint(double slowdown = 1.0) noexcept;
    /// Rolls back to the checkpoint after so many intervals, not later than the last one.
    double lose_to(std::int64_t intervals) noexcept;
    double lose_step() noexcept;
    /// A checkpoint under way is begun anew.
    void abandon_write() noexcept { written_ = 0.0; }

    [[nodiscard]] double work_done() const noexcept {  ///< seconds at full speed that still count
        return finished_ ? total_ : static_cast<double>(intervals_) * interval_ + since_;
    }
    /// Intervals behind the last checkpoint.
    [[nodiscard]] std::int64_t intervals() const noexcept { return intervals_; }
    [[nodiscard]] bool finished() const noexcept { return finished_; }
    [[nodiscard]] std::uint64_t checkpoints() const noexcept { return checkpoints_; }
    [[nodiscard]] double slowed() const noexcept { return slowed_; }  ///< seconds added by slowdowns so far
    [[nodiscard]] double checkpoint_time() const noexcept { return checkpoint_time_; }

private:
    [[nodiscard]] bool in_last_interval() const noexcept { return intervals_ >= last_interval_; }
    void compute(double work, double slowdown) noexcept {
        since_ += work;
        slowed_ += work * (slowdown - 1.0);
    }
    void write(double wall) noexcept;

    double step_, interval_, write_, background_, total_;         ///< seconds; total_ may be infinite
    std::int64_t last_interval_ = std::int64_t{1} << 62;          ///< number of intervals before it
    double last_work_ = std::numeric_limits<double>::infinity();  ///< work of the last interval
    std::int64_t intervals_ = 0;                                  ///< behind the last complete checkpoint
    double since_ = 0.0;                                          ///< work since then
    double written_ = 0.0;                                        ///< of the checkpoint under way
    bool writing_ = false, finished_ = false;
    bool fresh_ = false;  ///< the last checkpoint was written since the last rollback: perhaps not complete yet
    std::uint64_t checkpoints_ = 0;
    double slowed_ = 0.0, checkpoint_time_ = 0.0;
};

}  // namespace windtunnel::avail
