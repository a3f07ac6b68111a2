#pragma once
/// Models from a Hugging Face `config.json` as it is published: a local file, never the network.
#include <string>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/transformer.hpp"

namespace windtunnel::input {

/// The structure that a configuration describes. The family follows from `model_type`, else from `architectures`; a
/// nested `text_config` is taken for multimodal models. A family that is not known, or whose layers are not modelled
/// (state-space, linear or sparse attention), is a finding, never a default. With findings the value is unusable.
[[nodiscard]] model::Transformer read_hugging_face(const std::string& text, const std::string& file_name,
                                                   std::vector<base::Finding>& findings);

/// The `model_type` words that can be read.
[[nodiscard]] std::vector<std::string> known_model_types();

}  // namespace windtunnel::input
