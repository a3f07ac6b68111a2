#pragma once
/// Monte Carlo trials of one job under each of its failure variants: what `avail` and `rehearse` share.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/avail/exact.hpp"
#include "windtunnel/avail/summary.hpp"
#include "windtunnel/model/plan.hpp"
#include "windtunnel/store/table.hpp"
#include "windtunnel/study/study.hpp"

namespace windtunnel::study {

/// When enough trials have run. `trials` alone: exactly so many. With a half-width: at least `trials` (default one
/// round), and until the 95 % interval of the mean useful share is narrow enough for every variant, at most
/// `most_trials`.
struct StopRule {
    std::optional<std::int64_t> trials;
    std::optional<double> relative_half_width;  ///< of the mean
    std::optional<double> absolute_half_width;
    static constexpr std::int64_t most_trials = 10'000'000;

    [[nodiscard]] bool looks_at_results() const noexcept { return relative_half_width || absolute_half_width; }
};

/// Phases of the wall clock, in the order of avail::History.
enum class WallPhase { useful, slowed, checkpoint, lost, detection, recovery, waiting };
inline constexpr int num_wall_phases = 7;
[[nodiscard]] std::string to_text(WallPhase phase);

/// Partial result and state alike: a summary of every variant.
struct TrialSums {
    std::vector<avail::Summary> variants;
    void merge(const TrialSums& other);
    void pack(base::Packer& packer) const;
    [[nodiscard]] static TrialSums unpack(base::Unpacker& unpacker);
};

/// What people ask of one variant; intervals are 95 %.
struct Estimate {
    double mean = 0.0, standard_error = 0.0, low = 0.0, high = 0.0;
};
struct QuantileEstimate {
    double fraction = 0.0, value = 0.0, low = 0.0, high = 0.0;
    bool finished = true;  ///< false: so many trials were given up before their work was done that it is a lower bound
};
struct CauseAnswer {
    std::string name;
    Estimate failures;     ///< per trial
    Estimate time_lost_s;  ///< per trial
};
struct VariantAnswer {
    std::string name;  ///< "components" where the plan has component classes, "none" without failures
    avail::JobOnCluster job;
    std::uint64_t trials = 0, unfinished = 0;
    Estimate wall_s, useful_share, available_share, stops;
    double fewest_spares = 0.0;  ///< mean over trials
    double mean_spares = 0.0;    ///< level of the pool over time, mean over trials
    double without_spare = 0.0;  ///< share of time with an empty pool
    std::array<Estimate, num_wall_phases> phase_s;
    std::vector<QuantileEstimate> wall_quantiles_s, share_quantiles;
    std::vector<CauseAnswer> causes;
    Seconds failure_free_s;      ///< wall clock without failures; NaN where only a horizon is given
    avail::ExactOrReason exact;  ///< the long run of a Markov job, or why there is no such answer
    bool half_width_reached = true;
};

/// Step time and size of one layout turned into a job for each failure variant of the plan.
class TrialJobs {
public:
    TrialJobs(const model::Plan& plan, const model::Layout& layout, Seconds step_time);

    [[nodiscard]] const std::vector<avail::JobOnCluster>& jobs() const noexcept { return jobs_; }
    [[nodiscard]] TrialSums nothing() const;
    /// Item i is trial i / variants of variant i % variants.
    [[nodiscard]] TrialSums run(std::uint64_t seed, ItemRange items) const;

private:
    std::vector<avail::JobOnCluster> jobs_;
};
[[nodiscard]] std::vector<std::string> variant_names(const model::Plan& plan);
/// Throws base::InputError unless the plan says when a trial ends and the rule makes sense.
void check_trials(const model::Plan& plan, const StopRule& rule);

/// Trials that one thread takes at a time: a quarter of a millisecond of work or more, from the failures that the plan
/// lets expect.
[[nodiscard]] std::uint64_t trials_per_slice(const std::vector<avail::JobOnCluster>& jobs);
/// The next round of trials after those in `sums`, empty when there are enough; 16 slices a block.
[[nodiscard]] std::optional<Round> next_trials(const StopRule& rule, const TrialSums& sums,
                                               const std::vector<avail::JobOnCluster>& jobs, std::uint32_t phase,
                                               std::uint32_t number);
[[nodiscard]] bool narrow_enough(const StopRule& rule, const TrialSums& sums);

[[nodiscard]] std::vector<VariantAnswer> variant_answers(const std::vector<std::string>& names, const TrialJobs& jobs,
                                                         const TrialSums& sums, const StopRule& rule);
/// GROUP/summary, quantiles, causes, phases, job.
[[nodiscard]] std::vector<store::Table> trial_tables(const std::string& group,
                                                     const std::vector<VariantAnswer>& answers,
                                                     const std::vector<std::string>& names);

}  // namespace windtunnel::study
