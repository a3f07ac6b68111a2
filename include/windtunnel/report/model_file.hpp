#pragma once
/// A model as the TOML file that `input::read_model` reads.
#include <string>

#include "windtunnel/model/transformer.hpp"

namespace windtunnel::report {

/// Reading it back gives an equal value. `source` goes in as the file-wide source.
[[nodiscard]] std::string model_toml(const model::Transformer& transformer, const std::string& source);

/// The text as a TOML basic string, quotes included.
[[nodiscard]] std::string toml_text(const std::string& text);

}  // namespace windtunnel::report
