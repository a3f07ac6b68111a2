#include "windtunnel/comm/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace windtunnel::comm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-12;

/// Flows of one priority, filled into what is left of the channels.
void fill(std::vector<double>& left, std::span<const Flow> flows, std::span<const std::size_t> members,
          std::vector<double>& rates) {
    std::vector<char> grows(members.size(), 1);
    std::vector<double> pull(left.size());
    const std::vector<double> at_start = left;
    for (std::size_t round = 0; round <= members.size(); ++round) {
        std::fill(pull.begin(), pull.end(), 0.0);
        double step = infinity;
        bool any = false;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (grows[i] == 0) continue;
            any = true;
            const Flow& flow = flows[members[i]];
            for (const Flow::Use& use : flow.uses)
                pull[static_cast<std::size_t>(use.channel)] += use.share * flow.weight;
            if (flow.most > BytesPerSecond{0.0})
                step = std::min(step, (flow.most.value() - rates[members[i]]) / flow.weight);
        }
        if (!any) return;
        for (std::size_t c = 0; c < left.size(); ++c)
            if (pull[c] > 0.0) step = std::min(step, std::max(0.0, left[c]) / pull[c]);
        for (std::size_t i = 0; i < members.size(); ++i)
            if (grows[i] != 0) rates[members[i]] += step * flows[members[i]].weight;
        if (step == infinity) return;  // nothing bounds what still grows
        for (std::size_t c = 0; c < left.size(); ++c) left[c] -= step * pull[c];
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (grows[i] == 0) continue;
            const Flow& flow = flows[members[i]];
            if (flow.most > BytesPerSecond{0.0} && rates[members[i]] >= flow.most.value() * (1.0 - rounding))
                grows[i] = 0;
            for (const Flow::Use& use : flow.uses) {
                const auto c = static_cast<std::size_t>(use.channel);
                if (left[c] <= at_start[c] * rounding) grows[i] = 0;
            }
        }
    }
}

}  // namespace

std::vector<BytesPerSecond> fair_rates(std::span<const BytesPerSecond> capacities, std::span<const Flow> flows) {
    std::vector<double> left, rates(flows.size(), 0.0);
    for (const BytesPerSecond capacity : capacities) left.push_back(capacity.value());
    std::set<int, std::greater<>> priorities;
    for (const Flow& flow : flows) priorities.insert(flow.priority);
    for (const int priority : priorities) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < flows.size(); ++i)
            if (flows[i].priority == priority) members.push_back(i);
        fill(left, flows, members, rates);
        for (double& channel : left) channel = std::max(0.0, channel);
    }
    std::vector<BytesPerSecond> answer;
    for (const double rate : rates) answer.emplace_back(rate);
    return answer;
}

std::vector<Seconds> fair_times(std::span<const BytesPerSecond> capacities, std::span<const Flow> flows,
                                std::span<const Bytes> sizes) {
    std::vector<Seconds> ends(flows.size(), Seconds{0.0});
    std::vector<double> left;
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        left.push_back(sizes[i].value());
        if (sizes[i] > Bytes{0.0}) running.push_back(i);
    }
    double now = 0.0;
    while (!running.empty()) {
        std::vector<Flow> active;
        for (const std::size_t i : running) active.push_back(flows[i]);
        const std::vector<BytesPerSecond> rates = fair_rates(capacities, active);
        double step = infinity;
        for (std::size_t i = 0; i < running.size(); ++i)
            if (rates[i] > BytesPerSecond{0.0}) step = std::min(step, left[running[i]] / rates[i].value());
        if (step == infinity) {  // nobody moves
            for (const std::size_t i : running) ends[i] = Seconds{infinity};
            break;
        }
        now += step;
        std::vector<std::size_t> still;
        for (std::size_t i = 0; i < running.size(); ++i) {
            const std::size_t flow = running[i];
            const double duration = rates[i] > BytesPerSecond{0.0} ? left[flow] / rates[i].value() : infinity;
            if (duration <= step * (1.0 + rounding)) {
                ends[flow] = Seconds{now};
            } else {
                left[flow] -= rates[i].value() * step;
                still.push_back(flow);
            }
        }
        running = std::move(still);
    }
    return ends;
}

std::vector<BytesPerSecond> channels_of(const topology::Graph& graph, const topology::Health& health) {
    std::vector<BytesPerSecond> channels;
    for (int link = 0; link < graph.num_links(); ++link) {
        const BytesPerSecond rate = health.works(graph, link) ? graph.link(link).rate : BytesPerSecond{0.0};
        channels.insert(channels.end(), {rate, rate});
    }
    return channels;
}

Flow flow_of(const topology::Graph& graph, const topology::Health& health, int from, int to, topology::Spread spread) {
    Flow flow;
    for (const topology::Hop& hop : topology::route(graph, health, from, to, spread))
        flow.uses.push_back({2 * hop.link + (hop.forward ? 0 : 1), hop.share});
    return flow;
}

}  // namespace windtunnel::comm
