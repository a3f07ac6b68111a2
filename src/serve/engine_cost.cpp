#include "windtunnel/serve/engine_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "windtunnel/comm/collectives.hpp"
#include "windtunnel/serve/kv_size.hpp"

namespace windtunnel::serve {
namespace {

constexpr double wide_bytes = 2.0;  // activations between layers, head and embeddings

comm::Links links_of(const model::Accelerator& accelerator, const model::EngineEfficiency& efficiency) {
    model::Efficiency shares;
    shares.scale_up = efficiency.scale_up;
    shares.scale_out = efficiency.scale_out;
    return comm::links_of(accelerator, shares);
}

StepParts& operator+=(StepParts& a, const StepParts& b) {
    a.projections += b.projections;
    a.attention += b.attention;
    a.dense_ffn += b.dense_ffn;
    a.experts += b.experts;
    a.collectives += b.collectives;
    a.streaming += b.streaming;
    a.fixed += b.fixed;
    a.head += b.head;
    a.host += b.host;
    return a;
}

StepParts operator*(double factor, const StepParts& p) {
    return {factor * p.projections, factor * p.attention,   factor * p.dense_ffn,
            factor * p.experts,     factor * p.collectives, factor * p.streaming,
            factor * p.fixed,       factor * p.head,        factor * p.host};
}

/// Share of a step that one micro-batch of `count` equal ones has.
FractionalLoad share_of(const FractionalLoad& load, double count) {
    FractionalLoad share = load;
    for (double* value : {&share.decode_sequences, &share.decode_context, &share.prefill_sequences,
                          &share.prefill_tokens, &share.prefill_context, &share.prefill_pairs})
        *value /= count;
    return share;
}

}  // namespace

EngineCost::EngineCost(EngineSetup setup)
    : setup_{std::move(setup)}, links_{links_of(setup_.accelerator, setup_.efficiency)} {
    const model::Transformer& t = setup_.transformer;
    const model::Attention& a = t.attention;
    const double tp = setup_.layout.tensor_parallel;
    const model::ParameterCount count = model::parameter_count(t);
    num_layers_ = t.num_layers;
    moe_layers_ = t.num_moe_layers();
    window_layers_ = a.sliding_window > 0 ? a.num_sliding_layers : 0;
    kv_width_ = kv_elements_of_card(t, setup_.layout.tensor_parallel) / std::max(1.0, num_layers_);
    const double weights = static_cast<double>(count.attention_per_layer);
    if (a.kind == model::AttentionKind::mla) {  // every tensor rank forms the latents
        const double latents = static_cast<double>(t.hidden) * (a.q_lora_rank + a.kv_lora_rank + a.qk_rope_head_dim);
        attention_weights_ = latents + (weights - latents) / tp;
    } else {
        const double kv = 2.0 * t.hidden * static_cast<double>(a.num_kv_heads) * a.head_dim;
        attention_weights_ = (weights - kv) / tp + kv * std::max(1.0 / tp, 1.0 / a.num_kv_heads);
    }
    dense_weights_ = static_cast<double>(count.dense_ffn_per_layer) / tp;
    shared_weights_ = static_cast<double>(count.shared_experts_per_layer) / tp;
    expert_weights_ = static_cast<double>(count.expert) / setup_.layout.expert_tensor_parallel;
    if (t.experts)
        experts_here_ = static_cast<double>(t.experts->num_routed + setup_.layout.redundant_experts) /
                        setup_.layout.expert_parallel;
    query_tokens_ = 1.0 + setup_.speculation.draft_tokens;
}

Seconds EngineCost::product(double tokens, double weights, const model::WeightFormat& format) const noexcept {
    const model::Accelerator& card = setup_.accelerator;
    const model::EngineEfficiency& e = setup_.efficiency;
    FlopsPerSecond rate =
        card.peak(format.compute) * (model::bytes_per_element(format.compute) < 2.0 ? e.gemm_8 : e.gemm);
    if (!(rate > FlopsPerSecond{0.0})) rate = card.peak(model::Precision::bf16) * e.gemm;  // weights alone are narrow
    const Seconds reading = Bytes{weights * format.bytes} / (card.memory_bandwidth * e.weights);
    return std::max(reading, Flops{2.0 * tokens * weights} / rate);
}

Seconds EngineCost::attention(const FractionalLoad& load) const noexcept {
    const model::Attention& a = setup_.transformer.attention;
    const model::Accelerator& card = setup_.accelerator;
    const model::EngineEfficiency& e = setup_.efficiency;
    const double heads = std::max(1.0, static_cast<double>(a.num_heads) / setup_.layout.tensor_parallel);
    const FlopsPerSecond peak = card.peak(model::Precision::bf16);
    const bool latent = a.kind == model::AttentionKind::mla;
    const double head_work = 2.0 * heads * (a.qk_dim() + a.value_dim());
    const double absorbed_work = 2.0 * heads * (2.0 * a.kv_lora_rank + a.qk_rope_head_dim);
    const double group = latent ? 1.0 : static_cast<double>(a.num_heads) / std::max(1, a.num_kv_heads);
    const double reads = 1.0 + (group - 1.0) * e.group_reads;
    const auto decode = [&](double context) {
        const Seconds reading =
            Bytes{context * reads * kv_width_ * setup_.numbers.kv_bytes} / (card.memory_bandwidth * e.cache);
        const Flops work{context * query_tokens_ * (latent ? absorbed_work : head_work)};
        return std::max(reading, work / (peak * (latent ? e.latent_attention : e.attention)));
    };
    const auto prefill = [&](double pairs, double context) {
        const Seconds reading =
            Bytes{context * kv_width_ * setup_.numbers.kv_bytes} / (card.memory_bandwidth * e.cache);
        return std::max(reading, Flops{pairs * head_work} / (peak * e.attention));
    };
    const double full = num_layers_ - window_layers_;
    Seconds time = full * (decode(load.decode_context) + prefill(load.prefill_pairs, load.prefill_context));
    if (window_layers_ > 0.0) {
        const double window = a.sliding_window;
        const double seen = std::min(load.decode_context, load.decode_sequences * window);
        const double pairs = std::min(load.prefill_pairs, load.prefill_tokens * window);
        const double before = std::min(load.prefill_context, load.prefill_sequences * window);
        time += window_layers_ * (decode(seen) + prefill(pairs, before));
    }
    return time;
}

Seconds EngineCost::experts(double tokens) const noexcept {
    const model::Accelerator& card = setup_.accelerator;
    const model::EngineEfficiency& e = setup_.efficiency;
    const model::Experts& x = *setup_.transformer.experts;
    const double all_tokens = tokens * setup_.layout.attention_data_parallel;
    const double share = static_cast<double>(x.top_k) / x.num_routed;
    // A replica of a hot expert is read as soon as any of its tokens comes here.
    const double hit = experts_here_ * -std::expm1(all_tokens * std::log1p(-std::min(share, 1.0 - 1e-12)));
    const double least = std::min(hit, all_tokens * x.top_k);
    const model::WeightFormat& format = setup_.numbers.experts;
    FlopsPerSecond peak = card.peak(format.compute);
    if (!(peak > FlopsPerSecond{0.0})) peak = card.peak(model::Precision::bf16);
    const double routed = all_tokens * x.top_k / setup_.layout.expert_parallel * setup_.expert_skew;
    const Seconds reading = Bytes{least * expert_weights_ * format.bytes} / (card.memory_bandwidth * e.grouped_memory);
    const Seconds moving =
        Bytes{e.permute_passes * routed * setup_.transformer.hidden * wide_bytes} / (card.memory_bandwidth * e.weights);
    return std::max(reading, Flops{2.0 * routed * expert_weights_} / (peak * e.grouped_gemm)) + moving;
}

Seconds EngineCost::all_reduce(double tokens) const noexcept {
    const int tp = setup_.layout.tensor_parallel;
    if (tp <= 1) return Seconds{0.0};
    comm::Links links = links_;
    links.inside.latency = links.outside.latency = Seconds{0.0};  // the engine's own latency stands for all steps
    const auto group = topology::place_group(tp, 1, links.domain_size);
    const Bytes message{tokens * setup_.transformer.hidden * wide_bytes};
    return setup_.efficiency.all_reduce_latency + comm::all_reduce_time(message, group, links);
}

Seconds EngineCost::exchange_issue() const noexcept {
    const bool exchanged = setup_.layout.expert_parallel > 1 && setup_.layout.attention_data_parallel > 1;
    return exchanged ? setup_.efficiency.all_to_all_issue : Seconds{0.0};
}

Seconds EngineCost::dispatch_and_combine(double tokens) const noexcept {
    const int ranks = setup_.layout.expert_parallel;
    const model::Experts& x = *setup_.transformer.experts;
    if (ranks <= 1 || setup_.layout.attention_data_parallel <= 1) return Seconds{0.0};
    comm::Links links = links_;
    links.inside.latency = links.outside.latency = Seconds{0.0};
    const auto group = topology::place_group(ranks, 1, links.domain_size);
    // One copy for each rank that has one of the token's experts; tensor ranks split the tokens of their group.
    const double copies = ranks * -std::expm1(x.top_k * std::log1p(-1.0 / ranks));
    const double elements = tokens / setup_.layout.tensor_parallel * copies * setup_.transformer.hidden;
    const Seconds there = comm::all_to_all_time(Bytes{elements * setup_.numbers.dispatch_bytes}, group, links);
    const Seconds back = comm::all_to_all_time(Bytes{elements * setup_.numbers.combine_bytes}, group, links);
    const Seconds waiting = setup_.efficiency.all_to_all_latency + setup_.link_wait;
    return 2.0 * (waiting + exchange_issue()) + there + back;
}

EngineCost::Layers EngineCost::layers(const FractionalLoad& load, double tokens) const noexcept {
    const model::EngineEfficiency& e = setup_.efficiency;
    const double dense_layers = num_layers_ - moe_layers_, hidden = setup_.transformer.hidden;
    const bool exchanged = moe_layers_ > 0.0 && setup_.layout.attention_data_parallel > 1;
    Layers all;
    StepParts& parts = all.parts;
    parts.projections = num_layers_ * product(tokens, attention_weights_, setup_.numbers.dense);
    parts.attention = attention(load);
    parts.dense_ffn = dense_layers * product(tokens, dense_weights_, setup_.numbers.dense);
    if (moe_layers_ > 0.0) {
        if (shared_weights_ > 0.0)
            parts.dense_ffn += moe_layers_ * product(tokens, shared_weights_, setup_.numbers.dense);
        parts.experts = moe_layers_ * experts(tokens);
        all.expert_traffic = moe_layers_ * dispatch_and_combine(tokens);
    }
    // Attention output and feed-forward output; where tokens are exchanged with experts the second one is the exchange.
    parts.collectives = (2.0 * num_layers_ - (exchanged ? moe_layers_ : 0.0)) * all_reduce(tokens);
    parts.streaming = num_layers_ * (Bytes{e.streaming_passes * tokens * hidden * wide_bytes} /
                                     (setup_.accelerator.memory_bandwidth * e.weights));
    parts.fixed = num_layers_ * e.fixed_per_layer + moe_layers_ * e.fixed_per_expert_layer;
    if (setup_.transformer.attention.kind == model::AttentionKind::mla)
        parts.fixed += num_layers_ * e.fixed_per_latent_layer;
    return all;
}

StepParts EngineCost::step_parts(const StepLoad& step) const noexcept {
    return step_parts(FractionalLoad{static_cast<double>(step.decode_sequences), step.decode_context,
                                     static_cast<double>(step.prefill_sequences), step.prefill_tokens,
                                     step.prefill_context, step.prefill_pairs, static_cast<double>(step.outputs)});
}

StepParts EngineCost::step_parts(const FractionalLoad& whole) const noexcept {
    const model::EngineEfficiency& e = setup_.efficiency;
    const double sequences = whole.decode_sequences + whole.prefill_sequences;
    if (!(sequences > 0.0)) return {};
    // Stages of a pipeline work on as many micro-batches as there are sequences; each passes through all layers.
    const double stages = setup_.layout.pipeline_parallel;
    const FractionalLoad load = share_of(whole, std::max(1.0, std::min(stages, sequences)));
    const double tokens = load.decode_sequences * query_tokens_ + load.prefill_tokens;
    StepParts parts;
    if (setup_.two_batch_overlap && moe_layers_ > 0.0) {
        const Layers half = layers(share_of(load, 2.0), 0.5 * tokens);
        const Seconds computing = half.parts.sum();
        parts = 2.0 * half.parts;
        const Seconds issue = 2.0 * moe_layers_ * exchange_issue();
        parts.collectives += 2.0 * issue + std::max(Seconds{0.0}, half.expert_traffic - issue - computing);
    } else {
        const Layers all = layers(load, tokens);
        parts = all.parts;
        parts.collectives += all.expert_traffic;
    }
    if (setup_.speculation.draft_tokens > 0 && load.decode_sequences > 0.0) {  // each draft token is a layer of its own
        FractionalLoad draft = load;
        draft.prefill_sequences = draft.prefill_tokens = draft.prefill_context = draft.prefill_pairs = 0.0;
        const Layers all = layers(draft, load.decode_sequences);
        const double share = setup_.speculation.draft_tokens / num_layers_;
        parts += share * all.parts;
        parts.collectives += share * all.expert_traffic;
    }
    const Seconds issued = num_layers_ * e.eager_floor_per_layer + moe_layers_ * e.eager_floor_per_expert_layer;
    if (load.prefill_tokens > 0.0) parts.host = std::max(Seconds{0.0}, issued - parts.sum());
    const double vocabulary = static_cast<double>(setup_.transformer.vocabulary) * setup_.transformer.hidden;
    const double rows = whole.outputs + whole.decode_sequences * (query_tokens_ - 1.0);
    const double heads = 1.0 + (load.decode_sequences > 0.0 ? setup_.speculation.draft_tokens : 0);
    parts.head = heads * product(rows / heads, vocabulary / setup_.layout.tensor_parallel, model::WeightFormat{});
    parts.host += e.fixed_per_step + sequences * e.fixed_per_sequence;
    return parts;
}

DecodeLine EngineCost::decode_line(int sequences) const noexcept {
    StepLoad load;
    load.decode_sequences = load.outputs = sequences;
    const Seconds fixed = step_time(load);
    constexpr double far = 1048576.0;  // tokens; the slope is the same everywhere
    load.decode_context = far;
    return {fixed, (step_time(load) - fixed) / far};
}

}  // namespace windtunnel::serve
