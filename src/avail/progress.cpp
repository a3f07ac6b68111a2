#include "windtunnel/avail/progress.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::avail {

Progress::Progress(const JobOnCluster& job) noexcept
    : step_{job.step_time.value()},
      interval_{checkpoint_interval(job).value()},
      write_{job.checkpoint_write.value()},
      background_{job.checkpoint_background.value()},
      total_{std::numeric_limits<double>::infinity()} {
    if (job.num_steps) {
        total_ = static_cast<double>(*job.num_steps) * step_;
        // Steps of the last interval: 1 .. checkpoint_steps, so that no checkpoint follows the end of the work.
        const std::int64_t per_interval = job.checkpoint_steps.value_or(std::max<std::int64_t>(*job.num_steps, 1));
        last_interval_ = *job.num_steps > 0 ? (*job.num_steps - 1) / per_interval : 0;
        last_work_ = static_cast<double>(*job.num_steps - last_interval_ * per_interval) * step_;
        finished_ = *job.num_steps <= 0;
    }
    if (!job.checkpoint_steps) interval_ = 0.0, last_interval_ = 0, last_work_ = total_;  // one interval, the last
}

double Progress::time_to_finish(double slowdown) const noexcept {
    if (finished_) return 0.0;
    if (in_last_interval()) return (last_work_ - since_) * slowdown;
    const double whole = static_cast<double>(last_interval_ - intervals_);
    return whole * (interval_ * slowdown + write_) + last_work_ * slowdown - since_ * slowdown - written_;
}

void Progress::write(double wall) noexcept {
    const double left = write_ - written_;
    if (wall < left) {
        written_ += wall;
        checkpoint_time_ += wall;
        return;
    }
    checkpoint_time_ += left;
    ++checkpoints_;
    ++intervals_;
    since_ = written_ = 0.0;
    writing_ = false;
    fresh_ = true;
}

void Progress::run(double wall, double slowdown) noexcept {
    while (wall > 0.0 && !finished_) {
        if (writing_) {
            const double left = write_ - written_;
            write(wall);
            wall -= left;
            continue;
        }
        if (in_last_interval()) {
            const double left = last_work_ - since_;
            if (wall >= left * slowdown) {
                finish(slowdown);
            } else {
                compute(std::min(wall / slowdown, left), slowdown);
            }
            return;
        }
        const double cycle = interval_ * slowdown + write_;
        if (since_ == 0.0 && wall >= cycle) {
            // Whole cycles at once: exact, because nothing happens in between.
            const double possible = static_cast<double>(last_interval_ - intervals_);
            const double cycles = std::min(std::floor(wall / cycle), possible);
            slowed_ += cycles * interval_ * (slowdown - 1.0);
            checkpoint_time_ += cycles * write_;
            intervals_ += static_cast<std::int64_t>(cycles);
            checkpoints_ += static_cast<std::uint64_t>(cycles);
            fresh_ = fresh_ || cycles > 0.0;
            wall -= cycles * cycle;
            continue;
        }
        const double left = interval_ - since_;
        if (wall < left * slowdown) {
            compute(std::min(wall / slowdown, left), slowdown);
            return;
        }
        slowed_ += left * (slowdown - 1.0);
        since_ = interval_;
        writing_ = true;
        wall -= left * slowdown;
        if (write_ == 0.0) write(0.0);
    }
}

void Progress::finish(double slowdown) noexcept {
    if (finished_) return;
    if (writing_) write(write_ - written_);
    if (!in_last_interval()) {
        const double whole = static_cast<double>(last_interval_ - intervals_);
        slowed_ += (whole * interval_ - since_) * (slowdown - 1.0);
        checkpoint_time_ += whole * write_;
        checkpoints_ += static_cast<std::uint64_t>(last_interval_ - intervals_);
        intervals_ = last_interval_;
        since_ = 0.0;
    }
    slowed_ += (last_work_ - since_) * (slowdown - 1.0);
    since_ = last_work_;
    finished_ = true;
}

double Progress::lose_since_checkpoint(double slowdown) noexcept {
    const bool incomplete = fresh_ && intervals_ > 0 && !writing_ && since_ * slowdown < background_;
    return lose_to(incomplete ? intervals_ - 1 : intervals_);
}

double Progress::lose_to(std::int64_t intervals) noexcept {
    const double lost = since_ + static_cast<double>(intervals_ - std::min(intervals, intervals_)) * interval_;
    intervals_ = std::min(intervals, intervals_);
    since_ = written_ = 0.0;
    writing_ = fresh_ = false;
    return lost;
}

double Progress::lose_step() noexcept {
    written_ = 0.0;
    if (writing_) return 0.0;  // at the end of a step
    const double kept = std::floor(since_ / step_) * step_;
    const double lost = std::max(0.0, since_ - kept);
    since_ = std::min(since_, kept);
    return lost;
}

}  // namespace windtunnel::avail
