#pragma once
/// JSON objects that several answers share.
#include <nlohmann/json.hpp>

#include "windtunnel/model/layout.hpp"
#include "windtunnel/study/rehearse_study.hpp"
#include "windtunnel/study/search_study.hpp"
#include "windtunnel/study/train_study.hpp"
#include "windtunnel/study/trials.hpp"

namespace windtunnel::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json layout_json(const model::Layout& layout);
[[nodiscard]] Json point_json(const study::TrainPoint& point);
[[nodiscard]] Json search_object(const study::SearchAnswer& answer, std::size_t top);
[[nodiscard]] Json variants_array(const std::vector<study::VariantAnswer>& variants);
[[nodiscard]] Json times_array(const study::RehearseAnswer& answer);

}  // namespace windtunnel::report
