#pragma once
/// A training campaign: tokens to train on, a step time, and a job whose parts fail. Time to the last token.
/// Model:   whole steps that cover the tokens, each trial one history of avail.
#include <array>
#include <cstdint>
#include <span>

#include "windtunnel/avail/summary.hpp"

namespace windtunnel::rehearse {

struct Campaign {
    avail::JobOnCluster job;  ///< its num_steps are those of the campaign: see campaign()
    double tokens = 0.0;      ///< to train on; 0: as many as the horizon allows
    double tokens_per_step = 0.0;
    /// Half-width of the 90 % interval of the step time, relative. Above 0: each trial draws one factor for all its
    /// steps, lognormal with median 1. 0: the step time is taken as it is.
    double step_time_error_90 = 0.0;
};

/// Whole steps that cover the tokens: rounded up.
[[nodiscard]] std::int64_t num_steps(double tokens, double tokens_per_step);

/// Sets the steps of the job. Expects tokens > 0 and tokens_per_step > 0.
[[nodiscard]] Campaign campaign(avail::JobOnCluster job, double tokens, double tokens_per_step,
                                double step_time_error_90 = 0.0);

/// One trial.
struct Outcome {
    avail::History history;
    double tokens = 0.0;  ///< trained on, at the end or at the horizon
};

/// Pure function of its arguments. Without failures, and without an error of the step time, the wall time is
/// num_steps x step time to the bit; checkpoints are added only where the job has them, and avail::jobs_on_cluster
/// gives it none without failures unless the plan names an interval.
[[nodiscard]] Outcome outcome(const Campaign& campaign, std::uint64_t seed, std::uint64_t trial);

/// A quantile over trials with its distribution-free 95 % interval.
struct Quantile {
    double fraction = 0.0;
    double value = 0.0;
    base::QuantileInterval interval;
    bool finished = true;  ///< false: so many trials met the horizon that the value is only a lower bound
};
inline constexpr std::array<double, 4> quantile_fractions{0.10, 0.50, 0.90, 0.99};

/// Many trials, mergeable and packable.
struct Summary {
    avail::Summary histories;    ///< histories.wall_s is the time to the last token
    avail::Distribution tokens;  ///< trained on, at the end or at the horizon

    void add(const Outcome& outcome);
    void merge(const Summary& other);
    [[nodiscard]] std::uint64_t num_trials() const noexcept { return histories.num_trials(); }
    void pack(base::Packer& packer) const;
    [[nodiscard]] static Summary unpack(base::Unpacker& unpacker);  ///< throws base::PackError
    friend bool operator==(const Summary&, const Summary&) = default;

    /// NaN without trials. Trials that met the horizon count as longer than every finished one.
    [[nodiscard]] std::array<Quantile, 4> time_to_tokens_s() const;
    [[nodiscard]] std::array<Quantile, 4> goodput() const;
    [[nodiscard]] std::array<Quantile, 4> tokens_trained() const;
};

/// The trials of a range, in order.
[[nodiscard]] Summary evaluate(const Campaign& campaign, std::uint64_t seed, avail::TrialRange trials);

}  // namespace windtunnel::rehearse
