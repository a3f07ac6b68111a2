#pragma once
/// Source:  the divisions that Megatron-Core and DeepSpeed demand.
///
/// The rules between values: does a layout make sense at all, before memory and time? The arithmetic and its texts
/// stand in model/layout_rules.hpp (LayoutRules::first_broken, detail); this header gives them to a Job.
#include <vector>

#include "windtunnel/model/layout.hpp"
#include "windtunnel/model/verdict.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::train {

/// First rule that the layout breaks, in the order of VerdictReason, or `fits`. No text: for the inner loop of a
/// search.
[[nodiscard]] model::VerdictReason broken_rule(const Job& job, const model::Layout& layout) noexcept;

/// The same with the values and the nearest valid choices in `detail`
/// ("global batch 32 is not a multiple of micro-batch 1 x dp 23; nearest: 23, 46, 69").
[[nodiscard]] model::Verdict rule_verdict(const Job& job, const model::Layout& layout);

/// Layers, embedding, head and MTP modules of each model chunk, chunk c of pipeline rank r at index c x pp + r
/// (pipeline order). Expects broken_rule() to pass.
struct ChunkLoad {
    int dense_layers = 0;
    int moe_layers = 0;
    bool embedding = false;
    bool head = false;
    int mtp_layers = 0;
};
[[nodiscard]] std::vector<ChunkLoad> pipeline_split(const model::Transformer& transformer, const model::Layout& layout);

/// One entry of it, without the vector: O(1), explicit_chunks O(index).
[[nodiscard]] ChunkLoad chunk_load(const model::Transformer& transformer, const model::Layout& layout,
                                   int index) noexcept;

}  // namespace windtunnel::train
