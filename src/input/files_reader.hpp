#pragma once
/// Reads the files of one request: keeps their texts, collects findings and what is assumed.
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/input/read.hpp"
#include "windtunnel/input/values.hpp"

namespace windtunnel::input {

class FilesReader {
public:
    explicit FilesReader(const FileProvider& provider) : provider_{provider} {}

    /// The text of a file of a role; empty after a finding. `from` and `field`: the value that names the file.
    [[nodiscard]] std::optional<std::string> text(const std::string& path, const std::string& role,
                                                  const Place& from = {}, const std::string& field = {});

    /// The values of a TOML file; empty when it cannot be read at all.
    [[nodiscard]] std::optional<Values> values(const std::string& path, const std::string& kind, const Place& from = {},
                                               const std::string& field = {});

    /// A model from TOML or from a Hugging Face configuration; empty after a finding.
    [[nodiscard]] std::optional<model::Transformer> model(const std::string& path, const Place& from = {},
                                                          const std::string& field = {});

    /// Lists the values that are recalled or assumed.
    void note_assumptions(const Values& values, const std::string& name);

    std::vector<base::Finding> findings;
    std::vector<model::InputFile> files;
    std::vector<std::string> assumptions;

private:
    const FileProvider& provider_;
};

/// A path as another file names it, relative to that file's folder.
[[nodiscard]] std::string beside(const std::string& file, const std::string& path);

}  // namespace windtunnel::input
