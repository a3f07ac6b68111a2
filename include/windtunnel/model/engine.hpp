#pragma once
/// An instance of an inference engine: how a model is cut over its cards, in which numbers it computes, and what the
/// engine's software reaches of the cards.
#include <string>
#include <variant>
#include <vector>

#include "windtunnel/base/quantity.hpp"
#include "windtunnel/model/efficiency.hpp"
#include "windtunnel/model/hardware.hpp"

namespace windtunnel::model {

/// Degrees of one instance. Attention: `tensor_parallel` cards share the heads, `attention_data_parallel` groups of
/// them hold different sequences. Experts: `expert_parallel` x `expert_tensor_parallel` cards of one pipeline stage.
struct EngineLayout {
    int tensor_parallel = 1;
    int pipeline_parallel = 1;
    int attention_data_parallel = 1;
    int expert_parallel = 1;
    int expert_tensor_parallel = 1;
    int redundant_experts = 0;  ///< replicas of hot experts over the instance

    /// Cards of a pipeline stage and of the instance.
    [[nodiscard]] constexpr int stage_cards() const noexcept { return tensor_parallel * attention_data_parallel; }
    [[nodiscard]] constexpr int cards() const noexcept { return stage_cards() * pipeline_parallel; }
};

/// Stored width of weights, scales included, and the numbers that the product computes in.
struct WeightFormat {
    double bytes = 2.0;
    Precision compute = Precision::bf16;
};

struct EngineNumbers {
    WeightFormat dense;    ///< attention projections, dense feed-forward, shared experts
    WeightFormat experts;  ///< routed experts
    double kv_bytes = 2.0;
    double dispatch_bytes = 1.0;  ///< of an element sent to its expert, scales apart
    double combine_bytes = 2.0;   ///< of an element sent back
};

/// bf16, fp8, fp4 (NVFP4, 16 elements a scale), int8 (W8A8), w4a16, w4a8: every matrix in the same format; the cache is
/// 16 bit, or 8 bit where the name ends in "+kv8". Unknown names give an empty result.
[[nodiscard]] bool engine_numbers_of(const std::string& name, EngineNumbers& numbers);

/// Draft and verify: every decode computes 1 + draft_tokens query tokens and emits `tokens_per_step` tokens on average.
struct Speculation {
    int draft_tokens = 0;
    double tokens_per_step = 1.0;
};

/// What an engine reaches of its cards. Shares are of the data sheet, (0, 1]; every value is a fit or an assumption.
struct EngineEfficiency {
    std::string name = "default";
    Evidence evidence = Evidence::assumed;

    double weights = 0.75;          ///< of memory bandwidth, reading weights for matrix products
    double cache = 0.65;            ///< of memory bandwidth, reading the key/value cache
    double gemm = 0.60;             ///< of dense peak, 16 bit products
    double gemm_8 = 0.50;           ///< of dense peak, products of 8 bit or less
    double attention = 0.35;        ///< of 16 bit peak, prefill attention
    double latent_attention = 0.5;  ///< of 16 bit peak, absorbed MLA attention of decode
    double grouped_memory = 0.65;   ///< of memory bandwidth, reading expert weights
    double grouped_gemm = 0.30;     ///< of dense peak, grouped expert products
    double scale_up = 0.70;         ///< of the scale-up bandwidth, large collectives
    double scale_out = 0.70;        ///< of the scale-out bandwidth
    double streaming_passes = 12;   ///< times that a layer moves its tokens x hidden activations, 16 bit
    double permute_passes = 4;      ///< the same for tokens x top_k x hidden of an expert layer
    Seconds all_reduce_latency{12e-6};
    Seconds all_to_all_latency{40e-6};      ///< of dispatch and of combine each, synchronisation of the ranks included
    Seconds all_to_all_issue{10e-6};        ///< of dispatch and of combine each, on the cores: no overlap hides it
    Seconds fixed_per_layer{15e-6};         ///< start of the kernels of a layer in a captured graph
    Seconds fixed_per_expert_layer{20e-6};  ///< more for a layer with experts
    Seconds fixed_per_latent_layer{10e-6};  ///< more for a layer with MLA
    Seconds fixed_per_step{1.0e-3};         ///< scheduler, sampler, host gap
    Seconds fixed_per_sequence{8e-6};       ///< host work of a sequence in a step
    Seconds eager_floor_per_layer{0.5e-3};  ///< least time of a layer of a step with prefill: the host issues kernels
    Seconds eager_floor_per_expert_layer{0.3e-3};  ///< more for a layer with experts
    Seconds first_token_fixed{10e-3};              ///< of a request: tokenizer, queue hand-over, first sampling
    double group_reads = 0.05;       ///< query heads of a group beyond the first that read its keys and values again
    double aligned_share = 0.1;      ///< requests of a closed loop with equal lengths that start together
    double natural_skew = 1.3;       ///< load of the fullest card over the mean where nothing balances the experts
    double relative_error_90 = 0.0;  ///< of TPOT on rows that were not fitted: half-width; 0: unknown
};

/// One value of the set: where it stands, its unit in files ("": a share or a count) and its bounds (of seconds: in s).
struct EngineParameter {
    std::string name;
    std::variant<double EngineEfficiency::*, Seconds EngineEfficiency::*> member;
    std::string unit;
    double least = 0.0, most = 1.0;
    std::string meaning;

    [[nodiscard]] double get(const EngineEfficiency& set) const noexcept;  ///< seconds as s
    void put(EngineEfficiency& set, double value) const noexcept;
};
/// All of them, in the order of the struct; reader, writer and fit use this list.
[[nodiscard]] const std::vector<EngineParameter>& engine_parameters();

}  // namespace windtunnel::model
