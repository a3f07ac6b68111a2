#include "windtunnel/study/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows.hpp"
#include "windtunnel/avail/segment_sensitivity.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/study/long_rounds.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double z_95 = 1.959963984540054;  // normal quantile of 0.975
constexpr std::array fractions{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
constexpr std::int64_t first_round = 500;       // trials of each variant
constexpr std::uint64_t slices_per_block = 16;  // threads of a rank that can work at once

Estimate estimate(const base::Moments& moments) {
    if (moments.count == 0) return {unknown, unknown, unknown, unknown};
    const double error = moments.standard_error(), low = moments.mean - z_95 * error;
    return {moments.mean, error, low < 0.0 ? 0.0 : low, moments.mean + z_95 * error};  // nothing here is negative
}

/// Of a share: the interval ends at 1.
Estimate share_estimate(const base::Moments& moments) {
    Estimate share = estimate(moments);
    if (share.high > 1.0) share.high = 1.0;
    return share;
}

QuantileEstimate quantile(const base::QuantileSketch& sketch, double fraction) {
    if (sketch.count() == 0) return {fraction, unknown, unknown, unknown, true};
    const base::QuantileInterval interval = sketch.interval(fraction, 0.95);
    return {fraction, sketch.quantile(fraction), interval.low, interval.high, true};
}

std::int64_t trials_done(const TrialSums& sums) {
    return sums.variants.empty() ? 0 : static_cast<std::int64_t>(sums.variants.front().num_trials());
}

void put_estimate(Rows& rows, const Estimate& value) {
    rows.real(value.mean).real(value.standard_error).real(value.low).real(value.high);
}

void put_job(Rows& rows, const avail::JobOnCluster& job) {
    const PerSecond rate = avail::stop_rate(job);
    rows.integer(job.num_nodes)
        .integer(job.spare_nodes)
        .real(job.step_time.value())
        .integer(job.num_steps.value_or(-1))
        .real(job.horizon ? job.horizon->value() : unknown)
        .real(avail::checkpoint_interval(job).value())
        .real(job.checkpoint_write.value())
        .real(model::mean(job.restart).value())
        .real(rate.value() > 0.0 ? 1.0 / rate.value() : std::numeric_limits<double>::infinity());
}

void put_sensitivity(Rows& rows, std::int64_t variant, const avail::JobOnCluster& job) {
    for (const avail::InputEffect& effect : avail::segment_sensitivity(job))
        rows.integer(variant)
            .text(effect.input)
            .real(effect.base.value())
            .real(effect.base_share)
            .real(effect.half_share)
            .real(effect.double_share);
}

}  // namespace

std::string to_text(WallPhase phase) {
    switch (phase) {
        case WallPhase::useful:
            return "useful";
        case WallPhase::slowed:
            return "slowed";
        case WallPhase::checkpoint:
            return "checkpoint";
        case WallPhase::lost:
            return "lost";
        case WallPhase::detection:
            return "detection";
        case WallPhase::recovery:
            return "recovery";
        case WallPhase::waiting:
            return "waiting";
    }
    return "";
}

void TrialSums::merge(const TrialSums& other) {
    if (variants.size() < other.variants.size()) variants.resize(other.variants.size());
    for (std::size_t i = 0; i < other.variants.size(); ++i) variants[i].merge(other.variants[i]);
}

void TrialSums::pack(base::Packer& packer) const {
    packer.put(static_cast<std::uint64_t>(variants.size()));
    for (const avail::Summary& variant : variants) variant.pack(packer);
}

TrialSums TrialSums::unpack(base::Unpacker& unpacker) {
    TrialSums sums;
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left)
        sums.variants.push_back(avail::Summary::unpack(unpacker));
    return sums;
}

std::vector<std::string> variant_names(const model::Plan& plan) {
    std::vector<std::string> names;
    for (const model::FailureVariant& variant : plan.failures.variants) names.push_back(variant.name);
    if (names.empty()) names.emplace_back(plan.failures.empty() ? "none" : "components");
    return names;
}

void check_trials(const model::Plan& plan, const StopRule& rule) {
    const auto refuse = [](std::string field, std::string message, std::string expected) {
        throw base::InputError{{{"", 0, 0, std::move(field), std::move(message), std::move(expected)}}};
    };
    if (!plan.training) refuse("train", "the plan has no [train] section", "a [train] section with a layout");
    if (!(plan.training->tokens > 0.0) && !plan.rehearsal.tokens && !plan.rehearsal.horizon)
        refuse("rehearsal.horizon", "nothing says when a trial ends: neither tokens nor a horizon is given",
               "train.tokens, or for example rehearsal.horizon = \"30 d\"");
    if (rule.trials && (*rule.trials < 1 || *rule.trials > StopRule::most_trials))
        refuse("--trials", fmt::format("{} trials cannot be run", *rule.trials),
               fmt::format("1 to {}", StopRule::most_trials));
    for (const auto& half_width : {rule.relative_half_width, rule.absolute_half_width})
        if (half_width && !(*half_width > 0.0 && *half_width < 1.0))
            refuse("--half-width", fmt::format("{} is no half-width of a share", *half_width),
                   "for example 0.5% (of the mean) or 0.005");
}

