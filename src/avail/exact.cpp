#include "windtunnel/avail/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "windtunnel/avail/checkpoint.hpp"
#include "windtunnel/avail/history.hpp"
#include "windtunnel/avail/law.hpp"

namespace windtunnel::avail {

namespace {

/// Why the segment formula does not hold; empty: it does.
std::string first_obstacle(const JobOnCluster& job) {
    if (job.checkpoint_background.value() > 0.0) return "checkpoints are complete only some time after the job goes on";
    if (!job.ladder.empty()) return "a recovery ladder is no single restart";
    for (const FailureClass& component : job.classes) {
        if (component.effect == model::Effect::none) continue;
        if (component.effect == model::Effect::corrupts) return fmt::format("\"{}\" is noticed late", component.name);
        if (model::mean(component.detection).value() > 0.0)
            return fmt::format("failures of \"{}\" are not noticed at once", component.name);
        if (component.effect == model::Effect::slows) return fmt::format("\"{}\" slows the job", component.name);
        if (component.up.kind != model::LawKind::exponential)
            return fmt::format("the life of \"{}\" is not exponential", component.name);
        if (!component.takes_node && model::mean(component.repair).value() > 0.0)
            return fmt::format("the job waits for repairs of \"{}\"", component.name);
    }
    if (!job.checkpoint_steps && !job.num_steps && !job.classes.empty())
        return "without checkpoints and without an end of the work nothing is kept";
    return "";
}

/// Failures that send a node to repair: their rate, members and mean repair time over all classes.
struct NodeFailures {
    PerSecond rate;
    std::uint64_t members = 0;
    double under_repair = 0.0;  ///< mean number with ample spares
};

NodeFailures node_failures(const JobOnCluster& job) {
    NodeFailures all;
    for (const FailureClass& component : job.classes) {
        if (component.effect != model::Effect::stops || !component.takes_node) continue;
        const PerSecond rate = static_cast<double>(component.count) / model::mean(component.up);
        all.members += component.count;
        all.rate += rate;
        all.under_repair += rate * model::mean(component.repair);
    }
    return all;
}

}  // namespace

double spare_shortage(PerSecond rate, std::uint64_t members, Seconds mean_repair, int spares) {
    const double load = rate * mean_repair;  // mean number of nodes under repair with ample spares
    if (load <= 0.0) return 0.0;
    // Weights relative to the largest, so that neither very small nor very large loads overflow.
    double log_weight = 0.0, largest = 0.0;
    std::vector<double> log_weights{0.0};
    const auto most = static_cast<double>(spares) + static_cast<double>(members);
    for (double k = 1.0; k <= most; k += 1.0) {
        const double missing = std::max(0.0, k - 1.0 - spares) / static_cast<double>(members);
        log_weight += std::log(load * (1.0 - missing) / k);
        log_weights.push_back(log_weight);
        largest = std::max(largest, log_weight);
        if (log_weight < largest - 60.0) break;  // beyond the peak and below rounding
    }
    double all = 0.0, short_of_nodes = 0.0;
    for (std::size_t k = log_weights.size(); k-- > 0;) {
        const double weight = std::exp(log_weights[k] - largest);
        all += weight;
        if (k > static_cast<std::size_t>(spares)) short_of_nodes += weight;
    }
    return short_of_nodes / all;
}

ExactOrReason exact_answer(const JobOnCluster& job) {
    if (std::string obstacle = first_obstacle(job); !obstacle.empty()) return {std::nullopt, std::move(obstacle)};
    ExactAnswer answer;
    answer.stop_rate = stop_rate(job);
    const Seconds mtbf =
        answer.stop_rate.value() > 0.0 ? 1.0 / answer.stop_rate : Seconds{std::numeric_limits<double>::infinity()};

    const NodeFailures nodes = node_failures(job);
    if (nodes.members > 0)
        answer.shortage = spare_shortage(nodes.rate, nodes.members, nodes.under_repair / nodes.rate, job.spare_nodes);
    if (answer.shortage > negligible_shortage)
        return {std::nullopt,
                fmt::format("spares run out {:.3g} of the time: waiting is not in the formula", answer.shortage)};

    const auto survival = laplace_transform(job.restart, answer.stop_rate);
    if (!survival) return {std::nullopt, "the restart time has no closed Laplace transform"};
    const auto rule = job.ageing == Ageing::always ? RestartFailures::possible : RestartFailures::excluded;
    const Seconds restart = restart_duration(model::mean(job.restart), *survival, mtbf, rule);

    // One interval with its checkpoint; without checkpoints the whole work is the interval.
    const bool writes = job.checkpoint_steps.has_value();
    const Seconds write = writes ? job.checkpoint_write : Seconds{};
    const std::int64_t steps = writes ? *job.checkpoint_steps : job.num_steps.value_or(1);
    const Seconds work = job.step_time * static_cast<double>(steps);
    const Seconds segment = expected_segment_time(work, write, mtbf, restart);
    answer.goodput = work / segment;
    // Expected failures while running in a segment: running time x rate; each is followed by one recovery.
    const double stops_while_running = std::isinf(mtbf.value()) ? 0.0 : std::expm1((work + write) / mtbf);
    answer.availability = std::isinf(mtbf.value()) ? 1.0 : stops_while_running * mtbf / segment;
    if (rule == RestartFailures::excluded) answer.stop_rate = answer.availability * answer.stop_rate;
    if (job.num_steps) {
        const std::int64_t whole = *job.num_steps > 0 ? (*job.num_steps - 1) / steps : 0;
        const Seconds last = job.step_time * static_cast<double>(*job.num_steps - whole * steps);
        answer.wall = segment * static_cast<double>(whole) + expected_segment_time(last, Seconds{}, mtbf, restart);
    }
    return {answer, ""};
}

}  // namespace windtunnel::avail
