#include "windtunnel/train/operator_graph.hpp"

#include <algorithm>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {

OperatorScan static_scan(const OperatorGraph& graph) {
    OperatorScan scan;
    for (const Operator& one : graph.operators) {
        (one.unit == Unit::matrix ? scan.matrix_flops : scan.vector_flops) += one.flops;
        scan.bytes += one.bytes;
        scan.kernels += one.kernels;
        PartTimes& times = scan.times[static_cast<std::size_t>(one.pass)];
        times[one.part] += one.time - one.hidden;
        times[Part::launch] += one.launch;
        scan.parameters += one.parameters;
        scan.expert_parameters += one.expert_parameters;
        scan.activations += one.kept;
        if (one.collective == CollectiveKind::none) continue;
        auto at = std::find_if(scan.traffic.begin(), scan.traffic.end(), [&](const OperatorScan::Traffic& traffic) {
            return traffic.collective == one.collective && traffic.group == one.group;
        });
        if (at == scan.traffic.end())
            at = scan.traffic.insert(at, {one.collective, one.group, 0.0, Bytes{0.0}, Seconds{0.0}});
        at->count += one.count;
        at->message += one.message * one.count;
        at->time += one.time;
    }
    return scan;
}

namespace {

/// A collective over tensor ranks and the product beside it in the chain of one pass.
struct Pair {
    OperatorIndex first = 0, second = 0;
};

bool is_tensor_collective(const Operator& one) noexcept {
    return one.collective != CollectiveKind::none && one.group == GroupName::tensor && one.piece > Seconds{0.0};
}

bool is_cut_product(const Operator& one) noexcept {
    return one.kind == OperatorKind::product && one.piece > Seconds{0.0};
}

/// Each operator stands in one pair at most; a gather comes before its product, a scatter behind it.
std::vector<Pair> pairs_of(const OperatorGraph& graph) {
    std::vector<Pair> pairs;
    std::vector<char> taken(graph.operators.size(), 0);
    for (const OperatorGraph::Edge& edge : graph.edges) {
        const Operator &before = graph.operators[edge.before], &after = graph.operators[edge.after];
        if (before.pass != after.pass || taken[edge.before] != 0 || taken[edge.after] != 0) continue;
        const bool pair = (is_tensor_collective(before) && is_cut_product(after)) ||
                          (is_cut_product(before) && is_tensor_collective(after));
        if (!pair) continue;
        taken[edge.before] = taken[edge.after] = 1;
        pairs.push_back({edge.before, edge.after});
    }
    return pairs;
}

/// Piece number `number` of an operator.
Operator piece_of(const Operator& whole, int number, int chunks) {
    Operator piece = whole;
    const double share = 1.0 / chunks;
    piece.time = whole.piece;
    piece.hidden = Seconds{0.0};
    piece.flops = whole.flops * share;
    piece.bytes = whole.bytes * share;
    piece.message = whole.message * share;
    if (whole.collective == CollectiveKind::none) piece.shape[1] *= share;
    if (number == 0) return piece;
    piece.parameters = piece.expert_parameters = 0.0;
    piece.kept = Bytes{0.0};
    return piece;
}

}  // namespace

OperatorGraph cut_into_chunks(const OperatorGraph& graph, int chunks) {
    base::expects(chunks >= 1, "at least one piece");
    if (chunks == 1) return graph;
    constexpr OperatorIndex none = ~OperatorIndex{0};
    std::vector<OperatorIndex> partner(graph.operators.size(), none);
    for (const Pair& pair : pairs_of(graph)) {
        partner[pair.first] = pair.second;
        partner[pair.second] = pair.first;
    }
    OperatorGraph cut;
    std::vector<std::vector<OperatorIndex>> pieces(graph.operators.size());  // of each operator
    const auto add = [&cut](const Operator& one) {
        cut.operators.push_back(one);
        return static_cast<OperatorIndex>(cut.operators.size() - 1);
    };
    for (OperatorIndex i = 0; i < graph.operators.size(); ++i) {
        const bool paired = partner[i] != none;
        for (int number = 0; number < (paired ? chunks : 1); ++number)
            pieces[i].push_back(add(paired ? piece_of(graph.operators[i], number, chunks) : graph.operators[i]));
    }
    for (const OperatorGraph::Edge& edge : graph.edges) {
        const auto &before = pieces[edge.before], &after = pieces[edge.after];
        if (partner[edge.before] == edge.after) {
            for (std::size_t number = 0; number < before.size(); ++number)
                cut.edges.push_back({before[number], after[number]});
        } else {
            cut.edges.push_back({before.back(), after.front()});
        }
    }
    return cut;
}

std::string to_text(OperatorKind kind) {
    constexpr std::array words{"product",    "grouped_product", "attention", "memory_bound", "cast",
                               "accumulate", "collective",      "host",      "update"};
    return words[static_cast<std::size_t>(kind)];
}

std::string to_text(Unit unit) {
    constexpr std::array words{"matrix", "vector", "network", "host_link", "host"};
    return words[static_cast<std::size_t>(unit)];
}

std::string to_text(Pass pass) {
    constexpr std::array words{"forward", "recompute", "backward_input", "backward_weight", "step"};
    return words[static_cast<std::size_t>(pass)];
}

std::string to_text(CollectiveKind kind) {
    constexpr std::array words{"",           "all_gather",    "reduce_scatter", "all_reduce",
                               "all_to_all", "ring_exchange", "transfer"};
    return words[static_cast<std::size_t>(kind)];
}

std::string to_text(GroupName group) {
    constexpr std::array words{"",     "tensor",      "context", "expert",  "expert_tensor",
                               "data", "expert_data", "replica", "pipeline"};
    return words[static_cast<std::size_t>(group)];
}

std::string to_text(Bound bound) {
    constexpr std::array words{"compute", "memory", "launch", "link", "host"};
    return words[static_cast<std::size_t>(bound)];
}

}  // namespace windtunnel::train
