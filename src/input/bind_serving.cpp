#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "binders.hpp"

namespace windtunnel::input {
namespace {

using model::ArrivalKind;
using model::LengthKind;

void add(const Values& values, const std::string& path, std::string message, std::string expected, Findings& findings) {
    const Value& value = values[path];
    findings.push_back(finding_at(value.given ? value.place : values.place, field_of(values, path), std::move(message),
                                  std::move(expected)));
}

void bind_pool(const Values& values, model::EnginePool& pool) {
    const auto set = [&](const char* key, int& value) {
        if (values[key].present) value = values.integer(key);
    };
    set("instances", pool.instances);
    set("tensor_parallel", pool.tensor_parallel);
    set("pipeline_parallel", pool.pipeline_parallel);
    set("data_parallel", pool.data_parallel);
    set("expert_parallel", pool.expert_parallel);
    set("expert_tensor_parallel", pool.expert_tensor_parallel);
    set("redundant_experts", pool.redundant_experts);
    set("max_num_seqs", pool.max_num_seqs);
    set("max_num_batched_tokens", pool.max_num_batched_tokens);
    if (values.given("num_gpu_blocks")) pool.num_blocks = values["num_gpu_blocks"].integer;
}

model::LengthLaw bind_lengths(const Values& values, Findings& findings) {
    model::LengthLaw law;
    law.kind = enum_of<LengthKind>(values.text("law"), {{"fixed", LengthKind::fixed},
                                                        {"uniform", LengthKind::uniform},
                                                        {"lognormal", LengthKind::lognormal},
                                                        {"gamma", LengthKind::gamma},
                                                        {"weibull", LengthKind::weibull}});
    law.mean = values.number("mean");
    law.variation = values.number("variation");
    law.least = values.integer("least");
    law.most = values.integer("most");
    if (law.most < law.least)
        add(values, "most", fmt::format("{} is below least = {}", law.most, law.least), "least or more", findings);
    if (law.kind == LengthKind::uniform)
        law.mean = 0.5 * (law.least + law.most);
    else if (!values.given("mean"))
        add(values, "mean", "is missing", "mean tokens", findings);
    return law;
}

void bind_load(const Values& values, model::ServeLoad& load, Findings& findings) {
    load.arrivals = enum_of<ArrivalKind>(values.text("arrivals"), {{"poisson", ArrivalKind::poisson},
                                                                   {"gamma", ArrivalKind::gamma},
                                                                   {"weibull", ArrivalKind::weibull},
                                                                   {"mmpp", ArrivalKind::mmpp},
                                                                   {"diurnal", ArrivalKind::diurnal},
                                                                   {"closed_loop", ArrivalKind::closed_loop},
                                                                   {"trace", ArrivalKind::trace}});
    load.request_rate = values.number("request_rate");
    load.burstiness = values.number("burstiness");
    load.burst_factor = values.number("burst_factor");
    load.burst_share = values.number("burst_share");
    load.burst_length = Seconds{values.number("burst_length")};
    load.day_amplitude = values.number("day_amplitude");
    load.day_period = Seconds{values.number("day_period")};
    if (values.given("concurrency")) load.concurrency = values.integer("concurrency");
    load.num_requests = values["requests"].integer;
    load.warm_up = values.number("warm_up");
    load.turns = values.number("turns");
    load.think_time = values["think_time"].law;
    load.prefix_groups = values.integer("prefix_groups");
    load.prefix_tokens = values.integer("prefix_tokens");
    load.prefix_skew = values.number("prefix_skew");
    load.priority_share = values.number("priority_share");
    load.lengths_given = values.has_section("input") || values.has_section("output") || !values.given("trace");
    if (load.lengths_given) {
        load.input = bind_lengths(values.below("input"), findings);
        load.output = bind_lengths(values.below("output"), findings);
    }
    const bool open = load.arrivals != ArrivalKind::closed_loop && load.arrivals != ArrivalKind::trace;
    if (open && !values.given("request_rate"))
        add(values, "request_rate", "is missing", "mean requests per second", findings);
    if (load.arrivals == ArrivalKind::closed_loop && !values.given("concurrency"))
        add(values, "concurrency", "is missing", "requests in flight of the closed loop", findings);
    if (load.arrivals == ArrivalKind::trace && !values.given("trace"))
        add(values, "trace", "is missing", "a request trace", findings);
    if ((load.prefix_groups > 0) != (load.prefix_tokens > 0))
        add(values, load.prefix_groups > 0 ? "prefix_tokens" : "prefix_groups", "is 0 and the other one is not",
            "prefix_groups and prefix_tokens, both or none", findings);
    if (load.turns > 1.0 && load.arrivals == ArrivalKind::trace)
        add(values, "turns", "has no meaning for a trace: its rows are what was sent", "turns = 1", findings);
    if (load.turns > 1.0 && load.arrivals == ArrivalKind::closed_loop)
        add(values, "turns", "has no meaning for a closed loop", "turns = 1", findings);
}

std::vector<int> divisors(int number) {
    std::vector<int> all;
    for (int d = 1; d <= number && d <= 4096; ++d)
        if (number % d == 0) all.push_back(d);
    return all;
}

/// Every rule of one pool.
class PoolRules {
public:
    PoolRules(const model::Plan& plan, const Values& values, const model::EnginePool& pool, Findings& findings)
        : plan_{plan}, values_{values}, pool_{pool}, findings_{findings} {}

