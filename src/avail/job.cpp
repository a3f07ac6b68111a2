#include "windtunnel/avail/job.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windtunnel/avail/checkpoint.hpp"
#include "windtunnel/base/contracts.hpp"

namespace windtunnel::avail {

namespace {

std::uint64_t member_count(const model::ComponentClass& component, const JobSize& size) {
    double parts = 1.0;
    switch (component.count_per) {
        case model::CountPer::card:
            parts = size.num_cards;
            break;
        case model::CountPer::node:
        case model::CountPer::switch_:
            parts = size.num_nodes;
            break;
        case model::CountPer::job:
            break;
    }
    return static_cast<std::uint64_t>(std::llround(std::clamp(parts * component.count_multiple, 1.0, 1e12)));
}

FailureClass of_component(const model::ComponentClass& component, const JobSize& size, const model::Law& detection) {
    return {
        component.name,   member_count(component, size), component.up,         component.repair,
        component.effect, component.slow_factor,         component.takes_node, component.detection.value_or(detection)};
}

FailureClass of_variant(const model::FailureVariant& variant, const JobSize& size, const model::Law& detection) {
    FailureClass whole_job{variant.name,         1,   variant.up,         variant.repair,
                           model::Effect::stops, 1.0, variant.takes_node, detection};
    if (variant.scales_with_nodes)
        whole_job.up.scale *= static_cast<double>(variant.reference_nodes) / static_cast<double>(size.num_nodes);
    return whole_job;
}

std::vector<Rung> ladder_for(const model::Recovery& recovery, const std::vector<FailureClass>& classes) {
    std::vector<Rung> ladder;
    for (const model::RecoveryRung& step : recovery.ladder) {
        Rung rung{step.action, step.success, step.time, step.lost, {}, step.needs_spare, step.limit};
        for (const FailureClass& component : classes)
            rung.covers.push_back(step.covers.empty() || std::find(step.covers.begin(), step.covers.end(),
                                                                   component.name) != step.covers.end());
        ladder.push_back(std::move(rung));
    }
    return ladder;
}

std::optional<std::int64_t> interval_in_steps(const JobOnCluster& job, const model::Recovery& recovery) {
    Seconds interval;
    if (recovery.checkpoint_interval) {
        interval = *recovery.checkpoint_interval;
    } else {
        const PerSecond rate = rollback_rate(job);
        if (rate.value() <= 0.0) return std::nullopt;
        interval = daly_interval(job.checkpoint_write, 1.0 / rate);
    }
    const double steps = interval / job.step_time;
    if (!(steps < 9e15)) return std::nullopt;  // further away than any horizon
    return std::max<std::int64_t>(1, std::llround(steps));
}

/// Probability that a failure of the class ends on the restart or on a rung that loses work since the checkpoint.
double rollback_probability(const JobOnCluster& job, std::size_t component) {
    if (job.classes[component].effect == model::Effect::corrupts) return 1.0;
    double rolls_back = 0.0, not_yet_mended = 1.0;
    for (const Rung& rung : job.ladder) {
        if (!rung.covers[component]) continue;
        if (rung.lost == model::RecoveryRung::Lost::since_checkpoint) rolls_back += not_yet_mended * rung.success;
        not_yet_mended *= 1.0 - rung.success;
    }
    return rolls_back + not_yet_mended;
}

}  // namespace

Bytes checkpoint_state(const model::Transformer& transformer) {
    const model::ParameterCount count = model::parameter_count(transformer);
    const auto parameters = count.total() + count.positions + count.norms_and_biases + count.mtp;
    return Bytes{14.0 * static_cast<double>(parameters)};
}

std::vector<JobOnCluster> jobs_on_cluster(const model::Failures& failures, const model::Recovery& recovery,
                                          const JobSize& size) {
    base::expects(size.step_time.value() > 0.0 && size.num_nodes > 0, "a job with nodes and a step time");
    JobOnCluster common;
    common.num_nodes = size.num_nodes;
    common.spare_nodes = recovery.spare_nodes.value_or(size.spare_nodes);
    common.step_time = size.step_time;
    common.num_steps = size.num_steps;
    common.horizon = size.horizon;
    common.checkpoint_write = recovery.checkpoint_write.value_or(
        size.checkpoint_state / (recovery.checkpoint_bandwidth * static_cast<double>(size.num_nodes)));
    common.restart = recovery.restart;
    common.checkpoint_background = recovery.checkpoint_background;
    common.ageing = recovery.ageing;
    common.fleet = recovery.fleet;

    std::vector<std::vector<FailureClass>> alternatives;
    for (const model::FailureVariant& variant : failures.variants)
        alternatives.push_back({of_variant(variant, size, recovery.detection)});
    if (alternatives.empty()) {
        alternatives.emplace_back();
        for (const model::ComponentClass& component : failures.components)
            alternatives.back().push_back(of_component(component, size, recovery.detection));
    }
    std::vector<JobOnCluster> jobs;
    for (std::vector<FailureClass>& classes : alternatives) {
        JobOnCluster job = common;
        job.ladder = ladder_for(recovery, classes);
        job.classes = std::move(classes);
        job.checkpoint_steps = interval_in_steps(job, recovery);
        jobs.push_back(std::move(job));
    }
    return jobs;
}

PerSecond stop_rate(const JobOnCluster& job) {
    PerSecond rate;
    for (const FailureClass& component : job.classes)
        if (stops_job(component.effect)) rate += static_cast<double>(component.count) / model::mean(component.up);
    return rate;
}

PerSecond rollback_rate(const JobOnCluster& job) {
    PerSecond rate;
    for (std::size_t i = 0; i < job.classes.size(); ++i)
        if (stops_job(job.classes[i].effect))
            rate += rollback_probability(job, i) * static_cast<double>(job.classes[i].count) /
                    model::mean(job.classes[i].up);
    return rate;
}

Seconds checkpoint_interval(const JobOnCluster& job) {
    if (!job.checkpoint_steps) return Seconds{std::numeric_limits<double>::infinity()};
    return job.step_time * static_cast<double>(*job.checkpoint_steps);
}

}  // namespace windtunnel::avail
