#pragma once
/// Time of an iteration of an inference engine on cards whose data sheet is known.
///
/// Model:   an iteration is the sum over layers of attention projections, attention, collectives, feed-forward or
///          experts and a fixed part, then the output head and the host. A matrix product takes the larger of reading
///          its weights and of its operations; decode attention the larger of reading the cache and of its operations;
///          expert weights are read for the experts that are hit, E (1 - (1 - k/E)^T) of them. With attention data
///          parallelism tokens go to their experts and back (dispatch, combine), else tensor ranks add up.
/// Inputs:  EngineSetup; the load of one attention data-parallel rank (all ranks alike).
/// Returns: seconds, > 0 for a load with tokens.
/// Limits:  ranks are equal but for `expert_skew`; tiles and waves of products are inside the shares; a step with
///          prefill is issued kernel by kernel, a step of decodes alone from a graph.
/// Source:  roofline of Williams et al., CACM 52(4), 2009; expected hit experts: occupancy, derived; overlap of two
///          half batches: DeepSeek-V3 report, section 3.4, with both halves reading the weights (derived).
#include "windtunnel/comm/link.hpp"
#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/transformer.hpp"
#include "windtunnel/serve/step_cost.hpp"

namespace windtunnel::serve {

struct EngineSetup {
    model::Transformer transformer;
    model::Accelerator accelerator;
    model::EngineEfficiency efficiency;
    model::EngineLayout layout;
    model::EngineNumbers numbers;
    model::Speculation speculation;
    double expert_skew = 1.0;        ///< load of the fullest card over the mean, >= 1
    bool two_batch_overlap = false;  ///< each half's dispatch and combine run under the other half's compute
    Seconds link_wait{0.0};          ///< of dispatch and of combine each, beyond all_to_all_latency
};

/// A load in parts of sequences, for micro-batches and for closed forms. Meaning as in StepLoad.
struct FractionalLoad {
    double decode_sequences = 0.0, decode_context = 0.0;
    double prefill_sequences = 0.0, prefill_tokens = 0.0, prefill_context = 0.0, prefill_pairs = 0.0;
    double outputs = 0.0;
};

/// Where the time of an iteration goes, summed over layers; sum() is the iteration.
struct StepParts {
    Seconds projections, attention, dense_ffn, experts, collectives, streaming, fixed, head, host;
    [[nodiscard]] Seconds sum() const noexcept {
        return projections + attention + dense_ffn + experts + collectives + streaming + fixed + head + host;
    }
};

class EngineCost {
public:
    explicit EngineCost(EngineSetup setup);

    [[nodiscard]] Seconds step_time(const StepLoad& load) const noexcept { return step_parts(load).sum(); }
    [[nodiscard]] StepParts step_parts(const StepLoad& load) const noexcept;
    [[nodiscard]] StepParts step_parts(const FractionalLoad& load) const noexcept;
    [[nodiscard]] DecodeLine decode_line(int sequences) const noexcept;
    /// False where some layers see a window only: their reads stop growing with the context.
    [[nodiscard]] bool linear_decode() const noexcept { return !(window_layers_ > 0.0); }

    [[nodiscard]] const EngineSetup& setup() const noexcept { return setup_; }

private:
    /// Streams of one layer: what the card computes and what its links carry.
    struct Layers {
        StepParts parts;         ///< without collectives of experts, head and host
        Seconds expert_traffic;  ///< dispatch and combine, all layers
    };
    [[nodiscard]] Layers layers(const FractionalLoad& load, double tokens) const noexcept;
    [[nodiscard]] Seconds product(double tokens, double weights, const model::WeightFormat& format) const noexcept;
    [[nodiscard]] Seconds attention(const FractionalLoad& load) const noexcept;
    [[nodiscard]] Seconds experts(double tokens) const noexcept;
    [[nodiscard]] Seconds dispatch_and_combine(double tokens) const noexcept;
    [[nodiscard]] Seconds exchange_issue() const noexcept;
    [[nodiscard]] Seconds all_reduce(double tokens) const noexcept;

    EngineSetup setup_;
    comm::Links links_;
    double num_layers_ = 0.0, moe_layers_ = 0.0, window_layers_ = 0.0;
    double attention_weights_ = 0.0, dense_weights_ = 0.0, shared_weights_ = 0.0, expert_weights_ = 0.0;  ///< a card
    double kv_width_ = 0.0;      ///< cache elements of a token and layer that a card reads
    double experts_here_ = 0.0;  ///< routed experts (replicas included) on a card
    double query_tokens_ = 1.0;
};
static_assert(StepCost<EngineCost>);

}  // namespace windtunnel::serve