    void check() const {
        const model::Transformer& model = plan_.transformer;
        const model::Attention& attention = model.attention;
        const int tp = pool_.tensor_parallel;
        if (attention.num_heads % tp != 0)
            add(values_, "tensor_parallel",
                fmt::format("{} attention heads over {} tensor-parallel ranks", attention.num_heads, tp),
                fmt::format("one of {}; or pipeline_parallel for more cards",
                            fmt::join(divisors(attention.num_heads), ", ")),
                findings_);
        else if (attention.kind != model::AttentionKind::mla && attention.num_kv_heads % tp != 0 &&
                 tp % attention.num_kv_heads != 0)
            add(values_, "tensor_parallel",
                fmt::format("{} key/value heads over {} tensor-parallel ranks", attention.num_kv_heads, tp),
                "a divisor or a multiple of the key/value heads", findings_);
        if (pool_.pipeline_parallel > model.num_layers)
            add(values_, "pipeline_parallel",
                fmt::format("{} layers over {} pipeline ranks", model.num_layers, pool_.pipeline_parallel),
                fmt::format("at most {}", model.num_layers), findings_);
        if (model.experts) experts(*model.experts);
        const int step = 1 + plan_.serving->model.speculative_tokens;
        if (std::int64_t{pool_.max_num_seqs} * step > pool_.max_num_batched_tokens)
            add(values_, "max_num_batched_tokens",
                fmt::format("{} tokens are less than the {} sequences of a full batch decode",
                            pool_.max_num_batched_tokens, pool_.max_num_seqs),
                fmt::format("at least {}", std::int64_t{pool_.max_num_seqs} * step), findings_);
        blocks();
    }

private:
    void experts(const model::Experts& experts) const {
        const int ep = pool_.expert_parallel, stored = experts.num_routed + pool_.redundant_experts;
        const std::int64_t stage = std::int64_t{pool_.tensor_parallel} * pool_.data_parallel;
        if (stored % ep != 0)
            add(values_, "expert_parallel",
                fmt::format("{} experts{} over {} ranks", stored,
                            pool_.redundant_experts > 0
                                ? fmt::format(" ({} and {} replicas)", experts.num_routed, pool_.redundant_experts)
                                : "",
                            ep),
                fmt::format("one of {}, or redundant_experts that make it even", fmt::join(divisors(stored), ", ")),
                findings_);
        if (ep > 1 && std::int64_t{ep} * pool_.expert_tensor_parallel != stage)
            add(values_, "expert_parallel",
                fmt::format(
                    "expert_parallel {} x expert_tensor_parallel {} is not tensor_parallel {} x data_parallel {}", ep,
                    pool_.expert_tensor_parallel, pool_.tensor_parallel, pool_.data_parallel),
                fmt::format("a product of {}", stage), findings_);
    }

    void blocks() const {
        const int longest = plan_.serving->model.max_model_len;
        if (!pool_.num_blocks || longest == 0) return;
        const std::int64_t tokens = *pool_.num_blocks * plan_.serving->deployment.block_size;
        if (tokens < longest)
            add(values_, "num_gpu_blocks",
                fmt::format("{} blocks hold {} tokens, fewer than max_model_len = {}", *pool_.num_blocks, tokens,
                            longest),
                fmt::format("max_model_len of at most {}, or more blocks", tokens), findings_);
    }

