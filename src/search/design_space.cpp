#include "windtunnel/search/design_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::search {
namespace {

using Values = std::vector<std::int64_t>;

Values counting(std::int64_t from, std::int64_t to) {
    Values values(static_cast<std::size_t>(std::max<std::int64_t>(1, to - from + 1)));
    std::iota(values.begin(), values.end(), from);
    return values;
}

/// Divisors of `number` up to `most`; 1 where there is nothing to divide.
Values divisors_or_one(std::int64_t number, std::int64_t most) {
    Values values = model::divisors(number, std::max<std::int64_t>(most, 1));
    return values.empty() ? Values{1} : values;
}

template <class Value>
Values resolved(const model::Axis<Value>& axis, const Values& legal) {
    if (axis.any) return legal;
    Values values;
    for (const Value value : axis.values) values.push_back(static_cast<std::int64_t>(value));
    return values;
}

/// Whole nodes from 90 % of the cluster up to all of it.
Values card_counts(const model::Cluster& cluster) {
    const std::int64_t nodes = cluster.num_nodes, each = cluster.cards_per_node();
    Values values;
    for (std::int64_t used = std::max<std::int64_t>(1, (9 * nodes + 9) / 10); used <= nodes; ++used)
        values.push_back(used * each);
    return values.empty() ? Values{1} : values;
}

[[noreturn]] void refuse(std::string field, std::string message, std::string expected) {
    throw base::InputError{{{"", 0, 0, std::move(field), std::move(message), std::move(expected)}}};
}

}  // namespace

std::string to_text(AxisName axis) {
    switch (axis) {
        case AxisName::tensor_parallel:
            return "tensor_parallel";
        case AxisName::context_parallel:
            return "context_parallel";
        case AxisName::expert_parallel:
            return "expert_parallel";
        case AxisName::expert_tensor_parallel:
            return "expert_tensor_parallel";
        case AxisName::pipeline_parallel:
            return "pipeline_parallel";
        case AxisName::optimizer_sharding:
            return "optimizer_sharding";
        case AxisName::virtual_pipeline:
            return "virtual_pipeline";
        case AxisName::schedule:
            return "pipeline_schedule";
        case AxisName::cards:
            return "cards";
        case AxisName::micro_batch_size:
            return "micro_batch_size";
        case AxisName::global_batch_size:
            return "global_batch_size";
        case AxisName::recompute:
            return "recompute";
    }
    return "";
}

void set_value(model::Layout& layout, AxisName axis, std::int64_t value) noexcept {
    const int number = static_cast<int>(value);
    switch (axis) {
        case AxisName::tensor_parallel:
            layout.tensor_parallel = number;
            break;
        case AxisName::context_parallel:
            layout.context_parallel = number;
            break;
        case AxisName::expert_parallel:
            layout.expert_parallel = number;
            break;
        case AxisName::expert_tensor_parallel:
            layout.expert_tensor_parallel = number;
            break;
        case AxisName::pipeline_parallel:
            layout.pipeline_parallel = number;
            break;
        case AxisName::optimizer_sharding:
            layout.optimizer_sharding = number;
            break;
        case AxisName::virtual_pipeline:
            layout.virtual_pipeline = number;
            break;
        case AxisName::schedule:
            layout.schedule = static_cast<model::PipelineSchedule>(number);
            break;
        case AxisName::cards:
            layout.cards = number;
            break;
        case AxisName::micro_batch_size:
            layout.micro_batch_size = number;
            break;
        case AxisName::global_batch_size:
            layout.global_batch_size = value;
            break;
        case AxisName::recompute:
            layout.recompute = static_cast<model::Recompute>(number);
            break;
    }
}

std::int64_t value_of(const model::Layout& layout, AxisName axis) noexcept {
    switch (axis) {
        case AxisName::tensor_parallel:
            return layout.tensor_parallel;
        case AxisName::context_parallel:
            return layout.context_parallel;
        case AxisName::expert_parallel:
            return layout.expert_parallel;
        case AxisName::expert_tensor_parallel:
            return layout.expert_tensor_parallel;
        case AxisName::pipeline_parallel:
            return layout.pipeline_parallel;
        case AxisName::optimizer_sharding:
            return layout.optimizer_sharding;
        case AxisName::virtual_pipeline:
            return layout.virtual_pipeline;
        case AxisName::schedule:
            return static_cast<std::int64_t>(layout.schedule);
        case AxisName::cards:
            return layout.cards;
        case AxisName::micro_batch_size:
            return layout.micro_batch_size;
        case AxisName::global_batch_size:
            return layout.global_batch_size;
        case AxisName::recompute:
            return static_cast<std::int64_t>(layout.recompute);
    }
    return 0;
}

