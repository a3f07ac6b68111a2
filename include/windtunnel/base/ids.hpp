#pragma once
/// Typed indices: a stage is not a trial.
#include <compare>
#include <cstdint>

namespace windtunnel::base {

template <class Tag, class Number = std::uint32_t>
struct Id {
    Number number = 0;
    friend constexpr auto operator<=>(const Id&, const Id&) noexcept = default;
};

using StageId = Id<struct StageTag>;                   ///< pipeline rank, from 0
using ChunkId = Id<struct ChunkTag>;                   ///< model chunk of a pipeline rank, from 0
using MicroBatchId = Id<struct MicroBatchTag>;         ///< micro-batch of a step, from 0
using TrialId = Id<struct TrialTag, std::uint64_t>;    ///< Monte Carlo trial, from 0
using DesignId = Id<struct DesignTag, std::uint64_t>;  ///< point of a design space, from 0
using BlockId = Id<struct BlockTag, std::uint64_t>;    ///< block of a round, from 0

}  // namespace windtunnel::base
