#include "windtunnel/avail/segment_sensitivity.hpp"

#include <array>
#include <cmath>

#include "windtunnel/avail/checkpoint.hpp"

namespace windtunnel::avail {
namespace {

enum Input : std::size_t { between_failures, restart, interval, write, num_inputs };
using Inputs = std::array<Seconds, num_inputs>;

double useful_share(const Inputs& of) {
    return of[interval] / expected_segment_time(of[interval], of[write], of[between_failures], of[restart]);
}

double share_with(Inputs inputs, std::size_t changed, double factor) {
    inputs[changed] *= factor;
    return useful_share(inputs);
}

}  // namespace

std::vector<InputEffect> segment_sensitivity(const JobOnCluster& job) {
    const PerSecond rate = rollback_rate(job);
    const Seconds between_checkpoints = checkpoint_interval(job);
    if (!(rate.value() > 0.0) || !std::isfinite(between_checkpoints.value())) return {};
    Inputs inputs;
    inputs[between_failures] = Seconds{1.0 / rate.value()};
    inputs[restart] = model::mean(job.restart);
    inputs[interval] = between_checkpoints;
    inputs[write] = job.checkpoint_write;
    const std::array<const char*, num_inputs> names{"time between failures", "restart", "checkpoint interval",
                                                    "checkpoint write"};
    std::vector<InputEffect> effects;
    for (std::size_t i = 0; i < num_inputs; ++i)
        effects.push_back(
            {names[i], inputs[i], useful_share(inputs), share_with(inputs, i, 0.5), share_with(inputs, i, 2.0)});
    return effects;
}

}  // namespace windtunnel::avail
