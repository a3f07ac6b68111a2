#include "windtunnel/report/trials_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windtunnel/report/json_parts.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using study::Estimate;
using study::QuantileEstimate;
using study::VariantAnswer;

std::string share_interval(const Estimate& estimate) {
    return fmt::format("{} to {}", percent(estimate.low), percent(estimate.high));
}

const QuantileEstimate* quantile(const std::vector<QuantileEstimate>& quantiles, double fraction) {
    constexpr double same = 1e-9;
    const auto found =
        std::ranges::find_if(quantiles, [&](const auto& q) { return std::abs(q.fraction - fraction) < same; });
    return found == quantiles.end() ? nullptr : &*found;
}

/// ">= 12 d" where the quantile lies among trials that were given up.
std::string bounded(const rehearse::Quantile& quantile) {
    return (quantile.finished ? "" : ">= ") + human(Seconds{quantile.value});
}

std::string summary_table(const std::vector<VariantAnswer>& variants) {
    TextTable table{{"variant", "trials", "unfinished", "useful time", "95 % interval", "availability", "wall clock",
                     "95 % interval", "stops", "fewest spares"}};
    for (const VariantAnswer& variant : variants)
        table.add_row({variant.name, grouped(static_cast<std::int64_t>(variant.trials)),
                       grouped(static_cast<std::int64_t>(variant.unfinished)), percent(variant.useful_share.mean),
                       share_interval(variant.useful_share), percent(variant.available_share.mean),
                       human(Seconds{variant.wall_s.mean}),
                       fmt::format("{} to {}", human(Seconds{variant.wall_s.low}), human(Seconds{variant.wall_s.high})),
                       fmt::format("{:.4g} +- {:.2g}", variant.stops.mean, variant.stops.high - variant.stops.mean),
                       fmt::format("{:.4g}", variant.fewest_spares)});
    return table.text();
}

std::string phases_table(const VariantAnswer& variant) {
    TextTable table{{"phase", "time per trial", "share", "95 % interval"}};
    for (int i = 0; i < study::num_wall_phases; ++i) {
        const Estimate& phase = variant.phase_s[static_cast<std::size_t>(i)];
        table.add_row({study::to_text(static_cast<study::WallPhase>(i)), human(Seconds{phase.mean}),
                       percent(phase.mean / variant.wall_s.mean),
                       fmt::format("{} to {}", human(Seconds{phase.low}), human(Seconds{phase.high}))});
    }
    return table.text();
}

std::string quantiles_table(const VariantAnswer& variant) {
    TextTable table{{"quantile", "wall clock", "95 % interval", "useful time", "95 % interval"}};
    for (const QuantileEstimate& wall : variant.wall_quantiles_s) {
        const QuantileEstimate* share = quantile(variant.share_quantiles, wall.fraction);
        table.add_row({percent(wall.fraction), (wall.finished ? "" : ">= ") + human(Seconds{wall.value}),
                       fmt::format("{} to {}", human(Seconds{wall.low}), human(Seconds{wall.high})),
                       share ? percent(share->value) : "-",
                       share ? fmt::format("{} to {}", percent(share->low), percent(share->high)) : "-"});
    }
    return table.text();
}

std::string causes_table(const VariantAnswer& variant) {
    TextTable table{{"cause", "failures per trial", "95 % +-", "time lost per trial", "95 % interval", "members"}};
    for (std::size_t i = 0; i < variant.causes.size(); ++i) {
        const study::CauseAnswer& cause = variant.causes[i];
        const std::uint64_t members = i < variant.job.classes.size() ? variant.job.classes[i].count : 0;
        table.add_row(
            {cause.name, fmt::format("{:.4g}", cause.failures.mean),
             fmt::format("{:.2g}", cause.failures.high - cause.failures.mean), human(Seconds{cause.time_lost_s.mean}),
             fmt::format("{} to {}", human(Seconds{cause.time_lost_s.low}), human(Seconds{cause.time_lost_s.high})),
             grouped(static_cast<std::int64_t>(members))});
    }
    return table.text();
}

std::string checkpoint_line(const VariantAnswer& variant) {
    const Seconds interval = avail::checkpoint_interval(variant.job);
    if (!std::isfinite(interval.value())) return "no checkpoints\n";
    return fmt::format("checkpoint every {} of work, {} to write; {} nodes and {} spares\n", human(interval),
                       human(variant.job.checkpoint_write), grouped(variant.job.num_nodes),
                       grouped(variant.job.spare_nodes));
}

Json estimate_json(const Estimate& estimate) {
    return {{"mean", estimate.mean},
            {"standard_error", estimate.standard_error},
            {"low_95", estimate.low},
            {"high_95", estimate.high}};
}

Json quantiles_json(const std::vector<QuantileEstimate>& quantiles) {
    Json rows = Json::array();
    for (const QuantileEstimate& quantile : quantiles)
        rows.push_back({{"fraction", quantile.fraction},
                        {"value", quantile.value},
                        {"low_95", quantile.low},
                        {"high_95", quantile.high},
                        {"finished", quantile.finished}});
    return rows;
}

Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json quantiles_json(const std::array<rehearse::Quantile, 4>& quantiles) {
    Json rows = Json::array();
    for (const rehearse::Quantile& quantile : quantiles)
        rows.push_back({{"fraction", quantile.fraction},
                        {"value", finite(quantile.value)},
                        {"low_95", finite(quantile.interval.low)},
                        {"high_95", finite(quantile.interval.high)},
                        {"finished", quantile.finished}});
    return rows;
}

}  // namespace

