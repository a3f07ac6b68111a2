#include "windtunnel/train/operator_run.hpp"

#include <algorithm>
#include <limits>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::train {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool is_communication(const Operator& one) noexcept {
    return one.unit == Unit::network || one.unit == Unit::host_link;
}

Seconds full_speed(const Operator& one, const StreamRules& rules) noexcept {
    return rules.serial ? one.counted() : one.duration();
}

/// When the host has issued each operator.
std::vector<double> issue_times(const OperatorGraph& graph, const StreamRules& rules) {
    std::vector<double> issued(graph.operators.size(), rules.graph ? rules.graph_launch.value() : 0.0);
    if (rules.graph) return issued;
    double at = 0.0;
    for (std::size_t i = 0; i < issued.size(); ++i) {
        at += graph.operators[i].kernels * rules.host_launch.value();
        issued[i] = at;
    }
    return issued;
}

/// The running operator of each stream and what is left of it.
struct Running {
    OperatorIndex index = 0;
    double left = 0.0;
    bool active = false;
};

class Simulation {
public:
    Simulation(const OperatorGraph& graph, const StreamRules& rules)
        : graph_{graph}, rules_{rules}, issued_{issue_times(graph, rules)} {
        const std::size_t n = graph.operators.size();
        run_.start.assign(n, Seconds{0.0});
        run_.end.assign(n, Seconds{0.0});
        waits_.assign(n, 0);
        successors_.resize(n);
        for (const OperatorGraph::Edge& edge : graph.edges) {
            base::expects(edge.before < edge.after && edge.after < n, "edges go from earlier to later operators");
            ++waits_[edge.after];
            successors_[edge.before].push_back(edge.after);
        }
        for (OperatorIndex i = 0; i < n; ++i)
            queues_[static_cast<std::size_t>(stream_of(graph.operators[i], rules))].push_back(i);
    }

    OperatorRun run() && {
        std::size_t left = graph_.operators.size();
        double now = 0.0;
        while (left > 0) {
            start_what_may(now);
            const double step = time_to_next(now);
            base::ensures(step < never, "an operator can always go on");
            advance(step);
            now += step;
            left -= finish(now);
        }
        run_.makespan = Seconds{now};
        bounds();
        return std::move(run_);
    }

private:
    void start_what_may(double now) {
        for (std::size_t s = 0; s < queues_.size(); ++s) {
            Running& running = running_[s];
            if (running.active || next_[s] == queues_[s].size()) continue;
            const OperatorIndex i = queues_[s][next_[s]];
            if (waits_[i] != 0 || issued_[i] > now) continue;
            running = {i, full_speed(graph_.operators[i], rules_).value(), true};
            run_.start[i] = Seconds{now};
            ++next_[s];
        }
    }

    [[nodiscard]] double rate(std::size_t stream) const noexcept {
        const bool mine = is_communication(graph_.operators[running_[stream].index]);
        for (std::size_t other = 0; other < running_.size(); ++other)
            if (other != stream && running_[other].active &&
                is_communication(graph_.operators[running_[other].index]) != mine)
                return mine ? rules_.communication_rate : rules_.compute_rate;
        return 1.0;
    }

    [[nodiscard]] double time_to_next(double now) const noexcept {
        double step = never;
        for (std::size_t s = 0; s < queues_.size(); ++s) {
            if (running_[s].active) {
                step = std::min(step, running_[s].left / rate(s));
            } else if (next_[s] < queues_[s].size()) {
                const OperatorIndex i = queues_[s][next_[s]];
                if (waits_[i] == 0 && issued_[i] > now) step = std::min(step, issued_[i] - now);
            }
        }
        return step;
    }

    void advance(double step) noexcept {
        std::array<double, num_streams> done{};
        for (std::size_t s = 0; s < running_.size(); ++s)
            if (running_[s].active) {
                // What ends now ends exactly.
                const double speed = rate(s);
                done[s] = running_[s].left / speed <= step ? running_[s].left : step * speed;
                run_.busy[s] += Seconds{step};
            }
        for (std::size_t s = 0; s < running_.size(); ++s) running_[s].left -= done[s];
    }

    std::size_t finish(double now) {
        std::size_t finished = 0;
        for (Running& running : running_) {
            if (!running.active || running.left > 0.0) continue;
            running.active = false;
            run_.end[running.index] = Seconds{now};
            for (const OperatorIndex after : successors_[running.index]) --waits_[after];
            ++finished;
        }
        return finished;
    }

    void bounds() {
        std::vector<double> chain(graph_.operators.size(), 0.0);
        for (OperatorIndex i = 0; i < chain.size(); ++i) {
            chain[i] = std::max(chain[i], issued_[i]) + full_speed(graph_.operators[i], rules_).value();
            for (const OperatorIndex after : successors_[i]) chain[after] = std::max(chain[after], chain[i]);
            run_.critical_path = std::max(run_.critical_path, Seconds{chain[i]});
        }
        if (!issued_.empty()) run_.issued = Seconds{issued_.back()};
        const double rounding = 1.0 + 1e-12 * static_cast<double>(chain.size() + 1);
        base::ensures(run_.critical_path <= run_.makespan * rounding, "no run is shorter than its critical path");
        for (const Seconds busy : run_.busy)
            base::ensures(busy <= run_.makespan * rounding, "no run is shorter than a stream is busy");
        base::ensures(run_.issued <= run_.makespan * rounding, "no run is shorter than the host's issue");
    }

    const OperatorGraph& graph_;
    const StreamRules& rules_;
    std::vector<double> issued_;
    OperatorRun run_;
    std::vector<std::uint32_t> waits_;
    std::vector<std::vector<OperatorIndex>> successors_;
    std::array<std::vector<OperatorIndex>, num_streams> queues_;
    std::array<std::size_t, num_streams> next_{};
    std::array<Running, num_streams> running_{};
};

}  // namespace

std::string to_text(Stream stream) {
    constexpr std::array words{"compute", "vector", "collective", "point_to_point", "copy", "host"};
    return words[static_cast<std::size_t>(stream)];
}

Stream stream_of(const Operator& one, const StreamRules& rules) noexcept {
    if (rules.serial) return Stream::compute;
    switch (one.unit) {
        case Unit::network:
            return one.group == GroupName::pipeline ? Stream::point_to_point : Stream::collective;
        case Unit::host_link:
            return Stream::copy;
        case Unit::vector:
            return rules.separate_vector ? Stream::vector : Stream::compute;
        case Unit::matrix:
        case Unit::host:
            break;
    }
    return Stream::compute;
}

OperatorRun simulate(const OperatorGraph& graph, const StreamRules& rules) {
    base::expects(rules.compute_rate > 0.0 && rules.communication_rate > 0.0, "rates are above 0");
    return Simulation{graph, rules}.run();
}

OperatorGraph passes_of(const OperatorGraph& graph, std::span<const Pass> passes) {
    constexpr OperatorIndex none = ~OperatorIndex{0};
    OperatorGraph part;
    std::vector<OperatorIndex> place(graph.operators.size(), none);
    for (OperatorIndex i = 0; i < graph.operators.size(); ++i) {
        if (std::find(passes.begin(), passes.end(), graph.operators[i].pass) == passes.end()) continue;
        place[i] = static_cast<OperatorIndex>(part.operators.size());
        part.operators.push_back(graph.operators[i]);
    }
    for (const OperatorGraph::Edge& edge : graph.edges)
        if (place[edge.before] != none && place[edge.after] != none)
            part.edges.push_back({place[edge.before], place[edge.after]});
    return part;
}

}  // namespace windtunnel::train
