#pragma once
/// Adds up the operators of one block (a layer, the embedding, the head) into a BlockCost.
///
/// Model:   operators run one after the other; a product's backward is two products of the same work; the gradient of a
/// weight
///          joins its buffer in memory; casts to 8 bit move 4 bytes an element; what communication hides is a fixed
///          share.
/// Source:  Korthikanti et al., 2022 (recompute); DeepSeek-V3 report, 2024, section 3.2.3 (selective recompute with
/// flash attention).
#include "windtunnel/comm/collectives.hpp"
#include "windtunnel/compute/attention.hpp"
#include "windtunnel/compute/gemm.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

/// What the operators of a job share on one card for one micro-batch.
struct Scope {
    const Job& job;
    UnitKey key;
    compute::Card card;  ///< in the job's precision
    compute::Card wide;  ///< in 16 bit: router, output head
    comm::Links links;
    topology::GroupPlacement tensor, context, expert, expert_tensor;
    double tokens = 0.0;      ///< of a micro-batch on the card, before tensor parallelism
    double own_tokens = 0.0;  ///< the same where sequence parallelism splits them over tensor ranks
    double gradient_bytes = 4.0;

    [[nodiscard]] double tp() const noexcept { return key.tensor_parallel; }
};
[[nodiscard]] Scope scope_of(const Job& job, const UnitKey& key) noexcept;

/// Which recompute runs an operator again. Full recompute runs all of the forward again. Selective recompute runs,
/// without flash attention, the attention core (Korthikanti et al., 2022, section 5); with it, where the core keeps
/// next to nothing, the `cheap` operators: norms, the activation function, and the up-projections of latent attention
/// (DeepSeek-V3 report, section 3.2.3).
enum class Rerun { only_full, cheap };

class BlockBuilder {
public:
    explicit BlockBuilder(const Scope& scope) noexcept : scope_{scope} {}

    /// y = x W with its two backward products; the weight is k x n, on this card.
    void product(const compute::Gemm& gemm, const compute::Card& card, Rerun rerun = Rerun::only_full) noexcept;
    void grouped_product(double groups, const compute::Gemm& each, const compute::Card& card) noexcept;
    /// Byte-bound operator with `kernels` launches each way.
    void stream(double forward_bytes, double backward_bytes, int kernels, Rerun rerun = Rerun::only_full) noexcept;
    /// The attention core of a `share` of the layers (those with and those without a sliding window).
    void attention(const compute::AttentionShape& shape, double share) noexcept;
    /// Communication of one pass each way; the hidden share is taken off here.
    void communicate(Part part, Seconds forward, Seconds backward) noexcept;
    /// Input of a product gathered again for the weight gradient, under the input gradient's product.
    void regather(Seconds gather, Seconds hidden_under) noexcept;
    /// Host work of one pass each way.
    void host(Seconds each_pass) noexcept;
    /// Bytes held from forward to backward; `cheap`: by operators that selective recompute may run again; `core`:
    /// scores.
    void keep(double bytes) noexcept { kept_ += bytes; }
    void keep_cheap(double bytes) noexcept;
    void keep_core(double bytes) noexcept;
    void logits(double bytes) noexcept { cost_.logits += Bytes{bytes}; }
    void parameters(double count) noexcept { cost_.parameters += count; }
    void expert_parameters(double count) noexcept { cost_.expert_parameters += count; }
    /// Largest tensor that only lives while the block runs backward.
    void transient(double bytes) noexcept;

    /// Applies recompute and the host's floor. `full_input`: bytes that full recompute keeps instead of everything.
    [[nodiscard]] BlockCost finish(double full_input) noexcept;
    /// Blocks that are never recomputed (embedding, head).
    [[nodiscard]] BlockCost finish_kept() noexcept;

    [[nodiscard]] Seconds input_gradient_time(const compute::Gemm& gemm) const noexcept;

private:
    /// The times as the chosen release of the software takes them.
    [[nodiscard]] BlockCost in_release() noexcept;
    void add_rerun(Rerun rerun, Seconds time, Flops flops) noexcept;
    void floor_by_host(PartTimes& pass, Seconds others) const noexcept;

    const Scope& scope_;
    BlockCost cost_;
    Seconds selective_time_;
    Flops selective_flops_;
    Flops forward_flops_;
    double kept_ = 0.0, dropped_ = 0.0, transient_ = 0.0;
};

}  // namespace windtunnel::train
