#pragma once
/// A run of many ranks in virtual time: who waits for whom when rank 0 hands blocks out.
///
/// Model:   the driver's own HandOut serves the ranks. Rank 0 is a server: a message costs it `per_message` (receive,
///          answer), each finished block `per_block` (journal, absorption, hand-out). Messages arrive `latency` later.
///          Blocks take `block_time` (1 + spread x u), u uniform in [-1, 1] by a counter-based stream. Rank 0 computes
///          no blocks here: at the sizes of interest it has none to spare.
/// Inputs:  ranks >= 2 (rank 0 included), blocks >= 1, times >= 0.
/// Returns: efficiency: work over workers x wall; busy: the share of the wall in which rank 0 works.
/// Limits:  no start-up, no file system that slows with load, no rounds that wait for each other.
/// Source:  derived here; per_message and per_block are measured (docs/performance.md).
#include <cstdint>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::driver {

struct DryRunCosts {
    Seconds per_message, per_block, latency;
};

struct DryRunLoad {
    int ranks = 2;
    std::uint64_t blocks = 1;
    Seconds block_time;
    double spread = 0.2;
};

struct DryRun {
    Seconds wall;
    double efficiency = 0.0;
    double root_busy = 0.0;
    std::uint64_t messages = 0;  ///< that rank 0 received
};

[[nodiscard]] DryRun dry_run(const DryRunLoad& load, const DryRunCosts& costs);

/// Ranks at which rank 0 alone would be busy all the time: above it they wait for it. Bundles of `bundle` blocks.
[[nodiscard]] double most_useful_ranks(Seconds block_time, double bundle, const DryRunCosts& costs) noexcept;

}  // namespace windtunnel::driver
