#pragma once
/// The operator graph of one block, and what communication inside it hides.
#include "windtunnel/train/operator_run.hpp"

namespace windtunnel::train {

enum class BlockKind { embedding, dense_layer, moe_layer, mtp_projection, head };
[[nodiscard]] std::string to_text(BlockKind kind);

/// All passes of a block for one micro-batch on one card, with recompute as the key says. Its static scan gives the
/// block's BlockCost (rounding): both come from the same calls (train/layer_operators.hpp). Expects a legal layout.
[[nodiscard]] OperatorGraph block_graph(const Job& job, const UnitKey& key, BlockKind kind);

/// How the job's operators share a card.
[[nodiscard]] StreamRules stream_rules(const Job& job) noexcept;

/// Puts what the simulation of the graph leaves exposed in place of the whole communication of a block.
///
/// Model:   forward alone; recompute and both halves of backward together, where weight gradients run under what their
///          layer waits for. Exposed: the simulated time less the compute, in the proportion of the communication
///          parts; without communication it is the host's.
/// Inputs:  the cost of the block with all its communication. Limits: a schedule that runs weight gradients apart hides
///          less than this.
void hide_by_graph(const Job& job, const OperatorGraph& graph, BlockCost& cost);

}  // namespace windtunnel::train
