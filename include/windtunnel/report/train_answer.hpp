#pragma once
/// One layout of a training job, or a series of card counts: the step, its parts, memory by stage, the verdict.
#include <string>

#include "windtunnel/model/plan.hpp"
#include "windtunnel/study/train_study.hpp"

namespace windtunnel::report {

[[nodiscard]] std::string train_text(const model::Plan& plan, const study::TrainAnswer& answer);
/// One layout: its object; a sweep: {"points": [...]}.
[[nodiscard]] std::string train_json(const model::Plan& plan, const study::TrainAnswer& answer);

/// Step time with its parts and memory by stage of one layout, without title and notes.
[[nodiscard]] std::string train_point_text(const model::Plan& plan, const study::TrainPoint& point);

/// Tag of the weakest input of a number.
[[nodiscard]] std::string evidence_text(model::Evidence evidence);

}  // namespace windtunnel::report
