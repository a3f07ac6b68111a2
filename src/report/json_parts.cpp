#include "windtunnel/report/json_parts.hpp"

namespace windtunnel::report {

Json layout_json(const model::Layout& layout) {
    return {{"cards", layout.cards},
            {"tp", layout.tensor_parallel},
            {"cp", layout.context_parallel},
            {"dp", layout.data_parallel()},
            {"pp", layout.pipeline_parallel},
            {"vpp", layout.virtual_pipeline},
            {"ep", layout.expert_parallel},
            {"etp", layout.expert_tensor_parallel},
            {"edp", layout.expert_data_parallel()},
            {"micro_batch_size", layout.micro_batch_size},
            {"global_batch_size", layout.global_batch_size},
            {"recompute", model::to_text(layout.recompute)},
            {"pipeline_schedule", model::to_text(layout.schedule)},
            {"optimizer_sharding", layout.optimizer_sharding},
            {"pipeline_split", model::to_text(layout.split)}};
}

}  // namespace windtunnel::report
