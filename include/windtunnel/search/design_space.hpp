#pragma once
/// All layouts of a plan, numbered: a number becomes a layout and back without the space being stored.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/model/plan.hpp"

namespace windtunnel::search {

/// Axes from the most to the least significant digit. Those that break rules by themselves come first, so that one
/// broken rule cuts off a whole range of numbers.
enum class AxisName {
    tensor_parallel,
    context_parallel,
    expert_parallel,
    expert_tensor_parallel,
    pipeline_parallel,
    optimizer_sharding,
    virtual_pipeline,
    schedule,
    cards,
    micro_batch_size,
    global_batch_size,
    recompute
};
inline constexpr int num_axes = 12;
[[nodiscard]] std::string to_text(AxisName axis);  ///< the key of [train.layout]

/// Mixed radix over the axes.
///
/// Inputs:  "any" stands for: cards, every whole number of nodes from 90 % of the cluster on; tensor_parallel, divisors
/// of the
///          attention heads up to the scale-up domain; context_parallel, divisors of the sequence up to the cluster's
///          cards; expert_parallel, divisors of the routed experts; expert_tensor_parallel, divisors of the expert
///          width up to the scale-up domain; pipeline_parallel and virtual_pipeline, 1 to the number of layers (with
///          the split "slots" also embedding, head and MTP modules); micro_batch_size, 1, 2, 4, 8, 16; recompute and
///          schedule, each one; optimizer_sharding, 0 to 3.
/// Limits:  at most `most_designs` layouts. Throws base::InputError with the numbers when there are more.
class DesignSpace {
public:
    static constexpr std::uint64_t most_designs = 1'000'000'000'000;

    DesignSpace(const model::LayoutSpace& space, const model::Transformer& transformer, const model::Cluster& cluster,
                int sequence_length);

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] const std::vector<std::int64_t>& values(AxisName axis) const noexcept {
        return values_[static_cast<std::size_t>(axis)];
    }
    /// Designs that share all digits up to and including this axis.
    [[nodiscard]] std::uint64_t weight(AxisName axis) const noexcept {
        return weights_[static_cast<std::size_t>(axis)];
    }
    /// Expects index < size().
    [[nodiscard]] model::Layout layout(std::uint64_t index) const;
    /// Empty: the layout is no point of the space.
    [[nodiscard]] std::optional<std::uint64_t> index(const model::Layout& layout) const;
    /// What every layout of the space shares: split and sequence parallelism; the rest as in a default layout.
    [[nodiscard]] const model::Layout& common() const noexcept { return common_; }
    /// Axes with more than one value.
    [[nodiscard]] std::vector<AxisName> open_axes() const;

private:
    std::array<std::vector<std::int64_t>, num_axes> values_;
    std::array<std::uint64_t, num_axes> weights_{};
    std::uint64_t size_ = 0;
    model::Layout common_;
};

/// Writes one value of an axis into a layout, and reads it.
void set_value(model::Layout& layout, AxisName axis, std::int64_t value) noexcept;
[[nodiscard]] std::int64_t value_of(const model::Layout& layout, AxisName axis) noexcept;

}  // namespace windtunnel::search