DesignSpace::DesignSpace(const model::LayoutSpace& space, const model::Transformer& transformer,
                         const model::Cluster& cluster, int sequence_length) {
    if (space.global_batch_size.any)
        refuse("train.layout.global_batch_size", "\"any\" has no end for a batch", "a number, a list or a range");
    const std::int64_t domain = cluster.accelerator.scale_up_domain;
    const model::Experts experts = transformer.experts.value_or(model::Experts{});
    const bool slots = space.split.kind == model::SplitKind::slots;
    const Values chunks =
        counting(1, std::int64_t{transformer.num_layers} + (slots ? 2 + transformer.num_mtp_layers : 0));

    const auto put = [this](AxisName axis, Values values) {
        values_[static_cast<std::size_t>(axis)] = std::move(values);
    };
    put(AxisName::tensor_parallel,
        resolved(space.tensor_parallel, divisors_or_one(transformer.attention.num_heads, domain)));
    put(AxisName::context_parallel,
        resolved(space.context_parallel, divisors_or_one(sequence_length, cluster.num_cards())));
    put(AxisName::expert_parallel,
        resolved(space.expert_parallel, divisors_or_one(experts.num_routed, experts.num_routed)));
    put(AxisName::expert_tensor_parallel, resolved(space.expert_tensor_parallel, divisors_or_one(experts.ffn, domain)));
    put(AxisName::pipeline_parallel, resolved(space.pipeline_parallel, chunks));
    put(AxisName::optimizer_sharding, resolved(space.optimizer_sharding, counting(0, 3)));
    put(AxisName::virtual_pipeline, resolved(space.virtual_pipeline, chunks));
    put(AxisName::schedule, resolved(space.schedule, counting(0, model::num_pipeline_schedules - 1)));
    put(AxisName::cards, resolved(space.cards, card_counts(cluster)));
    put(AxisName::micro_batch_size, resolved(space.micro_batch_size, {1, 2, 4, 8, 16}));
    put(AxisName::global_batch_size, resolved(space.global_batch_size, {}));
    put(AxisName::recompute, resolved(space.recompute, counting(0, 2)));
    common_.sequence_parallel = space.sequence_parallel;
    common_.split = space.split;

    double product = 1.0;  // only for the message: the exact one may not fit 64 bits
    for (const Values& values : values_) product *= static_cast<double>(values.size());
    if (product > static_cast<double>(most_designs)) {
        std::vector<std::string> factors;
        for (const AxisName axis : open_axes())
            factors.push_back(fmt::format("{} {}", to_text(axis), values(axis).size()));
        refuse("train.layout",
               fmt::format("the space has {:.3g} designs ({}), more than {:.0e}", product, fmt::join(factors, " x "),
                           static_cast<double>(most_designs)),
               "fewer values on these axes");
    }
    size_ = 1;
    for (int axis = num_axes - 1; axis >= 0; --axis) {
        weights_[static_cast<std::size_t>(axis)] = size_;
        size_ *= values_[static_cast<std::size_t>(axis)].size();
    }
    for (int axis = 0; axis < num_axes; ++axis)
        if (values_[static_cast<std::size_t>(axis)].empty())
            refuse("train.layout." + to_text(static_cast<AxisName>(axis)), "the axis has no value", "at least one");
}

model::Layout DesignSpace::layout(std::uint64_t index) const {
    base::expects(index < size_, "the index lies in the space");
    model::Layout layout = common_;
    for (int axis = 0; axis < num_axes; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        set_value(layout, static_cast<AxisName>(axis), values_[a][index / weights_[a]]);
        index %= weights_[a];
    }
    return layout;
}

std::optional<std::uint64_t> DesignSpace::index(const model::Layout& layout) const {
    if (layout.split != common_.split || layout.sequence_parallel != common_.sequence_parallel) return std::nullopt;
    std::uint64_t index = 0;
    for (int axis = 0; axis < num_axes; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const auto at = std::find(values_[a].begin(), values_[a].end(), value_of(layout, static_cast<AxisName>(axis)));
        if (at == values_[a].end()) return std::nullopt;
        index += static_cast<std::uint64_t>(at - values_[a].begin()) * weights_[a];
    }
    return index;
}

std::vector<AxisName> DesignSpace::open_axes() const {
    std::vector<AxisName> open;
    for (int axis = 0; axis < num_axes; ++axis)
        if (values_[static_cast<std::size_t>(axis)].size() > 1) open.push_back(static_cast<AxisName>(axis));
    return open;
}

}  // namespace windtunnel::search
