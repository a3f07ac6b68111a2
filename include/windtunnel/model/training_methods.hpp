#pragma once
/// How a training job runs beside its layout: knobs that hold for every layout of a plan. The defaults are the plain
/// case: no jitter, balanced experts, documents as long as the sequence, communication hidden by the fitted shares.
#include <cstdint>
#include <optional>
#include <vector>

#include "windtunnel/base/quantity.hpp"

namespace windtunnel::model {

/// Context parallelism: keys and values gathered before the attention core; passed round a ring under it; heads and
/// sequence exchanged by all-to-all (Ulysses); all-to-all inside groups of `ulysses_degree`, a ring between them.
enum class ContextMethod { all_gather, ring, ulysses, hybrid };

/// What selective recompute runs again, as bits of `Recomputation::modules`.
namespace recompute_module {
inline constexpr unsigned norms = 1U, activation = 2U, attention_core = 4U, up_projections = 8U, feed_forward = 16U,
                          experts = 32U;
}  // namespace recompute_module

enum class RecomputeMethod { uniform, block };

struct Recomputation {
    unsigned modules = 0;  ///< of selective recompute; 0: the set that fits the stack (train/block_builder.hpp)
    RecomputeMethod method = RecomputeMethod::uniform;  ///< of full recompute
    /// uniform: layers that share one kept input; block: layers of a chunk that are recomputed. 0: every layer alone.
    int layers = 0;
};

/// What runs beside what.
struct Overlap {
    bool operators = false;  ///< inside a layer as the operator graph lets it, instead of by the fitted share
    int chunks = 1;          ///< pieces into which a tensor-parallel collective and its product are cut
    /// What is left of the speed of compute while communication runs beside it, and the other way round.
    std::optional<double> compute_rate{};  ///< none: 112/132 for pairs of micro-batches, 1 inside a layer
    double communication_rate = 1.0;
    bool point_to_point = true;  ///< false: a transfer between pipeline ranks keeps its sender waiting
    bool experts = false;        ///< a forward runs beside a backward, expert communication of each under the other
    Bytes bucket;                ///< of gradients and weights that are exchanged at once; 0: one for the whole stage
};

struct HostIssue {
    Seconds launch;        ///< of one kernel on the host; 0: the host never waits
    bool graphs = false;   ///< a layer's pass is one recorded graph
    Seconds graph_launch;  ///< of such a graph
};

enum class JitterLaw { normal, lognormal };
struct Jitter {
    double sigma = 0.0;  ///< standard deviation of a card's time of a step, relative to its mean
    JitterLaw law = JitterLaw::normal;
    double slow_share = 0.0;  ///< probability that a card is a slow one
    double slow_speed = 1.0;  ///< of a slow card, relative
};

struct Offload {
    double activations = 0.0;  ///< share that lies in host memory between forward and backward
    double optimizer = 0.0;    ///< share of the optimizer states in host memory
    BytesPerSecond bandwidth;  ///< card to host, per card and direction
};

struct TrainingMethods {
    ContextMethod context = ContextMethod::all_gather;
    int ulysses_degree = 1;         ///< hybrid: ranks of an all-to-all group
    int shard_group = 0;            ///< ranks over which ZeRO shares out; 0: all of dp x cp (below it: hybrid sharding)
    double expert_imbalance = 1.0;  ///< tokens of the busiest card over the mean, >= 1
    Recomputation recomputation;
    Overlap overlap;
    HostIssue host;
    Jitter jitter;
    Offload offload;

    /// Ranks of a group of the all-to-all, out of `context_parallel` ranks.
    [[nodiscard]] constexpr int all_to_all_ranks(int context_parallel) const noexcept {
        if (context == ContextMethod::ulysses) return context_parallel;
        return context == ContextMethod::hybrid ? ulysses_degree : 1;
    }
};
/// Of a job without methods of its own.
inline constexpr TrainingMethods plain_methods{};

enum class Packing { padded, in_order, longest_first };

/// Documents of varying length, packed into the micro-batches of a step.
struct Documents {
    std::vector<double> lengths;  ///< tokens; taken in turn. Empty: drawn
    double median = 0.0;          ///< tokens, of a lognormal law; 0 without lengths: documents as long as the sequence
    double sigma = 0.0;           ///< standard deviation of the logarithm
    Packing packing = Packing::in_order;
    std::uint64_t seed = 1;
    [[nodiscard]] bool vary() const noexcept { return !lengths.empty() || median > 0.0; }
};

}  // namespace windtunnel::model
