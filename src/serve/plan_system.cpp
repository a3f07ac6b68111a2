#include "windtunnel/serve/plan_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/serve/kv_size.hpp"

namespace windtunnel::serve {
namespace {

struct PartOfPlan {
    PartSetup setup;
    PartMemory memory;
    std::string problem;
    model::EngineLayout layout;
};

model::EngineLayout layout_of(const model::Plan& plan, const model::EnginePool& pool) {
    model::EngineLayout layout;
    layout.tensor_parallel = pool.tensor_parallel;
    layout.pipeline_parallel = pool.pipeline_parallel;
    layout.attention_data_parallel = pool.data_parallel;
    layout.expert_parallel = pool.expert_parallel;
    layout.expert_tensor_parallel = pool.expert_tensor_parallel;
    layout.redundant_experts = pool.redundant_experts;
    // Without expert parallelism every card of the stage holds a slice of every expert.
    if (plan.transformer.experts && pool.expert_parallel == 1) layout.expert_tensor_parallel = layout.stage_cards();
    return layout;
}

model::EngineNumbers numbers_of(const model::ServedModel& served) {
    model::EngineNumbers numbers;
    const bool known = model::engine_numbers_of(served.precision + (served.kv_cache_8_bit ? "+kv8" : ""), numbers);
    base::ensures(known, "a precision of the key table");
    return numbers;
}

PartMemory memory_of(const model::Plan& plan, const model::EnginePool& pool, const model::EngineLayout& layout,
                     const model::EngineNumbers& numbers) {
    const model::Deployment& deployment = plan.serving->deployment;
    const model::Accelerator& card = plan.cluster.accelerator;
    PartMemory memory;
    memory.card = card.memory;
    memory.usable = card.memory * deployment.gpu_memory_utilization;
    memory.weights = weight_bytes(plan.transformer, layout, numbers);
    memory.activations = deployment.activation_memory.value_or(
        activation_bytes(plan.transformer, layout, pool.max_num_batched_tokens, pool.max_num_seqs));
    memory.runtime = deployment.runtime_memory;
    memory.kv_bytes_per_token = kv_elements_of_card(plan.transformer, pool.tensor_parallel) * numbers.kv_bytes /
                                static_cast<double>(pool.pipeline_parallel);
    memory.block = Bytes{memory.kv_bytes_per_token * deployment.block_size};
    memory.given = pool.num_blocks.has_value();
    const MemoryUse use{deployment.gpu_memory_utilization, memory.activations, memory.runtime};
    memory.num_blocks =
        pool.num_blocks.value_or(num_kv_blocks(plan.transformer, card, layout, numbers, use, deployment.block_size));
    memory.tokens = memory.num_blocks * deployment.block_size;
    return memory;
}

PartOfPlan part_of(const model::Plan& plan, const model::EnginePool& pool, const model::EngineEfficiency& efficiency) {
    const model::Serving& serving = *plan.serving;
    const model::Deployment& deployment = serving.deployment;
    PartOfPlan part;
    part.layout = layout_of(plan, pool);
    const model::EngineNumbers numbers = numbers_of(serving.model);
    part.memory = memory_of(plan, pool, part.layout, numbers);

    RankRules& rules = part.setup.rules;
    const int stages = pool.pipeline_parallel;
    rules.max_sequences = (pool.max_num_seqs + stages - 1) / stages;
    rules.max_tokens = pool.max_num_batched_tokens;
    rules.block_size = deployment.block_size;
    constexpr std::int64_t null_blocks = 1;  // an engine keeps one block for padding
    rules.num_blocks = std::max<std::int64_t>(0, part.memory.num_blocks - null_blocks) / stages;
    rules.chunked = deployment.chunked_prefill;
    rules.cached = deployment.prefix_caching;
    rules.depth = deployment.async_scheduling ? 2 : 1;
    rules.query_tokens = 1 + serving.model.speculative_tokens;
    constexpr int hundredths = 100;
    const int gain = hundredths + static_cast<int>(std::lround(hundredths * serving.model.acceptance));
    const int common = std::gcd(gain, hundredths);
    rules.gain = gain / common;
    rules.per = hundredths / common;
    rules.max_length = serving.model.max_model_len;
    rules.queue_limit = deployment.queue_limit;
    rules.batching = deployment.batching;
    rules.order = deployment.order;

    part.setup.instances = pool.instances * stages;
    part.setup.ranks = pool.data_parallel;
    EngineSetup engine;
    engine.transformer = plan.transformer;
    engine.accelerator = plan.cluster.accelerator;
    engine.efficiency = efficiency;
    engine.layout = part.layout;
    engine.numbers = numbers;
    engine.speculation = {serving.model.speculative_tokens, 1.0 + serving.model.acceptance};
    engine.expert_skew = serving.model.expert_skew;
    engine.two_batch_overlap = deployment.two_batch_overlap;
    part.setup.times = step_times(EngineCost{engine});

    if (part.memory.num_blocks <= null_blocks)
        part.problem = fmt::format(
            "no room for a cache: {:.2f} GiB of weights, {:.2f} GiB of activations and {:.2f} GiB of runtime on a card "
            "of which the engine takes {:.2f} GiB",
            part.memory.weights.value() / base::gib, part.memory.activations.value() / base::gib,
            part.memory.runtime.value() / base::gib, part.memory.usable.value() / base::gib);
    else if (serving.model.max_model_len > part.memory.tokens)
        part.problem =
            fmt::format("{} blocks hold {} tokens, fewer than max_model_len = {}; the largest that fits is {}",
                        part.memory.num_blocks, part.memory.tokens, serving.model.max_model_len, part.memory.tokens);
    return part;
}

void set_links(const model::Plan& plan, const model::EngineEfficiency& efficiency, const PartOfPlan& prefill,
               const PartOfPlan& decode, PlanSystem& system) {
    const model::Accelerator& card = plan.cluster.accelerator;
    const bool one_domain = system.cards + system.prefill_cards <= card.scale_up_domain;
    const model::NetworkTier& tier = one_domain ? card.scale_up : card.scale_out;
    // A card of the prefill rank sends its share of what is there once; a card of the decode rank takes all it will
    // hold.
    const model::EngineNumbers numbers = numbers_of(plan.serving->model);
    const double once = static_cast<double>(model::kv_elements_per_token(plan.transformer)) * numbers.kv_bytes /
                        (prefill.layout.tensor_parallel * prefill.layout.pipeline_parallel);
    system.setup.transfer_per_token = Bytes{std::max(once, decode.memory.kv_bytes_per_token)};
    system.setup.transfer_bandwidth = tier.bandwidth * (one_domain ? efficiency.scale_up : efficiency.scale_out);
    system.setup.transfer_latency = tier.latency;
}

/// Memory of the simulation itself: ranks, and with a prefix cache what each of their blocks holds.
std::string too_large(const PartSetup& setup) {
    constexpr double most_ranks = 1e5, most_bytes = 8e9, bytes_per_block = 40.0, bytes_per_beat = 8.0;
    const double ranks = static_cast<double>(setup.instances) * setup.ranks;
    const double blocks = setup.rules.cached ? static_cast<double>(setup.rules.num_blocks) * bytes_per_block : 0.0;
    const double beats = static_cast<double>(setup.rules.block_size) * setup.rules.per * bytes_per_beat;
    if (ranks <= most_ranks && ranks * (blocks + beats) <= most_bytes) return {};
    return fmt::format(
        "{:.0f} data-parallel ranks{} are more than one run can follow: at most {:.0f} ranks, and {:.0f} GB of blocks",
        ranks, setup.rules.cached ? fmt::format(" with {} cached blocks each", setup.rules.num_blocks) : "", most_ranks,
        most_bytes * 1e-9);
}

}  // namespace

std::string policy_text(const model::Deployment& deployment) {
    switch (deployment.batching) {
        case model::Batching::vllm_v1:
            return deployment.async_scheduling ? "vLLM V1 (0.19, asynchronous scheduling)" : "vLLM V1 (0.19)";
        case model::Batching::sglang:
            return "SGLang (0.5, prefill first, no mixed chunks)";
        case model::Batching::fixed:
            break;
    }
    return "static batches";
}

PlanSystem plan_system(const model::Plan& plan, const model::EngineEfficiency& efficiency) {
    base::expects(plan.serving.has_value(), "a plan with [serve]");
    const model::Deployment& deployment = plan.serving->deployment;
    PlanSystem system;
    PartOfPlan main = part_of(plan, deployment.pool, efficiency);
    system.problem = main.problem;
    system.memory = main.memory;
    system.cards = deployment.pool.cards();
    system.policy = policy_text(deployment);
    system.setup.routing = deployment.routing;
    system.setup.autoscaling = deployment.autoscaling;
    system.setup.autoscaling.most_instances *= deployment.pool.pipeline_parallel;
    system.setup.slo = plan.serving->slo;
    system.setup.before_queue = efficiency.first_token_fixed;
    if (deployment.prefill) {
        PartOfPlan prefill = part_of(plan, *deployment.prefill, efficiency);
        prefill.setup.rules.prefill_only = true;
        prefill.setup.rules.gain = prefill.setup.rules.per = prefill.setup.rules.query_tokens = 1;
        main.setup.rules.with_cache = true;
        main.setup.rules.cached = false;
        if (system.problem.empty() && !prefill.problem.empty()) system.problem = "prefill part: " + prefill.problem;
        system.prefill_memory = prefill.memory;
        system.prefill_cards = deployment.prefill->cards();
        set_links(plan, efficiency, prefill, main, system);
        system.setup.prefill = std::move(prefill.setup);
    }
    if (system.problem.empty()) system.problem = too_large(main.setup);
    if (system.problem.empty() && system.setup.prefill) system.problem = too_large(*system.setup.prefill);
    system.setup.main = std::move(main.setup);
    return system;
}

}  // namespace windtunnel::serve
