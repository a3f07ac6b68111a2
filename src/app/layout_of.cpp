#include "windtunnel/app/layout_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::app {
namespace {

std::string plan_path(const model::Plan& plan) {
    for (const model::InputFile& file : plan.files) {
        if (file.role == "plan") return file.path;
    }
    return "";
}

[[noreturn]] void throw_finding(const model::Plan& plan, const std::string& field, const std::string& message,
                                const std::string& expected) {
    base::Finding finding;
    finding.file = plan_path(plan);
    finding.field = field;
    finding.message = message;
    finding.expected = expected;
    throw base::InputError{{finding}};
}

std::vector<std::string> open_axes(const model::LayoutSpace& space) {
    std::vector<std::string> names;
    const auto add = [&names](const auto& axis, const char* name) {
        if (!axis.fixed()) names.emplace_back(name);
    };
    add(space.cards, "cards");
    add(space.tensor_parallel, "tensor_parallel");
    add(space.pipeline_parallel, "pipeline_parallel");
    add(space.virtual_pipeline, "virtual_pipeline");
    add(space.context_parallel, "context_parallel");
    add(space.expert_parallel, "expert_parallel");
    add(space.expert_tensor_parallel, "expert_tensor_parallel");
    add(space.micro_batch_size, "micro_batch_size");
    add(space.global_batch_size, "global_batch_size");
    add(space.recompute, "recompute");
    add(space.schedule, "pipeline_schedule");
    add(space.optimizer_sharding, "optimizer_sharding");
    return names;
}

}  // namespace

bool has_one_layout(const model::Plan& plan) {
    return plan.training && (plan.training->published || open_axes(plan.training->layout).empty());
}

model::Layout layout_of(const model::Plan& plan, const std::string& command) {
    if (!plan.training)
        throw_finding(plan, "train", "the plan has no section [train]",
                      fmt::format("windtunnel {} needs one", command));
    if (plan.training->published) return *plan.training->published;
    const model::LayoutSpace& space = plan.training->layout;
    const std::vector<std::string> open = open_axes(space);
    if (!open.empty())
        throw_finding(plan, "train.layout",
                      fmt::format("{} needs one layout, and these axes are open: {}", command, fmt::join(open, ", ")),
                      "one value for each, or a layout under [train.published]");
    model::Layout layout;
    layout.cards = space.cards.values[0];
    layout.tensor_parallel = space.tensor_parallel.values[0];
    layout.pipeline_parallel = space.pipeline_parallel.values[0];
    layout.virtual_pipeline = space.virtual_pipeline.values[0];
    layout.context_parallel = space.context_parallel.values[0];
    layout.expert_parallel = space.expert_parallel.values[0];
    layout.expert_tensor_parallel = space.expert_tensor_parallel.values[0];
    layout.micro_batch_size = space.micro_batch_size.values[0];
    layout.global_batch_size = space.global_batch_size.values[0];
    layout.recompute = space.recompute.values[0];
    layout.schedule = space.schedule.values[0];
    layout.optimizer_sharding = space.optimizer_sharding.values[0];
    layout.sequence_parallel = space.sequence_parallel;
    layout.split = space.split;
    return layout;
}

}  // namespace windtunnel::app
