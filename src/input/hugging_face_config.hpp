#pragma once
/// One config.json: its members by any of their published names, and findings with their place in the text.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/base/errors.hpp"

namespace windtunnel::input {

class HuggingFaceConfig {
public:
    using Names = std::vector<std::string_view>;  ///< the same quantity under the names that families give it

    HuggingFaceConfig(const nlohmann::json& members, std::string_view text, std::string file,
                      std::vector<base::Finding>& findings)
        : members_{members}, text_{text}, file_{std::move(file)}, findings_{findings} {}

    /// First of the names that is there and not null.
    [[nodiscard]] const nlohmann::json* find(const Names& names) const;
    /// An integer from `least` to 10,000,000; a missing or wrong one is a finding.
    [[nodiscard]] int required(const Names& names, int least = 1) const;
    [[nodiscard]] int optional(const Names& names, int otherwise, int least = 0) const;
    /// Is it there and can `required` read it? A rule between values makes sense of such values only.
    [[nodiscard]] bool usable(const Names& names) const;
    [[nodiscard]] bool flag(const Names& names, bool otherwise) const;
    [[nodiscard]] std::string word(const Names& names, const std::string& otherwise) const;
    /// A list of integers; empty when it is not there.
    [[nodiscard]] std::vector<int> integers(const Names& names) const;
    /// A member that is an object of its own, for example attn_config.
    [[nodiscard]] std::optional<HuggingFaceConfig> nested(const Names& names) const;
    void add(std::string_view field, const std::string& message, const std::string& expected = {}) const;

private:
    [[nodiscard]] std::optional<int> integer(const Names& names, int least) const;

    const nlohmann::json& members_;
    std::string_view text_;
    std::string file_;
    std::vector<base::Finding>& findings_;
};

/// Line and column of a byte of the text, from 1.
struct TextPlace {
    int line = 0, column = 0;
};
[[nodiscard]] TextPlace place_of(std::string_view text, std::size_t byte);

}  // namespace windtunnel::input