Json times_array(const study::RehearseAnswer& answer) {
    const double error = answer.step_time_error_90();
    Json rows = Json::array();
    for (std::size_t i = 0; i < answer.times.size(); ++i) {
        const study::TimeToTokens& times = answer.times[i];
        rows.push_back(
            {{"name", answer.variants.at(i).name},
             {"failures_alone_s", quantiles_json(times.time_s)},
             {"step_time_error_90", error > 0.0 ? Json(error) : Json(nullptr)},
             {"failures_and_step_time_error_s", error > 0.0 ? quantiles_json(times.with_error_s) : Json(nullptr)},
             {"tokens", quantiles_json(times.tokens)}});
    }
    return rows;
}

std::string useful_lines(const std::vector<VariantAnswer>& variants) {
    std::string text;
    for (const VariantAnswer& variant : variants) {
        text += fmt::format("useful time {} (95 % interval {}), failures: {}\n", percent(variant.useful_share.mean),
                            share_interval(variant.useful_share), variant.name);
        if (!variant.half_width_reached)
            text += "WARNING: the half-width was not reached within the largest number of trials\n";
    }
    if (variants.size() > 1) {
        const auto [low, high] = std::ranges::minmax_element(
            variants, {}, [](const VariantAnswer& variant) { return variant.useful_share.mean; });
        text += fmt::format("band of {} variants: useful time {} to {}\n", variants.size(),
                            percent(low->useful_share.low), percent(high->useful_share.high));
    }
    return text;
}

std::string time_lines(const model::Plan& plan, const study::RehearseAnswer& answer) {
    const double tokens = plan.rehearsal.tokens.value_or(plan.training ? plan.training->tokens : 0.0);
    const double error = answer.step_time_error_90();
    std::string text;
    for (std::size_t i = 0; i < answer.variants.size(); ++i) {
        const VariantAnswer& variant = answer.variants[i];
        if (!variant.job.num_steps) continue;
        const study::TimeToTokens times = i < answer.times.size() ? answer.times[i] : study::TimeToTokens{};
        const auto& [early, median, late, latest] = times.time_s;
        text += fmt::format("time to {} tokens: median {}, mean {} (95 % interval {} to {})", human_count(tokens),
                            bounded(median), human(Seconds{variant.wall_s.mean}), human(Seconds{variant.wall_s.low}),
                            human(Seconds{variant.wall_s.high}));
        if (std::isfinite(variant.failure_free_s.value()))
            text += fmt::format(", without failures {}", human(variant.failure_free_s));
        text += fmt::format("; failures: {}\n", variant.name);
        text += fmt::format("  80 % interval of a run, failures alone: {} to {} (P99 {})\n", bounded(early),
                            bounded(late), bounded(latest));
        if (error > 0.0)
            text += fmt::format(
                "  80 % interval of a run, failures and the error of the step time (90 % interval +- {}): {} to {} "
                "(P99 "
                "{})\n",
                percent(error), bounded(times.with_error_s[0]), bounded(times.with_error_s[2]),
                bounded(times.with_error_s[3]));
        else
            text += "  the error of the step time is unknown (no calibration gives it) and is not in these intervals\n";
        if (variant.unfinished > 0)
            text += fmt::format(
                "WARNING: {} of {} trials ended before the last token: their wall clock is where they were given up, "
                "and "
                "quantiles that they reach are lower bounds (>=)\n",
                variant.unfinished, variant.trials);
    }
    return text;
}

std::string trials_tables(const std::vector<VariantAnswer>& variants) {
    std::string text = "\ntrials\n" + summary_table(variants);
    for (const VariantAnswer& variant : variants) {
        const std::string name = variants.size() > 1 ? ", variant " + variant.name : "";
        text += fmt::format("\nwhere the time goes{}\n{}{}", name, phases_table(variant), checkpoint_line(variant));
        text += fmt::format("\nquantiles over trials{}\n{}", name, quantiles_table(variant));
        if (!variant.causes.empty()) text += fmt::format("\ncauses{}\n{}", name, causes_table(variant));
    }
    return text;
}

Json variants_array(const std::vector<VariantAnswer>& variants) {
    Json rows = Json::array();
    for (const VariantAnswer& variant : variants) {
        Json phases = Json::object();
        for (int i = 0; i < study::num_wall_phases; ++i)
            phases[study::to_text(static_cast<study::WallPhase>(i))] =
                estimate_json(variant.phase_s[static_cast<std::size_t>(i)]);
        Json causes = Json::array();
        for (const study::CauseAnswer& cause : variant.causes)
            causes.push_back({{"name", cause.name},
                              {"failures", estimate_json(cause.failures)},
                              {"time_lost_s", estimate_json(cause.time_lost_s)}});
        rows.push_back({{"name", variant.name},
                        {"trials", variant.trials},
                        {"unfinished", variant.unfinished},
                        {"half_width_reached", variant.half_width_reached},
                        {"useful_share", estimate_json(variant.useful_share)},
                        {"available_share", estimate_json(variant.available_share)},
                        {"wall_s", estimate_json(variant.wall_s)},
                        {"stops", estimate_json(variant.stops)},
                        {"failure_free_s", finite(variant.failure_free_s.value())},
                        {"fewest_spares", variant.fewest_spares},
                        {"mean_spares", variant.mean_spares},
                        {"without_spare", variant.without_spare},
                        {"nodes", variant.job.num_nodes},
                        {"spare_nodes", variant.job.spare_nodes},
                        {"checkpoint_interval_s", finite(avail::checkpoint_interval(variant.job).value())},
                        {"checkpoint_write_s", variant.job.checkpoint_write.value()},
                        {"phases_s", phases},
                        {"wall_quantiles_s", quantiles_json(variant.wall_quantiles_s)},
                        {"useful_share_quantiles", quantiles_json(variant.share_quantiles)},
                        {"causes", causes}});
    }
    return rows;
}

}  // namespace windtunnel::report
