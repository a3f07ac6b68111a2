#pragma once
/// Where the members of a parallel group lie: inside one scale-up domain or over several.
#include "windtunnel/model/layout.hpp"

namespace windtunnel::topology {

/// A group of `size` ranks that are `stride` apart in rank order, laid on domains of equal size.
///
/// Model:   ranks fill domains in order; a group starts at a domain border or fits evenly, so each domain that it
/// touches
///          holds `per_domain` members (the last one may hold fewer). Every card has a network port of its own: a group
///          with `per_domain` members in a domain uses that many ports.
/// Inputs:  size >= 1, stride >= 1, domain_size >= 1.
struct GroupPlacement {
    int size = 1;
    int per_domain = 1;     ///< members that share a domain
    int num_domains = 1;    ///< domains that the group touches
    int domain_stride = 1;  ///< from one of these domains to the next

    [[nodiscard]] constexpr bool inside_one_domain() const noexcept { return num_domains == 1; }
    friend constexpr bool operator==(const GroupPlacement&, const GroupPlacement&) noexcept = default;
};
[[nodiscard]] constexpr GroupPlacement place_group(int size, int stride, int domain_size) noexcept {
    GroupPlacement placement{size, 1, size, 1};
    if (stride < domain_size) {
        const int fitting = domain_size / stride;
        placement.per_domain = fitting < size ? fitting : size;
        placement.num_domains = (size + placement.per_domain - 1) / placement.per_domain;
    } else {
        placement.domain_stride = size > 1 ? stride / domain_size : 1;
    }
    return placement;
}

/// The groups of a layout in rank order tp, cp, dp, pp; experts: etp, ep, edp, pp (folded over the same ranks).
/// Source: Megatron-Core parallel_state; Liu et al., MoE Parallel Folding, 2025.
[[nodiscard]] GroupPlacement tensor_group(const model::Layout& layout, int domain_size) noexcept;
[[nodiscard]] GroupPlacement context_group(const model::Layout& layout, int domain_size) noexcept;
/// Gradients of weights without experts are exchanged over dp x cp.
[[nodiscard]] GroupPlacement data_group(const model::Layout& layout, int domain_size) noexcept;
[[nodiscard]] GroupPlacement expert_tensor_group(const model::Layout& layout, int domain_size) noexcept;
[[nodiscard]] GroupPlacement expert_group(const model::Layout& layout, int domain_size) noexcept;
[[nodiscard]] GroupPlacement expert_data_group(const model::Layout& layout, int domain_size) noexcept;
/// Does a neighbour in the pipeline lie in another domain?
[[nodiscard]] bool pipeline_leaves_domain(const model::Layout& layout, int domain_size) noexcept;

}  // namespace windtunnel::topology
