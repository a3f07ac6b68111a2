#pragma once
/// When the next member of a job fails, and to which class it belongs: many renewal processes as one clock.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "windtunnel/avail/job.hpp"
#include "windtunnel/base/philox.hpp"

namespace windtunnel::avail {

/// Exact superposition of the lives of all members, each with its own age.
///
/// Model:   Exponential classes run on one clock with their total rate; a failure of a member that is out of service
///          is thinned away. Of the other classes only the members that can fail next are looked at: n fresh members
///          fail in the order of order statistics, cumulative hazard of the k-th = that of the one before + an
///          exponential of mean 1/(n - k + 1); a renewed member gets a life of its own in a heap.
/// Inputs:  times are readings of an age clock in seconds, which the owner advances and never turns back.
/// Limits:  at reading 0 all members are new, or have the ages of a fleet that has been renewed for long.
/// Source:  Renyi, Acta Mathematica Hungarica 4, 1953 (order statistics); superposition and thinning: any text on
///          point processes.
class FailureClock {
public:
    FailureClock(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial);

    /// Reading at which something may fail; infinite when nothing can.
    [[nodiscard]] double next() const noexcept { return next_; }

    /// Takes that event. The class of the member that failed and is out of service from now on; empty: thinned away.
    [[nodiscard]] std::optional<std::size_t> take();

    /// A member of the class is in service again, new, at reading `now`.
    void renew(std::size_t component, double now);

private:
    struct Memoryless {
        std::size_t component;
        double members, rate_up_to;  ///< rate of this and all earlier classes
        std::uint64_t out = 0;
    };
    struct Ageing {
        std::size_t component;
        model::Law law;
        base::Draws draws;
        bool aged;            ///< first failures by the law of what is left of a life
        std::uint64_t fresh;  ///< members that have not failed yet
        double hazard = 0.0;  ///< cumulative, of the latest failure among the fresh
        double next_fresh = 0.0;
        std::vector<double> renewed;  ///< min-heap of readings at which renewed members fail
    };

    void schedule_memoryless() noexcept;
    void schedule_fresh(Ageing& ageing) noexcept;
    void find_next() noexcept;

    double total_rate_ = 0.0;
    double next_memoryless_ = 0.0;
    base::Draws draws_;
    std::vector<Memoryless> memoryless_;
    std::vector<Ageing> ageing_;
    std::vector<std::pair<bool, std::size_t>> place_;  ///< by class: is it memoryless, index there
    double next_ = 0.0;
    std::size_t next_ageing_ = 0;  ///< index in ageing_; its size: the memoryless clock is next
};

}  // namespace windtunnel::avail
