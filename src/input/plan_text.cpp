#include "plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <variant>

namespace windtunnel::input {
namespace {

/// Lines `section.key = value`, numbers with the shortest digits that read back to the same bits.
class Lines {
public:
    explicit Lines(std::string section) : section_{std::move(section)} {}
    template <class Value>
    void add(std::string_view key, const Value& value) {
        if constexpr (std::is_enum_v<Value>)
            text_ += fmt::format("{}.{} = {}\n", section_, key, static_cast<int>(value));
        else
            text_ += fmt::format("{}.{} = {}\n", section_, key, value);
    }
    template <int T, int D, int W, int E, int M>
    void add(std::string_view key, const base::Quantity<T, D, W, E, M>& quantity) {
        add(key, quantity.value());
    }
    void add(std::string_view key, const model::Law& law) {
        add(key, fmt::format("{} {} {}", static_cast<int>(law.kind), law.shape, law.scale.value()));
    }
    template <class Value>
    void add(std::string_view key, const std::optional<Value>& value) {
        if (value) return add(key, *value);
        add(key, "none");
    }
    void text(std::string_view key, const std::string& value) { add(key, fmt::format("{:?}", value)); }
    template <class Value>
    void axis(std::string_view key, const model::Axis<Value>& axis) {
        if (axis.any) return add(key, "any");
        std::string list;
        if constexpr (std::is_enum_v<Value>) {
            for (const Value value : axis.values)
                list += fmt::format("{}{}", list.empty() ? "" : ", ", static_cast<int>(value));
        } else {
            const auto& values = axis.values;
            const auto by = values.size() > 2 ? values[1] - values[0] : Value{0};
            bool even = values.size() > 16;
            for (std::size_t i = 1; even && i < values.size(); ++i) even = values[i] - values[i - 1] == by;
            list = even ? fmt::format("{} to {} by {}", values.front(), values.back(), by)
                        : fmt::format("{}", fmt::join(values, ", "));
        }
        add(key, "[" + list + "]");
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string section_;
    std::string text_;
};

std::string model_text(const model::Transformer& model) {
    Lines lines{"model"};
    lines.text("name", model.name);
    lines.add("num_layers", model.num_layers);
    lines.add("num_dense_layers", model.num_dense_layers);
    lines.add("moe_layer_step", model.moe_layer_step);
    lines.add("hidden", model.hidden);
    lines.add("ffn", model.ffn);
    lines.add("vocabulary", model.vocabulary);
    lines.add("padded_vocabulary", model.padded_vocabulary);
    lines.add("activation", model.activation);
    lines.add("tied_embeddings", model.tied_embeddings);
    lines.add("biases", model.biases);
    lines.add("learned_positions", model.learned_positions);
    lines.add("num_mtp_layers", model.num_mtp_layers);
    const model::Attention& attention = model.attention;
    lines.add("attention.kind", attention.kind);
    lines.add("attention.num_heads", attention.num_heads);
    lines.add("attention.num_kv_heads", attention.num_kv_heads);
    lines.add("attention.head_dim", attention.head_dim);
    lines.add("attention.q_lora_rank", attention.q_lora_rank);
    lines.add("attention.kv_lora_rank", attention.kv_lora_rank);
    lines.add("attention.qk_nope_head_dim", attention.qk_nope_head_dim);
    lines.add("attention.qk_rope_head_dim", attention.qk_rope_head_dim);
    lines.add("attention.v_head_dim", attention.v_head_dim);
    lines.add("attention.sliding_window", attention.sliding_window);
    lines.add("attention.num_sliding_layers", attention.num_sliding_layers);
    if (model.experts) {
        lines.add("experts.num_routed", model.experts->num_routed);
        lines.add("experts.top_k", model.experts->top_k);
        lines.add("experts.ffn", model.experts->ffn);
        lines.add("experts.shared_ffn", model.experts->shared_ffn);
    }
    return lines.text();
}

std::string cluster_text(const model::Cluster& cluster) {
    Lines lines{"cluster"};
    const model::Accelerator& card = cluster.accelerator;
    lines.text("id", cluster.id);
    lines.add("nodes", cluster.num_nodes + cluster.reserved_nodes);
    lines.text("card.id", card.id);
    lines.text("card.vendor", card.vendor);
    for (int p = 0; p < model::num_precisions; ++p)
        lines.add(fmt::format("card.matrix_peak.{}", p), card.matrix_peak[static_cast<std::size_t>(p)]);
    lines.add("card.vector_peak", card.vector_peak);
    lines.add("card.memory", card.memory);
    lines.add("card.memory_bandwidth", card.memory_bandwidth);
    lines.add("card.cards_per_node", card.cards_per_node);
    lines.text("card.scale_up.kind", card.scale_up.kind);
    lines.add("card.scale_up.bandwidth", card.scale_up.bandwidth);
    lines.add("card.scale_up.latency", card.scale_up.latency);
    lines.add("card.scale_up.domain", card.scale_up_domain);
    lines.text("card.scale_out.kind", card.scale_out.kind);
    lines.add("card.scale_out.bandwidth", card.scale_out.bandwidth);
    lines.add("card.scale_out.latency", card.scale_out.latency);
    lines.add("card.power", card.power);
    // What differs from rings on a fabric without leaves: older results keep their identity.
    for (const auto& [name, tier] :
         {std::pair{"card.scale_up", &card.scale_up}, std::pair{"card.scale_out", &card.scale_out}}) {
        if (tier->algorithm != model::CollectiveAlgorithm::ring)
            lines.add(fmt::format("{}.algorithm", name), model::name_of(tier->algorithm));
        if (tier->leaf_cards > 0) {
            lines.add(fmt::format("{}.leaf_cards", name), tier->leaf_cards);
            lines.add(fmt::format("{}.oversubscription", name), tier->oversubscription);
        }
        if (tier->shared_port) lines.add(fmt::format("{}.shared_port", name), true);
    }
    const model::OnChip& chip = card.on_chip;
    const std::pair<const char*, double> sizes[] = {{"tiles", chip.tiles ? 1.0 : 0.0},
                                                    {"cores", chip.cores},
                                                    {"vector_cores", chip.vector_cores},
                                                    {"clock", chip.clock.value()},
                                                    {"flops_per_cycle", chip.flops_per_cycle},
                                                    {"l2", chip.l2.value()},
                                                    {"l2_bandwidth", chip.l2_bandwidth.value()},
                                                    {"l1", chip.l1.value()},
                                                    {"l0a", chip.l0a.value()},
                                                    {"l0b", chip.l0b.value()},
                                                    {"l0c", chip.l0c.value()},
                                                    {"unified_buffer", chip.unified_buffer.value()}};
    for (const auto& [name, size] : sizes)
        if (size > 0.0) lines.add(fmt::format("card.on_chip.{}", name), size);
    return lines.text();
}

std::string efficiency_text(const model::Efficiency& efficiency) {
    Lines lines{"calibration"};
    lines.text("name", efficiency.name);
    lines.text("version", efficiency.version);
    lines.add("evidence", efficiency.evidence);
    lines.add("gemm", efficiency.gemm);
    lines.add("gemm_half_size", efficiency.gemm_half_size);
    lines.add("attention", efficiency.attention);
    lines.add("grouped_gemm", efficiency.grouped_gemm);
    lines.add("memory", efficiency.memory);
    lines.add("scale_up", efficiency.scale_up);
    lines.add("scale_out", efficiency.scale_out);
    lines.add("scale_up_hidden", efficiency.scale_up_hidden);
    lines.add("scale_out_hidden", efficiency.scale_out_hidden);
    lines.add("kernel_launch", efficiency.kernel_launch);
    lines.add("host_per_layer_pass", efficiency.host_per_layer_pass);
    lines.add("moe_routing", efficiency.moe_routing);
    lines.add("fixed_per_step", efficiency.fixed_per_step);
    lines.add("low_precision_cast", efficiency.low_precision_cast);
    lines.add("memory_context", efficiency.memory_context);
    lines.add("memory_fragmentation", efficiency.memory_fragmentation);
    for (const model::ReleaseFactor& known : efficiency.releases) lines.add("release." + known.release, known.factor);
    lines.text("release", efficiency.release);
    lines.add("release_factor", efficiency.release_factor);
    lines.add("fitted_min_cards", efficiency.fitted_min_cards);
    lines.add("fitted_max_cards", efficiency.fitted_max_cards);
    lines.add("fitted_min_hidden", efficiency.fitted_min_hidden);
    lines.add("fitted_max_hidden", efficiency.fitted_max_hidden);
    lines.add("fitted_min_sequence", efficiency.fitted_min_sequence);
    lines.add("fitted_max_sequence", efficiency.fitted_max_sequence);
    lines.add("step_time_error_90", efficiency.step_time_error_90);
    return lines.text();
}

/// Only what differs from the plain case: the identity of other plans stays.
std::string methods_text(const model::TrainingMethods& methods, const model::Documents& documents) {
    Lines lines{"train"};
    const auto add = [&lines](std::string_view key, const auto& value, const auto& plain) {
        if (!(value == plain)) lines.add(key, value);
    };
    const model::TrainingMethods plain;
    add("context.method", methods.context, plain.context);
    add("context.ulysses_degree", methods.ulysses_degree, plain.ulysses_degree);
    add("sharding.group", methods.shard_group, plain.shard_group);
    add("experts.imbalance", methods.expert_imbalance, plain.expert_imbalance);
    add("recomputation.modules", methods.recomputation.modules, plain.recomputation.modules);
    add("recomputation.method", methods.recomputation.method, plain.recomputation.method);
    add("recomputation.layers", methods.recomputation.layers, plain.recomputation.layers);
    add("overlap.operators", methods.overlap.operators, plain.overlap.operators);
    add("overlap.chunks", methods.overlap.chunks, plain.overlap.chunks);
    add("overlap.compute_rate", methods.overlap.compute_rate, plain.overlap.compute_rate);
    add("overlap.communication_rate", methods.overlap.communication_rate, plain.overlap.communication_rate);
    add("overlap.point_to_point", methods.overlap.point_to_point, plain.overlap.point_to_point);
    add("overlap.experts", methods.overlap.experts, plain.overlap.experts);
    add("overlap.bucket", methods.overlap.bucket, plain.overlap.bucket);
    add("host.launch", methods.host.launch, plain.host.launch);
    add("host.graphs", methods.host.graphs, plain.host.graphs);
    add("host.graph_launch", methods.host.graph_launch, plain.host.graph_launch);
    add("jitter.sigma", methods.jitter.sigma, plain.jitter.sigma);
    add("jitter.law", methods.jitter.law, plain.jitter.law);
    add("jitter.slow_share", methods.jitter.slow_share, plain.jitter.slow_share);
    add("jitter.slow_speed", methods.jitter.slow_speed, plain.jitter.slow_speed);
    add("offload.activations", methods.offload.activations, plain.offload.activations);
    add("offload.optimizer", methods.offload.optimizer, plain.offload.optimizer);
    add("offload.bandwidth", methods.offload.bandwidth, plain.offload.bandwidth);
    if (documents.vary()) {
        lines.add("documents.lengths", fmt::format("[{}]", fmt::join(documents.lengths, ", ")));
        lines.add("documents.median", documents.median);
        lines.add("documents.sigma", documents.sigma);
        lines.add("documents.packing", documents.packing);
    }
    return lines.text();
}

std::string training_text(const model::Training& training) {
    Lines lines{"train"};
    const model::LayoutSpace& space = training.layout;
    lines.add("sequence_length", training.sequence_length);
    lines.add("tokens", training.tokens);
    lines.add("precision", training.precision);
    lines.add("gradient_precision", training.gradient_precision);
    lines.add("activation_precision", training.activation_precision);
    lines.add("flash_attention", training.flash_attention);
    lines.add("fused_operators", training.fused_operators);
    lines.add("reserve", training.reserve_fraction);
    lines.axis("layout.cards", space.cards);
    lines.axis("layout.tensor_parallel", space.tensor_parallel);
    lines.axis("layout.pipeline_parallel", space.pipeline_parallel);
    lines.axis("layout.virtual_pipeline", space.virtual_pipeline);
    lines.axis("layout.context_parallel", space.context_parallel);
    lines.axis("layout.expert_parallel", space.expert_parallel);
    lines.axis("layout.expert_tensor_parallel", space.expert_tensor_parallel);
    lines.axis("layout.micro_batch_size", space.micro_batch_size);
    lines.axis("layout.global_batch_size", space.global_batch_size);
    lines.axis("layout.recompute", space.recompute);
    lines.axis("layout.pipeline_schedule", space.schedule);
    lines.axis("layout.optimizer_sharding", space.optimizer_sharding);
    lines.add("layout.sequence_parallel", space.sequence_parallel);
    lines.add("layout.pipeline_split", model::to_text(space.split));
    if (training.published)
        lines.add("published", fmt::format("{}, sequence_parallel {}", model::to_text(*training.published),
                                           training.published->sequence_parallel));
    return lines.text() + methods_text(training.methods, training.documents);
}

std::string failures_text(const model::Failures& failures) {
    Lines lines{"failures"};
    for (std::size_t i = 0; i < failures.components.size(); ++i) {
        const auto& component = failures.components[i];
        const auto key = [&](const char* name) { return fmt::format("component[{}].{}", i, name); };
        lines.text(key("name"), component.name);
        lines.add(key("count_per"), component.count_per);
        lines.add(key("count_multiple"), component.count_multiple);
        lines.add(key("up"), component.up);
        lines.add(key("repair"), component.repair);
        lines.add(key("effect"), component.effect);
        lines.add(key("slow_factor"), component.slow_factor);
        lines.add(key("detection"), component.detection);
        lines.add(key("takes_node"), component.takes_node);
    }
    for (std::size_t i = 0; i < failures.variants.size(); ++i) {
        const auto& variant = failures.variants[i];
        const auto key = [&](const char* name) { return fmt::format("variant[{}].{}", i, name); };
        lines.text(key("name"), variant.name);
        lines.add(key("up"), variant.up);
        lines.add(key("scales_with_nodes"), variant.scales_with_nodes);
        lines.add(key("reference_nodes"), variant.reference_nodes);
        lines.add(key("repair"), variant.repair);
        lines.add(key("takes_node"), variant.takes_node);
    }
    return lines.text();
}

std::string recovery_text(const model::Recovery& recovery) {
    Lines lines{"recovery"};
    lines.add("checkpoint_interval", recovery.checkpoint_interval);
    lines.add("checkpoint_write", recovery.checkpoint_write);
    lines.add("checkpoint_bandwidth", recovery.checkpoint_bandwidth);
    lines.add("checkpoint_background", recovery.checkpoint_background);
    lines.add("detection", recovery.detection);
    lines.add("ageing", recovery.ageing);
    lines.add("fleet", recovery.fleet);
    lines.add("restart", recovery.restart);
    lines.add("spare_nodes", recovery.spare_nodes);
    for (std::size_t i = 0; i < recovery.ladder.size(); ++i) {
        const auto& rung = recovery.ladder[i];
        const auto key = [&](const char* name) { return fmt::format("ladder[{}].{}", i, name); };
        lines.text(key("action"), rung.action);
        lines.add(key("success"), rung.success);
        lines.add(key("time"), rung.time);
        lines.add(key("limit"), rung.limit);
        lines.add(key("lost"), rung.lost);
        lines.add(key("covers"), fmt::format("{}", rung.covers));
        lines.add(key("needs_spare"), rung.needs_spare);
    }
    return lines.text();
}

void add_pool(Lines& lines, const std::string& name, const model::EnginePool& pool) {
    lines.add(name, fmt::format("{} x tp {} pp {} dp {} ep {} etp {} redundant {} seqs {} tokens {}", pool.instances,
                                pool.tensor_parallel, pool.pipeline_parallel, pool.data_parallel, pool.expert_parallel,
                                pool.expert_tensor_parallel, pool.redundant_experts, pool.max_num_seqs,
                                pool.max_num_batched_tokens));
    lines.add(name + ".num_blocks", pool.num_blocks);
}

void add_lengths(Lines& lines, const std::string& name, const model::LengthLaw& law) {
    lines.add(name,
              fmt::format("{} {} {} {} {}", static_cast<int>(law.kind), law.mean, law.variation, law.least, law.most));
}

std::string serving_text(const model::Serving& serving) {
    Lines lines{"serve"};
    const model::ServedModel& served = serving.model;
    lines.text("model.precision", served.precision);
    lines.add("model.kv_cache_8_bit", served.kv_cache_8_bit);
    lines.add("model.max_model_len", served.max_model_len);
    lines.add("model.speculative_tokens", served.speculative_tokens);
    lines.add("model.acceptance", served.acceptance);
    lines.add("model.expert_skew", served.expert_skew);
    const model::Deployment& deployment = serving.deployment;
    add_pool(lines, "pool", deployment.pool);
    if (deployment.prefill) add_pool(lines, "prefill", *deployment.prefill);
    lines.add("batching", deployment.batching);
    lines.add("order", deployment.order);
    lines.add("routing", deployment.routing);
    lines.add("block_size", deployment.block_size);
    lines.add("gpu_memory_utilization", deployment.gpu_memory_utilization);
    lines.add("activation_memory", deployment.activation_memory);
    lines.add("runtime_memory", deployment.runtime_memory);
    lines.add("prefix_caching", deployment.prefix_caching);
    lines.add("chunked_prefill", deployment.chunked_prefill);
    lines.add("async_scheduling", deployment.async_scheduling);
    lines.add("two_batch_overlap", deployment.two_batch_overlap);
    lines.add("queue_limit", deployment.queue_limit);
    lines.add("autoscaling.most_instances", deployment.autoscaling.most_instances);
    lines.add("autoscaling.requests_per_instance", deployment.autoscaling.requests_per_instance);
    lines.add("autoscaling.interval", deployment.autoscaling.interval);
    lines.add("autoscaling.start_time", deployment.autoscaling.start_time);
    const model::ServeLoad& load = serving.load;
    lines.add("load.arrivals", load.arrivals);
    lines.add("load.request_rate", load.request_rate);
    lines.add("load.burstiness", load.burstiness);
    lines.add("load.burst_factor", load.burst_factor);
    lines.add("load.burst_share", load.burst_share);
    lines.add("load.burst_length", load.burst_length);
    lines.add("load.day_amplitude", load.day_amplitude);
    lines.add("load.day_period", load.day_period);
    lines.add("load.concurrency", load.concurrency);
    lines.add("load.num_requests", load.num_requests);
    lines.add("load.warm_up", load.warm_up);
    lines.add("load.lengths_given", load.lengths_given);
    add_lengths(lines, "load.input", load.input);
    add_lengths(lines, "load.output", load.output);
    lines.add("load.turns", load.turns);
    lines.add("load.think_time", load.think_time);
    lines.add("load.prefix_groups", load.prefix_groups);
    lines.add("load.prefix_tokens", load.prefix_tokens);
    lines.add("load.prefix_skew", load.prefix_skew);
    lines.add("load.priority_share", load.priority_share);
    if (load.trace) lines.add("load.trace", fmt::format("{} rows, {:016x}", load.trace->rows.size(), load.trace->hash));
    const model::EngineEfficiency& engine = serving.engine;
    lines.text("engine.name", engine.name);
    lines.add("engine.evidence", engine.evidence);
    for (const model::EngineParameter& parameter : model::engine_parameters())
        std::visit(
            [&](auto member) {
                if constexpr (std::is_same_v<decltype(member), Seconds model::EngineEfficiency::*>)
                    lines.add("engine." + parameter.name, (engine.*member).value());
                else
                    lines.add("engine." + parameter.name, engine.*member);
            },
            parameter.member);
    lines.add("slo.ttft", serving.slo.ttft);
    lines.add("slo.tpot", serving.slo.tpot);
    lines.add("slo.e2e", serving.slo.e2e);
    return lines.text();
}

std::string study_text(const model::Plan& plan) {
    Lines search{"search"}, rehearsal{"rehearsal"}, cost{"cost"};
    search.add("objective", plan.search.objective);
    search.add("pareto", fmt::format("{}", fmt::join(plan.search.pareto, ", ")));
    search.add("top", plan.search.top);
    search.add("margin", plan.search.margin);
    search.add("limits.parameters", plan.search.max_parameters);
    search.add("limits.activated_parameters", plan.search.max_activated_parameters);
    search.add("limits.usd", plan.search.max_usd);
    search.add("limits.power", plan.search.max_power);
    rehearsal.add("horizon", plan.rehearsal.horizon);
    rehearsal.add("tokens", plan.rehearsal.tokens);
    rehearsal.add("trials", plan.rehearsal.trials);
    cost.add("card", plan.cost.card);
    cost.add("energy", plan.cost.energy);
    cost.add("pue", plan.cost.pue);
    cost.add("spare_node", plan.cost.spare_node);
    return search.text() + rehearsal.text() + cost.text();
}

}  // namespace

std::string resolved_text(const model::Plan& plan) {
    Lines head{"plan"};
    head.text("title", plan.title);
    head.add("seed", plan.seed);
    return head.text() + model_text(plan.transformer) + cluster_text(plan.cluster) + efficiency_text(plan.efficiency) +
           (plan.training ? training_text(*plan.training) : std::string{}) +
           (plan.serving ? serving_text(*plan.serving) : std::string{}) + failures_text(plan.failures) +
           recovery_text(plan.recovery) + study_text(plan);
}

}  // namespace windtunnel::input
