#pragma once
/// The command line as one table: the same description drives parsing, help and the search for the nearest name.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace windtunnel::app {

struct Option {
    std::string name{};          ///< without the dashes
    std::string value{};         ///< what stands behind it, "FILE.h5"; empty: a flag
    std::string meaning{};       ///< one line, with unit
    std::string default_text{};  ///< printed in the help; empty: off or none
    bool repeatable = false;
    char letter = 0;  ///< short form, 0: none
};

struct Command {
    std::string name{};
    std::string summary{};
    std::string arguments{};  ///< "PLAN", "A.h5 B.h5..."; empty: none
    int min_arguments = 0;
    int max_arguments = 0;
    std::vector<Option> options{};
};

/// What the user gave, checked against a command: every name is known, flags have no value, only repeatable options
/// repeat.
class Arguments {
public:
    [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
    /// Last value of an option; empty when it was not given.
    [[nodiscard]] std::string text(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
    /// Whole number in [least, most]; base::InputError otherwise.
    [[nodiscard]] std::optional<std::int64_t> integer(const std::string& name, std::int64_t least,
                                                      std::int64_t most) const;
    [[nodiscard]] const std::vector<std::string>& positional() const noexcept { return positional_; }

private:
    friend Arguments parse(const Command& command, const std::vector<std::string>& words);
    std::map<std::string, std::vector<std::string>> values_;
    std::vector<std::string> positional_;
};

/// Throws base::InputError with every finding; an unknown option is named with the nearest known one.
[[nodiscard]] Arguments parse(const Command& command, const std::vector<std::string>& words);

/// Usage, options with defaults and units.
[[nodiscard]] std::string help(const Command& command);

/// A finding about the command line itself.
[[noreturn]] void throw_usage_error(const std::string& field, const std::string& message, const std::string& expected);

/// The whole text as a finite number or a whole number; nothing otherwise.
[[nodiscard]] std::optional<double> to_number(const std::string& text);
[[nodiscard]] std::optional<std::int64_t> to_integer(const std::string& text);

}  // namespace windtunnel::app