TrialJobs::TrialJobs(const model::Plan& plan, const model::Layout& layout, Seconds step_time) {
    const int each = std::max(1, plan.cluster.cards_per_node());
    avail::JobSize size;
    size.num_cards = layout.cards;
    size.num_nodes = (layout.cards + each - 1) / each;
    size.spare_nodes = std::max(0, plan.cluster.num_nodes - size.num_nodes);
    size.step_time = step_time;
    size.checkpoint_state = avail::checkpoint_state(plan.transformer);
    const double tokens = plan.rehearsal.tokens.value_or(plan.training->tokens);
    if (tokens > 0.0) {
        const double per_step = static_cast<double>(layout.global_batch_size) * plan.training->sequence_length;
        size.num_steps = static_cast<std::int64_t>(std::clamp(std::ceil(tokens / per_step), 1.0, 9e15));
    }
    size.horizon = plan.rehearsal.horizon;
    jobs_ = avail::jobs_on_cluster(plan.failures, plan.recovery, size);
}

TrialSums TrialJobs::nothing() const {
    TrialSums sums;
    sums.variants.resize(jobs_.size());
    return sums;
}

TrialSums TrialJobs::run(std::uint64_t seed, ItemRange items) const {
    TrialSums sums = nothing();
    for (std::uint64_t item = items.begin; item < items.end; ++item) {
        const std::size_t variant = item % jobs_.size();
        sums.variants[variant].add(avail::history(jobs_[variant], seed, item / jobs_.size()));
    }
    return sums;
}

bool narrow_enough(const StopRule& rule, const TrialSums& sums) {
    for (const avail::Summary& variant : sums.variants) {
        const base::Moments& share = variant.goodput.moments;
        const double half = avail::half_width_95(share);
        if (rule.relative_half_width && half > *rule.relative_half_width * share.mean) return false;
        if (rule.absolute_half_width && half > *rule.absolute_half_width) return false;
    }
    return true;
}

std::uint64_t trials_per_slice(const std::vector<avail::JobOnCluster>& jobs) {
    // Measured on one core: a few microseconds a trial, and about one for each failure (docs/performance.md). The
    // figures decide how work is cut, not what comes out; they must not depend on the machine.
    constexpr double trial_us = 3.0, failure_us = 1.0, wanted_us = 250.0;
    constexpr double fewest = 4.0, most = 256.0;
    double mean_us = 0.0;
    for (const avail::JobOnCluster& job : jobs) {
        const Seconds wall = job.num_steps ? avail::failure_free_time(job) : job.horizon.value_or(Seconds{});
        const double failures = avail::stop_rate(job).value() * std::min(wall, job.horizon.value_or(wall)).value();
        mean_us += (trial_us + failure_us * (failures < 1e6 ? failures : 1e6)) / static_cast<double>(jobs.size());
    }
    return static_cast<std::uint64_t>(std::ceil(std::clamp(wanted_us / mean_us, fewest, most)));
}

std::optional<Round> next_trials(const StopRule& rule, const TrialSums& sums,
                                 const std::vector<avail::JobOnCluster>& jobs, std::uint32_t phase,
                                 std::uint32_t number) {
    const std::size_t num_variants = jobs.size();
    const std::int64_t done = trials_done(sums), asked = rule.trials.value_or(first_round);
    std::int64_t more = asked - done;
    if (rule.looks_at_results() && more <= 0) {
        if (narrow_enough(rule, sums) || done >= StopRule::most_trials) return std::nullopt;
        more = std::min(std::max(first_round, done / 4), StopRule::most_trials - done);
    }
    if (more <= 0) return std::nullopt;
    Round round;
    round.phase = phase;
    round.number = number;
    round.first_item = static_cast<std::uint64_t>(done) * num_variants;
    round.num_items = static_cast<std::uint64_t>(more) * num_variants;
    round.items_per_slice = trials_per_slice(jobs);
    round.items_per_block = slices_per_block * round.items_per_slice;
    round.items_per_block *= joined_blocks(round.num_blocks());
    round.label = fmt::format("trials {} to {}", done, done + more - 1);
    return round;
}

