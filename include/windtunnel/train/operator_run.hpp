#pragma once
/// Dynamic simulation of an operator graph on the streams of one representative card.
#include <span>
#include <vector>

#include "windtunnel/train/operator_graph.hpp"

namespace windtunnel::train {

enum class Stream { compute, vector, collective, point_to_point, copy, host };
inline constexpr int num_streams = 6;
[[nodiscard]] std::string to_text(Stream stream);

/// How operators share a card.
struct StreamRules {
    bool serial = false;              ///< one stream, communication as long as the fitted shares leave it exposed
    bool separate_vector = false;     ///< vector operators have a stream of their own
    double compute_rate = 1.0;        ///< speed of compute while communication runs
    double communication_rate = 1.0;  ///< speed of communication while compute runs
    Seconds host_launch;              ///< of the host, for each kernel; operators are issued in their order
    bool graph = false;               ///< the whole graph is issued at once, after graph_launch
    Seconds graph_launch;
};

struct OperatorRun {
    std::vector<Seconds> start, end;  ///< by operator
    std::array<Seconds, num_streams> busy{};
    Seconds makespan;
    Seconds
        critical_path;  ///< longest chain of dependencies at full speed, with the host's issue of its first operator
    Seconds issued;     ///< when the host has issued everything
};

/// Model:   a stream runs its operators in the order of the graph; an operator starts at the latest of the ends of what
///          it waits for, of its stream and of its issue by the host. Compute and communication that run at the same
///          time go on at their rates.
/// Inputs:  a graph whose edges go from earlier to later operators; rates in (0, 1].
/// Returns: start and end of each operator. Ensures: makespan >= critical path, >= busy time of every stream, >= the
///          host's issue.
/// Limits:  one representative card: its peers are as fast. Source: list scheduling.
[[nodiscard]] OperatorRun simulate(const OperatorGraph& graph, const StreamRules& rules);

/// The operators of some passes with the edges between them.
[[nodiscard]] OperatorGraph passes_of(const OperatorGraph& graph, std::span<const Pass> passes);

/// On which stream an operator runs.
[[nodiscard]] Stream stream_of(const Operator& one, const StreamRules& rules) noexcept;

}  // namespace windtunnel::train
