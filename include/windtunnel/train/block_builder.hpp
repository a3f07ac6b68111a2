#pragma once
/// Adds up the operators of one block (a layer, the embedding, the head) into a BlockCost, and records them as a graph
/// where one is asked for.
///
/// Model:   operators run one after the other; a product's backward is two products of the same work; the gradient of a
/// weight
///          joins its buffer in memory; casts to 8 bit move 4 bytes an element; what communication hides is a fixed
///          share, or what the operator graph lets it (model::Overlap).
/// Source:  Korthikanti et al., 2022 (recompute); DeepSeek-V3 report, 2024, section 3.2.3 (selective recompute with
/// flash attention).
#include <initializer_list>

#include "windtunnel/comm/collectives.hpp"
#include "windtunnel/compute/attention.hpp"
#include "windtunnel/compute/gemm.hpp"
#include "windtunnel/train/graph_recorder.hpp"
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

/// Modules that selective recompute runs again (model::recompute_module, as bits). Full recompute runs all of the
/// forward again. Without a list of the plan: without flash attention the attention core (Korthikanti et al., 2022,
/// section 5); with it, where the core keeps next to nothing, norms, the activation function, and the up-projections of
/// latent attention (DeepSeek-V3 report, section 3.2.3).
[[nodiscard]] unsigned rerun_modules(const Job& job) noexcept;

/// One collective of a pass; `count` of them, one after the other.
struct Collective {
    const char* name = "";
    CollectiveKind kind = CollectiveKind::none;
    GroupName group = GroupName::none;
    int group_size = 1;
    Bytes message;
    Seconds time;
    Seconds piece{0.0};  ///< of one of Overlap::chunks pieces
    double count = 1.0;
    GraphRecorder::Place place = -1;  ///< in the graph; -1: behind what was added last
};

class BlockBuilder {
public:
    /// `graph`: operators are recorded there too.
    explicit BlockBuilder(const Scope& scope, GraphRecorder* graph = nullptr) noexcept
        : scope_{scope}, rerun_{rerun_modules(scope.job)}, graph_{graph} {}

    /// y = x W with its two backward products; the weight is k x n, on this card. `modules`: of which it is a part.
    void product(const char* name, const compute::Gemm& gemm, const compute::Card& card, unsigned modules = 0);
    /// `load`: rows of the busiest card over `each`.
    void grouped_product(const char* name, double groups, const compute::Gemm& each, const compute::Card& card,
                         double load = 1.0, unsigned modules = 0);
    /// Byte-bound operator with `kernels` launches each way.
    void stream(const char* name, double forward_bytes, double backward_bytes, int kernels, unsigned modules = 0);
    /// The attention core of a `share` of the layers (those with and those without a sliding window).
    void attention(const char* name, const compute::AttentionShape& shape, double share);
    /// Communication of one pass each way; the hidden share is taken off here.
    void communicate(Part part, std::initializer_list<Collective> forward, std::initializer_list<Collective> backward,
                     unsigned modules = 0);
    /// Communication under an operator of the same pass that was added before it and takes `under`: what sticks out.
    void communicate_under(Part part, const Collective& forward, Seconds under_forward, const Collective& backward,
                           Seconds under_backward);
    /// Input of a product gathered again for the weight gradient, under the input gradient's product.
    /// `product`: here() before it was added.
    void regather(const Collective& gather, Seconds hidden_under, GraphRecorder::Place product);
    /// Host work of one pass each way.
    void host(const char* name, Seconds each_pass);
    /// Bytes held from forward to backward by operators of `modules`, which selective recompute may run again.
    void keep(double bytes, unsigned modules = 0) noexcept;
    void logits(double bytes) noexcept { cost_.logits += Bytes{bytes}; }
    void parameters(double count) noexcept;
    void expert_parameters(double count) noexcept;
    /// Largest tensor that only lives while the block runs backward.
    void transient(double bytes) noexcept;

    [[nodiscard]] GraphRecorder::Place here() const noexcept { return graph_ != nullptr ? graph_->here() : 0; }
    /// What follows, until end_branch(), runs beside what was added since `fork`.
    void begin_branch(GraphRecorder::Place fork) {
        if (graph_ != nullptr) graph_->begin_branch(fork);
    }
    void end_branch() noexcept {
        if (graph_ != nullptr) graph_->end_branch();
    }

    /// Applies recompute and the host's floor. `full_input`: bytes that full recompute keeps instead of everything.
    [[nodiscard]] BlockCost finish(double full_input);
    /// Blocks that are never recomputed (embedding, head).
    [[nodiscard]] BlockCost finish_kept();

    [[nodiscard]] Seconds input_gradient_time(const compute::Gemm& gemm) const noexcept;

private:
    /// The times as the chosen release of the software takes them.
    [[nodiscard]] BlockCost in_release() noexcept;
    void add_rerun(unsigned modules, Seconds time, Flops flops) noexcept;
    [[nodiscard]] bool reruns(unsigned modules) const noexcept;
    void floor_by_host(Pass pass, PartTimes& times, Seconds others, double kernels);
    void record_rest();
    void record(Operator one, unsigned modules = 0);
    void record_product(const char* name, double groups, const compute::Gemm& each, const compute::Card& card,
                        double load, unsigned modules);
    [[nodiscard]] Operator collective(const Collective& call, Pass pass, Part part, Seconds hidden) const noexcept;
    void record_exchange(const Collective& call, Pass pass, Part part, Seconds hidden, unsigned modules);

    const Scope& scope_;
    unsigned rerun_;
    GraphRecorder* graph_;
    BlockCost cost_;
    Seconds selective_time_;
    Flops selective_flops_;
    Flops forward_flops_;
    double kept_ = 0.0, dropped_ = 0.0, transient_ = 0.0;
    double forward_kernels_ = 0.0, backward_kernels_ = 0.0;
    // Of the operator that is recorded next.
    double new_kept_ = 0.0, new_parameters_ = 0.0, new_expert_parameters_ = 0.0;
};

}  // namespace windtunnel::train
