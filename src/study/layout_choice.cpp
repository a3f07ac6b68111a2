#include "windtunnel/study/layout_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/search/design_space.hpp"

namespace windtunnel::study {

model::Layout chosen_layout(const model::Plan& plan) {
    const std::string file = plan.files.empty() ? "" : plan.files.front().path;
    if (!plan.training)
        throw base::InputError{
            {{file, 0, 0, "train", "the plan has no [train] section", "a [train] section with a layout"}}};
    if (plan.training->published) return *plan.training->published;
    const search::DesignSpace space{plan.training->layout, plan.transformer, plan.cluster,
                                    plan.training->sequence_length};
    if (space.size() == 1) return space.layout(0);
    std::vector<std::string> axes;
    for (const search::AxisName axis : space.open_axes())
        axes.push_back(fmt::format("{} ({} values)", search::to_text(axis), space.values(axis).size()));
    throw base::InputError{
        {{file, 0, 0, "train.layout",
          fmt::format("one layout is needed and the space has {}; open axes: {}", space.size(), fmt::join(axes, ", ")),
          "one value on each of them, or a [train.published] layout"}}};
}

}  // namespace windtunnel::study