    const model::Plan& plan_;
    const Values& values_;
    const model::EnginePool& pool_;
    Findings& findings_;
};

}  // namespace

model::Serving bind_serving(const Values& plan, Findings& findings) {
    model::Serving serving;
    const Values served = plan.below("serve.model"), deployment = plan.below("serve.deployment");
    serving.model.precision = served.text("precision");
    serving.model.kv_cache_8_bit = served.text("kv_cache") == "8bit";
    if (served.given("max_model_len")) serving.model.max_model_len = served.integer("max_model_len");
    serving.model.speculative_tokens = served.integer("speculative_tokens");
    serving.model.acceptance = served.number("acceptance");
    serving.model.expert_skew = served.number("expert_skew");
    if (serving.model.acceptance > serving.model.speculative_tokens)
        add(served, "acceptance", "is more than speculative_tokens", "at most speculative_tokens", findings);

    model::Deployment& of = serving.deployment;
    bind_pool(deployment, of.pool);
    if (deployment.has_section("prefill")) {
        of.prefill.emplace();
        bind_pool(deployment.below("prefill"), *of.prefill);
    }
    of.batching = enum_of<model::Batching>(deployment.text("batching"), {{"vllm_v1", model::Batching::vllm_v1},
                                                                         {"sglang", model::Batching::sglang},
                                                                         {"static", model::Batching::fixed}});
    of.order =
        enum_of<model::QueueOrder>(deployment.text("order"), {{"first_come", model::QueueOrder::first_come},
                                                              {"priority", model::QueueOrder::priority},
                                                              {"shortest_first", model::QueueOrder::shortest_first}});
    of.routing = enum_of<model::Routing>(deployment.text("router"), {{"round_robin", model::Routing::round_robin},
                                                                     {"least_loaded", model::Routing::least_loaded},
                                                                     {"power_of_two", model::Routing::power_of_two},
                                                                     {"prefix_aware", model::Routing::prefix_aware}});
    of.block_size = deployment.integer("block_size");
    of.gpu_memory_utilization = deployment.number("gpu_memory_utilization");
    if (deployment.given("activation_memory")) of.activation_memory = Bytes{deployment.number("activation_memory")};
    of.runtime_memory = Bytes{deployment.number("runtime_memory")};
    of.prefix_caching = deployment.flag("enable_prefix_caching");
    of.chunked_prefill = deployment.flag("enable_chunked_prefill");
    of.async_scheduling = deployment.flag("async_scheduling");
    of.two_batch_overlap = deployment.flag("two_batch_overlap");
    if (deployment.given("queue_limit")) of.queue_limit = deployment.integer("queue_limit");
    const Values scaling = deployment.below("autoscaling");
    if (scaling.given("most_instances")) of.autoscaling.most_instances = scaling.integer("most_instances");
    of.autoscaling.requests_per_instance = scaling.number("requests_per_instance");
    of.autoscaling.interval = Seconds{scaling.number("interval")};
    of.autoscaling.start_time = Seconds{scaling.number("start_time")};
    if (of.autoscaling.most_instances > 0) {
        if (of.autoscaling.most_instances < of.pool.instances)
            add(scaling, "most_instances", "is less than instances", "instances or more", findings);
        if (!scaling.given("requests_per_instance"))
            add(scaling, "requests_per_instance", "is missing", "requests in flight that an instance should have",
                findings);
    }
    bind_load(plan.below("serve.load"), serving.load, findings);
    const Values slo = plan.below("serve.slo");
    if (slo.given("ttft_p99")) serving.slo.ttft = Seconds{slo.number("ttft_p99")};
    if (slo.given("tpot_p99")) serving.slo.tpot = Seconds{slo.number("tpot_p99")};
    if (slo.given("e2e_p99")) serving.slo.e2e = Seconds{slo.number("e2e_p99")};
    return serving;
}

void check_serving_rules(const model::Plan& plan, const Values& values, Findings& findings) {
    const model::Deployment& deployment = plan.serving->deployment;
    const Values keys = values.below("serve.deployment");
    PoolRules{plan, keys, deployment.pool, findings}.check();
    if (deployment.prefill) PoolRules{plan, keys.below("prefill"), *deployment.prefill, findings}.check();
    const std::int64_t instances = std::max(deployment.pool.instances, deployment.autoscaling.most_instances);
    const std::int64_t cards =
        instances * deployment.pool.cards_per_instance() + (deployment.prefill ? deployment.prefill->cards() : 0);
    if (cards > plan.cluster.num_cards())
        add(keys, "instances",
            fmt::format("the deployment takes {} cards, the cluster has {}", cards, plan.cluster.num_cards()),
            fmt::format("at most {} cards", plan.cluster.num_cards()), findings);
}

}  // namespace windtunnel::input
