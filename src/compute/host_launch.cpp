#include "windtunnel/compute/host_launch.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::compute {

Seconds serial_time(const KernelStream& stream) noexcept {
    return static_cast<double>(stream.num_kernels) * (stream.launch + stream.run);
}

Seconds pipelined_time(const KernelStream& stream) noexcept {
    if (stream.num_kernels <= 0) return Seconds{0.0};
    const auto n = static_cast<double>(stream.num_kernels);
    return std::max(n * stream.launch + stream.run, stream.launch + n * stream.run);
}

Seconds graph_time(const KernelStream& stream, Seconds graph_launch) noexcept {
    if (stream.num_kernels <= 0) return Seconds{0.0};
    return graph_launch + static_cast<double>(stream.num_kernels) * stream.run;
}

// n equal kernels behind a host at time t and a device that is free at f: the last ends at the latest of f + n d (the
// device never waits) and t + h + n d or t + n h + d (it waits for the first, or for each).
Seconds pipelined_time(std::span<const KernelStream> streams) noexcept {
    Seconds host{0.0}, device{0.0};
    for (const KernelStream& stream : streams) {
        if (stream.num_kernels <= 0) continue;
        const auto n = static_cast<double>(stream.num_kernels);
        device = std::max(device + n * stream.run, host + pipelined_time(stream));
        host += n * stream.launch;
    }
    return device;
}

std::optional<std::int64_t> break_even_steps(Seconds compile, Seconds step_before, Seconds step_after) noexcept {
    const Seconds saved = step_before - step_after;
    if (!(saved > Seconds{0.0})) return std::nullopt;
    const double steps = std::ceil(compile / saved);
    if (!(steps < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(steps);
}

}  // namespace windtunnel::compute
