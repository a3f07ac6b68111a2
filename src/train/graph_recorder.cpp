#include "windtunnel/train/graph_recorder.hpp"

#include <algorithm>
#include <optional>

namespace windtunnel::train {
namespace {

using Link = std::optional<OperatorIndex>;

/// Appends operators to a graph with the edges to what they wait for.
class Chain {
public:
    explicit Chain(OperatorGraph& graph) : graph_{graph} {}
    OperatorIndex add(const Operator& one, const Link& before) {
        const auto index = static_cast<OperatorIndex>(graph_.operators.size());
        graph_.operators.push_back(one);
        wait(index, before);
        return index;
    }
    void wait(OperatorIndex index, const Link& before) {
        if (before) graph_.edges.push_back({*before, index});
    }

private:
    OperatorGraph& graph_;
};

}  // namespace

void GraphRecorder::begin_branch(Place fork) {
    branches_.push_back({fork, 0});
    branch_ = static_cast<int>(branches_.size());
}

void GraphRecorder::end_branch() noexcept {
    branches_.back().join = here();
    branch_ = 0;
}

void GraphRecorder::add_at(Place place, const Operator& one, bool rerun) {
    items_.push_back({place, branch_, rerun, false, one});
}

void GraphRecorder::add_for_weight(Place place, const Operator& one) {
    items_.push_back({place, branch_, false, true, one});
}

void GraphRecorder::add_rest(double kept, double parameters, double expert_parameters) noexcept {
    if (items_.empty()) return;
    Operator& one = items_.front().one;
    one.kept += Bytes{kept};
    one.parameters += parameters;
    one.expert_parameters += expert_parameters;
}

OperatorGraph GraphRecorder::assemble() const {
    std::vector<Item> items = items_;
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.place < b.place; });
    OperatorGraph graph;
    Chain chain{graph};
    Link main, last;
    std::vector<Link> side(branches_.size()), fork(branches_.size());
    const auto number = [](const Item& item) { return static_cast<std::size_t>(item.branch - 1); };
    /// Appends an operator of the chain, behind the branches that join at it.
    const auto add_to_chain = [&](const Item& item, const auto& joins) {
        const OperatorIndex index = chain.add(item.one, main);
        for (std::size_t b = 0; b < side.size(); ++b)
            if (side[b] && joins(branches_[b])) {
                chain.wait(index, side[b]);
                side[b].reset();
            }
        main = index;
        return index;
    };
    for (const Item& item : items) {
        if (item.one.pass != Pass::forward) continue;
        if (item.branch > 0) {
            Link& mine = side[number(item)];
            mine = last = chain.add(item.one, mine ? mine : fork[number(item)]);
            continue;
        }
        last = add_to_chain(item, [&](const Branch& branch) { return item.place >= branch.join; });
        for (std::size_t b = 0; b < fork.size(); ++b)
            if (item.place < branches_[b].fork) fork[b] = main;
    }
    for (const Link& open : side)
        if (open && main) last = std::max(open, main);
    for (const Item& item : items) {
        if (item.one.pass != Pass::forward || !(item.rerun || rerun_all_)) continue;
        Operator again = item.one;
        again.pass = Pass::recompute;
        again.kept = Bytes{0.0};
        again.parameters = again.expert_parameters = 0.0;
        last = chain.add(again, last);
    }
    main = last;
    std::fill(side.begin(), side.end(), Link{});
    // Groups of one place from the back; operators of a place keep their order.
    for (auto end = items.end(); end != items.begin();) {
        auto begin = end;
        while (begin != items.begin() && std::prev(begin)->place == std::prev(end)->place) --begin;
        Link gradient, gathered, weight;
        for (auto item = begin; item != end; ++item) {
            if (item->one.pass != Pass::backward_input) continue;
            const bool in_branch = item->branch > 0;
            const Link before = in_branch && side[number(*item)] ? side[number(*item)] : main;
            if (item->for_weight) {
                gathered = chain.add(item->one, gradient ? gradient : before);
                continue;
            }
            const bool product =
                item->one.kind == OperatorKind::product || item->one.kind == OperatorKind::grouped_product;
            if (product) gradient = before;
            if (in_branch)
                side[number(*item)] = chain.add(item->one, before);
            else
                add_to_chain(*item, [&](const Branch& branch) { return item->place < branch.fork; });
        }
        for (auto item = begin; item != end; ++item) {
            if (item->one.pass != Pass::backward_weight) continue;
            const OperatorIndex index = chain.add(item->one, weight ? weight : gradient);
            if (!weight) chain.wait(index, gathered);
            weight = index;
        }
        end = begin;
    }
    return graph;
}

}  // namespace windtunnel::train
