#pragma once
/// Longer blocks for longer rounds, so that the rank that hands them out can feed a thousand others.
#include <algorithm>
#include <cstdint>

namespace windtunnel::study {

/// How many blocks of the usual length are joined in one.
///
/// Model:   up to 65,536 blocks (64 for each of 1,024 ranks) as they are; longer rounds join so many, at most eight.
///          Rank 0 needs some microseconds a block (docs/performance.md): blocks of 4 ms feed 800 ranks, of 32 ms all
///          of 1,024 with room.
/// Inputs:  blocks of the usual length, from the plan alone. Returns: 1 to 8.
/// Source:  derived here.
[[nodiscard]] constexpr std::uint64_t joined_blocks(std::uint64_t num_blocks) noexcept {
    constexpr std::uint64_t enough = std::uint64_t{1} << 16U, most = 8;
    return std::clamp<std::uint64_t>(num_blocks / enough, 1, most);
}

}  // namespace windtunnel::study
