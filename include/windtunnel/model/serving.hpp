#pragma once
/// A serving deployment and the load on it: what the sections `[serve.*]` of a plan say. Names of settings are vLLM's
/// where the field uses them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/base/quantity.hpp"
#include "windtunnel/model/engine.hpp"
#include "windtunnel/model/failures.hpp"

namespace windtunnel::model {

/// Laws of token counts. Every law is given by its mean and coefficient of variation; uniform by its ends.
enum class LengthKind { fixed, uniform, lognormal, gamma, weibull };
struct LengthLaw {
    LengthKind kind = LengthKind::fixed;
    double mean = 0.0;
    double variation = 0.0;  ///< standard deviation / mean; unused by fixed and uniform
    int least = 1;           ///< draws below are set to it; lower end of uniform
    int most = 1'000'000;    ///< draws above are set to it; upper end of uniform
};

/// How requests come: open laws of the time between two of them, a fixed number in flight, or rows of a trace.
enum class ArrivalKind { poisson, gamma, weibull, mmpp, diurnal, closed_loop, trace };

/// A row of a request trace. Prefix blocks: `hash_ids` of the row stand in Trace::blocks [first_block, first_block +
/// num_blocks).
struct TraceRow {
    double arrival_s = 0.0;
    std::int32_t input_tokens = 0;
    std::int32_t output_tokens = 0;
    std::uint32_t first_block = 0;
    std::uint32_t num_blocks = 0;
};
struct Trace {
    std::string path;
    std::uint64_t hash = 0;  ///< FNV-1a, 64 bit, of the file
    std::vector<TraceRow> rows;
    std::vector<std::uint32_t> blocks;  ///< content ids of prompt blocks, in prompt order; equal id = equal prefix
    int block_tokens = 0;               ///< tokens of such a block; 0: the trace has none
};

struct ServeLoad {
    ArrivalKind arrivals = ArrivalKind::poisson;
    double request_rate = 0.0;    ///< mean requests per second of the open laws; trace: 0 keeps its own times
    double burstiness = 1.0;      ///< shape of the gamma or Weibull law; 1: Poisson; below: bursts
    double burst_factor = 4.0;    ///< mmpp: rate in a burst over the rate outside
    double burst_share = 0.1;     ///< mmpp: share of the time in a burst
    Seconds burst_length{60.0};   ///< mmpp: mean length of a burst
    double day_amplitude = 0.5;   ///< diurnal: rate x (1 + amplitude sin(2 pi t / period))
    Seconds day_period{86400.0};  ///< diurnal
    int concurrency = 1;          ///< closed loop: requests in flight
    std::int64_t num_requests = 1000;
    double warm_up = 0.0;       ///< share of the requests, by arrival, that no statistic counts
    bool lengths_given = true;  ///< false: lengths come from the trace
    LengthLaw input, output;
    double turns = 1.0;           ///< mean turns of a session (geometric); each turn repeats what was said before
    Law think_time;               ///< from the end of an answer to the next turn
    int prefix_groups = 0;        ///< shared prompts; 0: none
    int prefix_tokens = 0;        ///< tokens of a shared prompt, before the request's own input
    double prefix_skew = 0.0;     ///< popularity of group k (from 1): k^-skew
    double priority_share = 0.0;  ///< share of requests in the urgent class
    std::optional<Trace> trace;   ///< arrivals = trace, or lengths from a trace
};

/// How an engine makes batches. The version of the engine whose rules are followed stands in the result.
enum class Batching { vllm_v1, sglang, fixed };
enum class QueueOrder { first_come, priority, shortest_first };
enum class Routing { round_robin, least_loaded, power_of_two, prefix_aware };

/// How the model is served.
struct ServedModel {
    std::string precision = "bf16";  ///< bf16, fp8, fp4, int8, w4a16 or w4a8: weights and matrix products
    bool kv_cache_8_bit = false;
    int max_model_len = 0;       ///< tokens of prompt and answer; 0: no limit of its own
    int speculative_tokens = 0;  ///< drafts of a decode step (MTP or a draft head)
    double acceptance = 0.0;     ///< drafts accepted per step, mean; 0 to speculative_tokens
    double expert_skew = 1.0;    ///< load of the fullest card over the mean of the cards that share experts
};

/// Equal engine instances. Ranks: tensor_parallel x pipeline_parallel x data_parallel cards; experts over
/// expert_parallel of them.
struct EnginePool {
    int instances = 1;
    int tensor_parallel = 1;
    int pipeline_parallel = 1;
    int data_parallel = 1;                   ///< attention data-parallel ranks of an instance; they step together
    int expert_parallel = 1;                 ///< cards over which the experts of a layer are dealt
    int expert_tensor_parallel = 1;          ///< cards that share an expert
    int redundant_experts = 0;               ///< replicas of hot experts over the instance
    int max_num_seqs = 256;                  ///< of a data-parallel rank
    int max_num_batched_tokens = 8192;       ///< of a data-parallel rank
    std::optional<std::int64_t> num_blocks;  ///< KV blocks of a data-parallel rank; empty: from the memory

    [[nodiscard]] std::int64_t cards_per_instance() const noexcept {
        return std::int64_t{tensor_parallel} * pipeline_parallel * data_parallel;
    }
    [[nodiscard]] std::int64_t cards() const noexcept { return instances * cards_per_instance(); }
};

/// Instances that come and go with the load.
struct Autoscaling {
    int most_instances = 0;            ///< 0: off; `instances` is the least
    double requests_per_instance = 0;  ///< wanted requests in flight on an instance
    Seconds interval{30.0};            ///< between two decisions
    Seconds start_time{120.0};         ///< from the decision until an instance serves
};

struct Deployment {
    EnginePool pool;                    ///< all of it, or the decode part
    std::optional<EnginePool> prefill;  ///< prefill part of a split deployment
    Batching batching = Batching::vllm_v1;
    QueueOrder order = QueueOrder::first_come;
    Routing routing = Routing::least_loaded;
    int block_size = 16;  ///< tokens of a KV block
    double gpu_memory_utilization = 0.9;
    std::optional<Bytes> activation_memory;  ///< of the largest iteration; empty: from the shapes
    Bytes runtime_memory;                    ///< driver, collectives, captured graphs
    bool prefix_caching = false;
    bool chunked_prefill = true;
    bool async_scheduling = false;  ///< two batches deep
    bool two_batch_overlap = false;
    std::optional<int> queue_limit;  ///< waiting requests of a rank beyond which new ones are refused
    Autoscaling autoscaling;
};

/// Limits that a request must keep to count as good.
struct Slo {
    std::optional<Seconds> ttft, tpot, e2e;
};

struct Serving {
    ServedModel model;
    Deployment deployment;
    ServeLoad load;
    Slo slo;
    EngineEfficiency engine;  ///< what the engine reaches of its cards
};

}  // namespace windtunnel::model
