#include "windtunnel/serve/expert_placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::serve {
namespace {

/// Bin of each thing: heaviest first, into the lightest bin that has room; bins hold equal numbers.
std::vector<std::vector<int>> pack(std::span<const double> weights, int num_bins) {
    std::vector<std::vector<int>> bins(static_cast<std::size_t>(num_bins));
    const std::size_t room = weights.size() / bins.size();
    std::vector<int> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
    });
    std::vector<double> sums(bins.size(), 0.0);
    for (const int thing : order) {
        std::size_t lightest = bins.size();
        for (std::size_t bin = 0; bin < bins.size(); ++bin)
            if (bins[bin].size() < room && (lightest == bins.size() || sums[bin] < sums[lightest])) lightest = bin;
        bins[lightest].push_back(thing);
        sums[lightest] += weights[static_cast<std::size_t>(thing)];
    }
    return bins;
}

}  // namespace

bool is_placeable(int experts, const PlacementRequest& r) noexcept {
    return experts >= 1 && r.groups >= 1 && r.nodes >= 1 && r.cards >= 1 && r.slots >= experts &&
           experts % r.groups == 0 && r.groups % r.nodes == 0 && r.cards % r.nodes == 0 && r.slots % r.cards == 0;
}

ExpertPlacement place_experts(std::span<const double> load, const PlacementRequest& request) {
    base::expects(is_placeable(static_cast<int>(load.size()), request), "the request can be met");
    const auto at = [&load](int expert) { return load[static_cast<std::size_t>(expert)]; };
    const int group_size = static_cast<int>(load.size()) / request.groups;
    std::vector<double> group_loads(static_cast<std::size_t>(request.groups), 0.0);
    for (std::size_t expert = 0; expert < load.size(); ++expert)
        group_loads[expert / static_cast<std::size_t>(group_size)] += load[expert];

    ExpertPlacement placement{{}, request.cards};
    const auto slots_of_node = static_cast<std::size_t>(request.slots / request.nodes);
    for (const std::vector<int>& groups : pack(group_loads, request.nodes)) {
        std::vector<int> replicas;  // logical expert of each physical one on this node
        for (const int group : groups)
            for (int member = 0; member < group_size; ++member) replicas.push_back(group * group_size + member);
        std::vector<int> counts(load.size(), 1);
        const auto share = [&](int expert) { return at(expert) / counts[static_cast<std::size_t>(expert)]; };
        const std::vector<int> logical = replicas;
        while (replicas.size() < slots_of_node) {
            const int hottest =
                *std::max_element(logical.begin(), logical.end(), [&](int a, int b) { return share(a) < share(b); });
            replicas.push_back(hottest);
            ++counts[static_cast<std::size_t>(hottest)];
        }
        std::vector<double> shares(replicas.size());
        std::transform(replicas.begin(), replicas.end(), shares.begin(), share);
        for (const std::vector<int>& card : pack(shares, request.cards / request.nodes))
            for (const int replica : card) placement.slots.push_back(replicas[static_cast<std::size_t>(replica)]);
    }
    return placement;
}

std::vector<double> card_loads(std::span<const double> load, const ExpertPlacement& placement) {
    std::vector<double> replicas(load.size(), 0.0);
    for (const int expert : placement.slots) replicas[static_cast<std::size_t>(expert)] += 1.0;
    std::vector<double> loads(static_cast<std::size_t>(placement.cards), 0.0);
    const std::size_t per_card = placement.slots.size() / loads.size();
    for (std::size_t slot = 0; slot < placement.slots.size(); ++slot) {
        const auto expert = static_cast<std::size_t>(placement.slots[slot]);
        loads[slot / per_card] += load[expert] / replicas[expert];
    }
    return loads;
}

double skew_of(std::span<const double> card_load) noexcept {
    const double sum = std::accumulate(card_load.begin(), card_load.end(), 0.0);
    if (!(sum > 0.0)) return 1.0;
    return *std::max_element(card_load.begin(), card_load.end()) / (sum / static_cast<double>(card_load.size()));
}

std::vector<double> zipf_loads(int experts, double exponent) {
    std::vector<double> loads(static_cast<std::size_t>(std::max(0, experts)));
    for (std::size_t rank = 0; rank < loads.size(); ++rank)
        loads[rank] = std::pow(static_cast<double>(rank + 1), -exponent);
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    for (double& value : loads) value *= static_cast<double>(experts) / sum;
    return loads;
}

}  // namespace windtunnel::serve
