#include "windtunnel/rehearse/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::rehearse {

namespace {

constexpr std::uint32_t step_time_factors = 0xB000'0000;   ///< random stream of this room
constexpr double normal_quantile_95 = 1.6448536269514722;  ///< a 90 % interval reaches from 5 % to 95 %
constexpr double confidence = 0.95;

std::array<Quantile, 4> quantiles(const base::QuantileSketch& sketch, double finished_fraction) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::array<Quantile, 4> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double fraction = quantile_fractions[i];
        all[i] = {fraction, unknown, {unknown, unknown}, true};
        if (sketch.count() == 0) continue;
        all[i] = {fraction, sketch.quantile(fraction), sketch.interval(fraction, confidence),
                  fraction <= finished_fraction};
    }
    return all;
}

}  // namespace

std::int64_t num_steps(double tokens, double tokens_per_step) {
    base::expects(tokens > 0.0 && tokens_per_step > 0.0, "tokens to train on");
    return static_cast<std::int64_t>(std::min(std::ceil(tokens / tokens_per_step), 9e15));
}

Campaign campaign(avail::JobOnCluster job, double tokens, double tokens_per_step, double step_time_error_90) {
    job.num_steps = num_steps(tokens, tokens_per_step);
    return {std::move(job), tokens, tokens_per_step, step_time_error_90};
}

Outcome outcome(const Campaign& campaign, std::uint64_t seed, std::uint64_t trial) {
    Outcome result;
    if (campaign.step_time_error_90 > 0.0) {
        base::Draws draws{base::RandomStream{seed, step_time_factors, trial}};
        const double sigma = std::log1p(campaign.step_time_error_90) / normal_quantile_95;
        avail::JobOnCluster job = campaign.job;
        job.step_time *= base::lognormal(draws, sigma, 1.0);
        result.history = avail::history(job, seed, trial);
        result.tokens = result.history.useful / job.step_time * campaign.tokens_per_step;
    } else {
        result.history = avail::history(campaign.job, seed, trial);
        result.tokens = result.history.useful / campaign.job.step_time * campaign.tokens_per_step;
    }
    // The last step may hold more tokens than are left to train on.
    if (campaign.tokens > 0.0)
        result.tokens = result.history.finished ? campaign.tokens : std::min(result.tokens, campaign.tokens);
    return result;
}

void Summary::add(const Outcome& outcome) {
    histories.add(outcome.history);
    tokens.add(outcome.tokens);
}

void Summary::merge(const Summary& other) {
    histories.merge(other.histories);
    tokens.merge(other.tokens);
}

void Summary::pack(base::Packer& packer) const {
    histories.pack(packer);
    tokens.pack(packer);
}

Summary Summary::unpack(base::Unpacker& unpacker) {
    Summary summary;
    summary.histories = avail::Summary::unpack(unpacker);
    summary.tokens = avail::Distribution::unpack(unpacker);
    return summary;
}

std::array<Quantile, 4> Summary::time_to_tokens_s() const {
    const double finished = 1.0 - static_cast<double>(histories.num_unfinished) /
                                      static_cast<double>(std::max<std::uint64_t>(num_trials(), 1));
    return quantiles(histories.wall_s.sketch, finished);
}

std::array<Quantile, 4> Summary::goodput() const {
    return quantiles(histories.goodput.sketch, 1.0);
}

std::array<Quantile, 4> Summary::tokens_trained() const {
    return quantiles(tokens.sketch, 1.0);
}

Summary evaluate(const Campaign& campaign, std::uint64_t seed, avail::TrialRange trials) {
    Summary summary;
    for (std::uint64_t trial = trials.begin; trial < trials.end; ++trial) summary.add(outcome(campaign, seed, trial));
    return summary;
}

}  // namespace windtunnel::rehearse
