#pragma once
/// Many trials of one job as one answer: means with standard errors, quantiles, causes. Mergeable and packable.
/// Model:   normal 95 % intervals of means from mergeable moments; quantiles from a sketch with a bound on its error.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "windtunnel/avail/history.hpp"
#include "windtunnel/base/moments.hpp"
#include "windtunnel/base/quantile_sketch.hpp"

namespace windtunnel::avail {

/// A quantity over trials: mean, standard error and range from the moments, quantiles from the sketch.
struct Distribution {
    base::Moments moments;
    base::QuantileSketch sketch;

    void add(double value) {
        moments.add(value);
        sketch.add(value);
    }
    void merge(const Distribution& other) {
        moments.merge(other.moments);
        sketch.merge(other.sketch);
    }
    void pack(base::Packer& packer) const {
        moments.pack(packer);
        sketch.pack(packer);
    }
    [[nodiscard]] static Distribution unpack(base::Unpacker& unpacker);
    friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Merging in trial order gives fixed bits, however the trials are grouped only up to the rounding of the moments; the
/// study's slices are fixed, so its bits are.
struct Summary {
    Distribution availability;  ///< share of the wall time in which the job ran: not standing still for a failure
    Distribution goodput;       ///< useful / wall
    Distribution wall_s;        ///< of every trial; where unfinished, the time at which it was given up
    Distribution stops;         ///< failures that stopped the job, per trial
    base::Moments useful_s, slowed_s, checkpoint_s, lost_s, detection_s, recovery_s, waiting_s;  ///< phases, per trial
    base::Moments stops_per_day;
    base::Moments fewest_spares;             ///< lowest level of the pool, per trial
    base::Moments mean_spares;               ///< level of the pool over time, per trial
    base::Moments without_spare;             ///< share of time in which the pool is empty
    std::uint64_t num_unfinished = 0;        ///< trials that met the horizon before the end of their work
    std::vector<base::Moments> failures;     ///< by class, per trial
    std::vector<base::Moments> time_lost_s;  ///< by class that caused it, per trial
    std::vector<std::uint64_t> recoveries;   ///< by rung, all trials; the last: restarts

    void add(const History& history);
    void merge(const Summary& other);
    [[nodiscard]] std::uint64_t num_trials() const noexcept { return goodput.moments.count; }
    void pack(base::Packer& packer) const;
    [[nodiscard]] static Summary unpack(base::Unpacker& unpacker);  ///< throws base::PackError
    friend bool operator==(const Summary&, const Summary&) = default;
};

/// Half-open.
struct TrialRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// The trials of a range, in order.
[[nodiscard]] Summary evaluate(const JobOnCluster& job, std::uint64_t seed, TrialRange trials);

/// Half-width of the 95 % interval of a mean: 1.96 standard errors.
[[nodiscard]] double half_width_95(const base::Moments& moments) noexcept;

}  // namespace windtunnel::avail
