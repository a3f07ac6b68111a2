#pragma once
/// What a plan says once everything is read: groups, split, size of the space, what a run would cost.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/model/verdict.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::report {

/// What one command would do with the plan on this machine.
struct WorkEstimate {
    std::string command;          ///< train, search, avail, rehearse
    std::string items;            ///< "4,320 designs", "1,000 histories"
    std::optional<Seconds> time;  ///< on all cores of this machine; empty: cannot be said before the first round
    Bytes result_file;            ///< about
};

struct PlanFacts {
    std::optional<model::Layout> layout;  ///< [train.published], or the space where it is one point
    model::Verdict rules;                 ///< of that layout: rules between values; memory is not computed
    std::vector<train::ChunkLoad> split;  ///< of that layout, in pipeline order; empty when a rule is broken
    std::uint64_t num_designs = 0;        ///< of the space; 0: the plan has no [train] section
    std::vector<WorkEstimate> work;
};

[[nodiscard]] std::string plan_text(const model::Plan& plan, const PlanFacts& facts);
[[nodiscard]] std::string plan_json(const model::Plan& plan, const PlanFacts& facts);

/// "tp 8 x cp 1 x dp 48 x pp 16 = 6,144 cards; etp 1 x ep 32 x edp 12 x pp 16" (the second half for models with
/// experts).
[[nodiscard]] std::string groups_text(const model::Transformer& transformer, const model::Layout& layout);

/// "3 dense + 4 moe, embedding" for a chunk; equal neighbours are written once in `split_text`.
[[nodiscard]] std::string split_text(const std::vector<train::ChunkLoad>& split, int pipeline_parallel,
                                     model::PipelineSchedule schedule = model::PipelineSchedule::one_f_one_b);

}  // namespace windtunnel::report
