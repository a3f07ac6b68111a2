#include "windtunnel/topology/groups.hpp"

namespace windtunnel::topology {

GroupPlacement tensor_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.tensor_parallel, 1, domain_size);
}

GroupPlacement context_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.context_parallel, layout.tensor_parallel, domain_size);
}

GroupPlacement data_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.data_parallel() * layout.context_parallel, layout.tensor_parallel, domain_size);
}

GroupPlacement expert_tensor_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.expert_tensor_parallel, 1, domain_size);
}

GroupPlacement expert_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.expert_parallel, layout.expert_tensor_parallel, domain_size);
}

GroupPlacement expert_data_group(const model::Layout& layout, int domain_size) noexcept {
    return place_group(layout.expert_data_parallel(), layout.expert_tensor_parallel * layout.expert_parallel,
                       domain_size);
}

bool pipeline_leaves_domain(const model::Layout& layout, int domain_size) noexcept {
    return layout.pipeline_parallel > 1 && layout.cards > domain_size;
}

}  // namespace windtunnel::topology
