#pragma once
/// Costs of one layer, of the embedding and of the head for one micro-batch on one card: everything that depends on
/// (tp, cp, ep, etp, micro-batch, recompute, sequence parallelism) only. A search computes them once and reuses them
/// for every pp, dp and vpp.
///
/// Model:   sums of the operators in train/layer_operators.hpp, one after the other on a card.
#include <array>

#include "windtunnel/model/layout.hpp"
#include "windtunnel/train/job.hpp"

namespace windtunnel::train {

/// Where the time of a step goes. Every number of a step is a sum over these parts, and the parts sum to the total.
enum class Part {
    gemm,
    attention,
    memory_bound,
    launch,     // compute of forward and backward, without recompute
    recompute,  // all of it, communication included
    tp_comm,
    cp_comm,
    ep_comm,
    pp_comm,  // exposed only
    bubble,   // pipeline idle time of the stage that ends last
    dp_comm,
    optimizer,
    fixed,    // exposed gradient and parameter exchange; optimizer step; once a step
    jitter,   // waiting for the slowest card
    offload,  // exposed traffic to host memory
};
inline constexpr int num_parts = 15;
[[nodiscard]] std::string to_text(Part part);

struct PartTimes {
    std::array<Seconds, num_parts> of{};
    [[nodiscard]] Seconds& operator[](Part part) noexcept { return of[static_cast<std::size_t>(part)]; }
    [[nodiscard]] Seconds operator[](Part part) const noexcept { return of[static_cast<std::size_t>(part)]; }
    [[nodiscard]] Seconds total() const noexcept;
    PartTimes& operator+=(const PartTimes& other) noexcept;
    [[nodiscard]] PartTimes operator*(double factor) const noexcept;
};

/// One kind of block (a dense layer, a MoE layer, the embedding, the head with loss, an MTP module).
struct BlockCost {
    PartTimes forward;
    PartTimes backward_input;   ///< gradient of the inputs, including what recompute adds
    PartTimes backward_weight;  ///< gradient of the weights
    Flops model_flops;          ///< of the card, one micro-batch, forward + backward, without recompute
    Flops recompute_flops;
    // Memory of one card
    double parameters = 0.0;         ///< held by the card and replicated over dp (x cp)
    double expert_parameters = 0.0;  ///< held by the card and replicated over edp only
    double largest_weight = 0.0;     ///< elements of the largest weight (all local experts count as one)
    Bytes activations;               ///< kept from forward to backward, one micro-batch
    Bytes recompute_peak;            ///< extra while one block is recomputed and run backward
    Bytes logits;                    ///< head: logits and softmax of one micro-batch
};

struct UnitCosts {
    BlockCost dense_layer, moe_layer, embedding, head, mtp;
    BlockCost kept_dense_layer, kept_moe_layer;  ///< the same without recompute, where only some layers are recomputed
    int recomputed_layers = -1;                  ///< of a chunk, from its first one; -1: all
    Bytes boundary;                              ///< of one pipeline boundary and direction, one micro-batch, one card
    Seconds boundary_time;                       ///< point-to-point transfer of it, beside the work of its ranks
    Seconds blocked;  ///< the same where it keeps its sender waiting; boundary_time is 0 then
    bool outside_fitted_range = false;
    [[nodiscard]] const BlockCost& layer(bool moe) const noexcept { return moe ? moe_layer : dense_layer; }
};

/// What of a layout the unit costs depend on.
struct UnitKey {
    int tensor_parallel = 1, context_parallel = 1, expert_parallel = 1, expert_tensor_parallel = 1,
        micro_batch_size = 1;
    model::Recompute recompute = model::Recompute::none;
    bool sequence_parallel = true;
    bool pipelined = false;  ///< pp > 1: is there a boundary, and may it leave the scale-up domain
    friend auto operator<=>(const UnitKey&, const UnitKey&) = default;
};
[[nodiscard]] UnitKey unit_key(const model::Layout& layout) noexcept;

/// Expects broken_rule() to pass for the layout behind the key.
[[nodiscard]] UnitCosts unit_costs(const Job& job, const UnitKey& key);

}  // namespace windtunnel::train
