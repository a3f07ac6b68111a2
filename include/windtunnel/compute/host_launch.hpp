#pragma once
/// The host that issues kernels, and the device that runs them.
#include <cstdint>
#include <optional>
#include <span>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::compute {

/// n kernels, each issued in `launch` by the host and run in `run` by the device.
struct KernelStream {
    std::int64_t num_kernels = 0;
    Seconds launch, run;
};

/// Model:   every kernel is issued and finished before the next: n (h + d).
/// Inputs:  n >= 0, times >= 0. Returns: time, >= 0. Limits: equal kernels. Source: definition.
[[nodiscard]] Seconds serial_time(const KernelStream& stream) noexcept;

/// Model:   the host issues ahead, the device runs in order: max(n h + d, h + n d).
/// Inputs, returns: as above. Limits: equal kernels, a queue without bound. Source: flow shop of two machines (Johnson,
/// 1954) with equal jobs.
[[nodiscard]] Seconds pipelined_time(const KernelStream& stream) noexcept;

/// Model:   all kernels as one graph: its launch and n d.
/// Inputs:  launch of the graph >= 0. Returns, limits: as above. Source: definition.
[[nodiscard]] Seconds graph_time(const KernelStream& stream, Seconds graph_launch) noexcept;

/// The same as pipelined_time for unlike kernels, one after the other: the device waits for the host or for itself.
[[nodiscard]] Seconds pipelined_time(std::span<const KernelStream> streams) noexcept;

/// Steps after which compiling once has paid: the compile time over what a step saves, rounded up; empty: never.
[[nodiscard]] std::optional<std::int64_t> break_even_steps(Seconds compile, Seconds step_before,
                                                           Seconds step_after) noexcept;

}  // namespace windtunnel::compute