std::vector<VariantAnswer> variant_answers(const std::vector<std::string>& names, const TrialJobs& jobs,
                                           const TrialSums& sums, const StopRule& rule) {
    std::vector<VariantAnswer> answers;
    for (std::size_t i = 0; i < jobs.jobs().size(); ++i) {
        const avail::Summary sum = i < sums.variants.size() ? sums.variants[i] : avail::Summary{};
        VariantAnswer& answer = answers.emplace_back();
        answer.name = names.at(i);
        answer.job = jobs.jobs()[i];
        answer.trials = sum.num_trials();
        answer.unfinished = sum.num_unfinished;
        answer.wall_s = estimate(sum.wall_s.moments);
        answer.useful_share = share_estimate(sum.goodput.moments);
        answer.available_share = share_estimate(sum.availability.moments);
        answer.stops = estimate(sum.stops.moments);
        answer.fewest_spares = sum.fewest_spares.count > 0 ? sum.fewest_spares.mean : unknown;
        answer.mean_spares = sum.mean_spares.count > 0 ? sum.mean_spares.mean : unknown;
        answer.without_spare = sum.without_spare.count > 0 ? sum.without_spare.mean : unknown;
        const std::array<const base::Moments*, num_wall_phases> phases{
            &sum.useful_s,    &sum.slowed_s,   &sum.checkpoint_s, &sum.lost_s,
            &sum.detection_s, &sum.recovery_s, &sum.waiting_s};
        for (std::size_t phase = 0; phase < phases.size(); ++phase) answer.phase_s[phase] = estimate(*phases[phase]);
        const double finished_share = 1.0 - static_cast<double>(answer.unfinished) /
                                                static_cast<double>(std::max<std::uint64_t>(answer.trials, 1));
        for (const double fraction : fractions) {
            answer.wall_quantiles_s.push_back(quantile(sum.wall_s.sketch, fraction));
            answer.wall_quantiles_s.back().finished = !answer.job.num_steps || fraction <= finished_share;
            answer.share_quantiles.push_back(quantile(sum.goodput.sketch, fraction));
        }
        for (std::size_t cause = 0; cause < answer.job.classes.size(); ++cause) {
            const auto of = [cause](const std::vector<base::Moments>& all) {
                return estimate(cause < all.size() ? all[cause] : base::Moments{});
            };
            answer.causes.push_back({answer.job.classes[cause].name, of(sum.failures), of(sum.time_lost_s)});
        }
        answer.failure_free_s = answer.job.num_steps ? avail::failure_free_time(answer.job) : Seconds{unknown};
        answer.exact = avail::exact_answer(answer.job);
        answer.half_width_reached = narrow_enough(rule, {{sum}});
    }
    return answers;
}

std::vector<store::Table> trial_tables(const std::string& group, const std::vector<VariantAnswer>& answers,
                                       const std::vector<std::string>& names) {
    Rows summary{trials_summary_schema(group, names)}, quantiles{trials_quantiles_schema(group, names)},
        causes{trials_causes_schema(group, names)}, phases{trials_phases_schema(group, names)},
        job{trials_job_schema(group, names)}, sensitivity{trials_sensitivity_schema(group, names)};
    std::int64_t number = 0;
    for (const VariantAnswer& answer : answers) {
        summary.integer(number)
            .integer(static_cast<std::int64_t>(answer.trials))
            .integer(static_cast<std::int64_t>(answer.unfinished));
        for (const Estimate& value : {answer.wall_s, answer.useful_share, answer.available_share, answer.stops})
            put_estimate(summary, value);
        summary.real(answer.fewest_spares)
            .real(answer.mean_spares)
            .real(answer.without_spare)
            .real(answer.failure_free_s.value())
            .real(answer.exact.answer ? answer.exact.answer->goodput : unknown)
            .real(answer.exact.answer ? answer.exact.answer->availability : unknown)
            .integer(answer.half_width_reached ? 1 : 0);
        for (std::size_t i = 0; i < answer.wall_quantiles_s.size(); ++i) {
            const QuantileEstimate &wall = answer.wall_quantiles_s[i], &share = answer.share_quantiles[i];
            quantiles.integer(number).real(wall.fraction);
            for (const QuantileEstimate& value : {wall, share})
                quantiles.real(value.value).real(value.low).real(value.high);
            quantiles.integer(wall.finished ? 1 : 0);
        }
        for (const CauseAnswer& cause : answer.causes) {
            causes.integer(number).text(cause.name);
            put_estimate(causes, cause.failures);
            put_estimate(causes, cause.time_lost_s);
        }
        for (int phase = 0; phase < num_wall_phases; ++phase) {
            const Estimate& time = answer.phase_s[static_cast<std::size_t>(phase)];
            phases.integer(number).integer(phase);
            put_estimate(phases, time);
            phases.real(time.mean / answer.wall_s.mean);
        }
        job.integer(number);
        put_job(job, answer.job);
        put_sensitivity(sensitivity, number, answer.job);
        ++number;
    }
    std::vector<store::Table> tables;
    for (Rows* rows : {&summary, &quantiles, &causes, &phases, &job, &sensitivity})
        tables.push_back(std::move(*rows).take());
    return tables;
}

}  // namespace windtunnel::study
