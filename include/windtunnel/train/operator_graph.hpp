#pragma once
/// The operators of a block (a layer, the embedding, the head) or of a stage's step as a graph: shapes, number formats,
/// work, traffic, groups and dependencies. Static scan and dynamic simulation (train/operator_run.hpp) read the same
/// value.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "windtunnel/model/hardware.hpp"
#include "windtunnel/train/unit_costs.hpp"

namespace windtunnel::train {

enum class OperatorKind {
    product,
    grouped_product,
    attention,
    memory_bound,
    cast,
    accumulate,
    collective,
    host,
    update
};
/// What does the work: matrix unit, vector unit, a link between cards, the link to the host, the host itself.
enum class Unit { matrix, vector, network, host_link, host };
enum class Pass { forward, recompute, backward_input, backward_weight, step };
inline constexpr int num_passes = 5;
enum class CollectiveKind { none, all_gather, reduce_scatter, all_reduce, all_to_all, ring_exchange, transfer };
enum class GroupName { none, tensor, context, expert, expert_tensor, data, expert_data, replica, pipeline };
/// What an operator's time is made of for the largest part.
enum class Bound { compute, memory, launch, link, host };

[[nodiscard]] std::string to_text(OperatorKind kind);
[[nodiscard]] std::string to_text(Unit unit);
[[nodiscard]] std::string to_text(Pass pass);
[[nodiscard]] std::string to_text(CollectiveKind kind);
[[nodiscard]] std::string to_text(GroupName group);
[[nodiscard]] std::string to_text(Bound bound);

using OperatorIndex = std::uint32_t;

struct Operator {
    const char* name = "";
    OperatorKind kind = OperatorKind::memory_bound;
    Pass pass = Pass::forward;
    Part part = Part::memory_bound;  ///< of the step, to which its time counts
    Unit unit = Unit::vector;
    /// groups (experts; sequences x heads of attention), m, n, k of a product; other operators: elements as m.
    std::array<double, 4> shape{};
    model::Precision precision = model::Precision::bf16;  ///< of the inputs of a product, of the elements moved
    Flops flops;
    Bytes bytes;  ///< read and written in the card's memory
    CollectiveKind collective = CollectiveKind::none;
    GroupName group = GroupName::none;
    int group_size = 1;
    Bytes message;     ///< buffer of a collective
    double count = 1;  ///< equal operators one after the other
    Seconds time;      ///< all of them on their stream, launches apart
    Seconds hidden;    ///< of it, what the fitted shares take as hidden
    Seconds launch;    ///< on the card
    double kernels = 1;
    Seconds piece;  ///< one of `chunks` pieces, where it may be cut; 0: it is not cut
    Bound bound = Bound::memory;
    Bytes kept;                    ///< from forward to backward
    double parameters = 0.0;       ///< replicated over dp x cp
    double expert_parameters = 0;  ///< replicated over the expert data-parallel group

    /// What the sums of a block count.
    [[nodiscard]] Seconds counted() const noexcept { return time - hidden + launch; }
    [[nodiscard]] Seconds duration() const noexcept { return time + launch; }
};

struct OperatorGraph {
    /// `after` waits for `before`.
    struct Edge {
        OperatorIndex before = 0, after = 0;
        friend auto operator<=>(const Edge&, const Edge&) = default;
    };
    std::vector<Operator> operators;  ///< in the order in which the host issues them
    std::vector<Edge> edges;          ///< each from an earlier operator to a later one
};

/// Demand of a graph: what a static scan adds up.
struct OperatorScan {
    Flops matrix_flops, vector_flops;  ///< all passes, recompute too
    Bytes bytes;
    std::array<PartTimes, num_passes> times{};  ///< by pass, as counted
    struct Traffic {
        CollectiveKind collective{};
        GroupName group{};
        double count = 0;
        Bytes message;
        Seconds time;
    };
    std::vector<Traffic> traffic;  ///< by kind and group, in order of appearance
    double parameters = 0.0, expert_parameters = 0.0;
    Bytes activations;  ///< kept from forward to backward without recompute
    double kernels = 0.0;
};

/// Model: sums over the operators, in their order. Source: the graph.
[[nodiscard]] OperatorScan static_scan(const OperatorGraph& graph);

/// Cuts tensor-parallel collectives and the product beside them into `chunks` pieces, of which the next one's
/// communication runs under the one's product. Expects chunks >= 1; operators without a `piece` stay whole.
/// Source: Megatron-Core tensor-parallel overlap; CoC and MC2 of MindSpeed.
[[nodiscard]] OperatorGraph cut_into_chunks(const OperatorGraph& graph, int chunks);

}  // namespace windtunnel::train
