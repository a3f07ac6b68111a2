#include "windtunnel/app/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::app {
namespace {

namespace po = boost::program_options;
constexpr const char* positional_name = "windtunnel-argument";

po::options_description description_of(const Command& command) {
    po::options_description description;
    for (const Option& option : command.options) {
        const std::string names = option.letter == 0 ? option.name : fmt::format("{},{}", option.name, option.letter);
        if (option.value.empty()) {
            description.add_options()(names.c_str(), "");
        } else {
            description.add_options()(names.c_str(), po::value<std::vector<std::string>>(), "");
        }
    }
    description.add_options()(positional_name, po::value<std::vector<std::string>>(), "");
    return description;
}

std::string nearest_option(const Command& command, const std::string& given) {
    std::vector<std::string> known;
    for (const Option& option : command.options) known.push_back("--" + option.name);
    return base::nearest_name(given, known);
}

std::string number_of_arguments(const Command& command) {
    if (command.max_arguments == 0) return "no argument";
    return fmt::format("windtunnel {} {}", command.name, command.arguments);
}

}  // namespace

void throw_usage_error(const std::string& field, const std::string& message, const std::string& expected) {
    base::Finding finding;
    finding.field = field;
    finding.message = message;
    finding.expected = expected;
    throw base::InputError{{finding}};
}

std::optional<double> to_number(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> to_integer(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string Arguments::text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() || found->second.empty() ? std::string{} : found->second.back();
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<std::int64_t> Arguments::integer(const std::string& name, std::int64_t least, std::int64_t most) const {
    if (!has(name)) return std::nullopt;
    const auto value = to_integer(text(name));
    if (!value || *value < least || *value > most)
        throw_usage_error("--" + name, fmt::format("\"{}\" cannot be used", text(name)),
                          fmt::format("a whole number from {} to {}", least, most));
    return value;
}

Arguments parse(const Command& command, const std::vector<std::string>& words) {
    const po::options_description description = description_of(command);
    po::positional_options_description positional;
    positional.add(positional_name, -1);

    std::vector<base::Finding> findings;
    Arguments arguments;
    try {
        constexpr int style = po::command_line_style::unix_style ^ po::command_line_style::allow_guessing;
        const po::parsed_options parsed = po::command_line_parser(words)
                                              .options(description)
                                              .positional(positional)
                                              .style(style)
                                              .allow_unregistered()
                                              .run();
        for (const auto& option : parsed.options) {
            if (option.unregistered) {
                const std::string given =
                    option.original_tokens.empty() ? option.string_key : option.original_tokens[0];
                const std::string name = given.substr(0, given.find('='));
                findings.push_back({"", 0, 0, name, "unknown option of windtunnel " + command.name,
                                    nearest_option(command, name) + " perhaps"});
                continue;
            }
            if (option.string_key == positional_name) {
                arguments.positional_.insert(arguments.positional_.end(), option.value.begin(), option.value.end());
                continue;
            }
            auto& values = arguments.values_[option.string_key];
            values.insert(values.end(), option.value.begin(), option.value.end());
        }
    } catch (const po::error& error) {
        findings.push_back({"", 0, 0, "", error.what(), "windtunnel " + command.name + " --help names every option"});
    }
    if (!findings.empty()) throw base::InputError{findings};
    for (const Option& option : command.options) {
        if (arguments.texts(option.name).size() > 1 && !option.repeatable)
            findings.push_back({"", 0, 0, "--" + option.name, "given more than once", "one value"});
    }
    const auto count = static_cast<int>(arguments.positional_.size());
    if (!arguments.has("help") && (count < command.min_arguments || count > command.max_arguments))
        findings.push_back({"", 0, 0, "", fmt::format("{} argument{} given", count, count == 1 ? "" : "s"),
                            number_of_arguments(command)});
    if (!findings.empty()) throw base::InputError{findings};
    return arguments;
}

std::string help(const Command& command) {
    std::string text = fmt::format("Usage: windtunnel {} [options]{}{}\n\n{}\n", command.name,
                                   command.arguments.empty() ? "" : " ", command.arguments, command.summary);
    std::size_t width = 0;
    std::vector<std::string> heads;
    for (const Option& option : command.options) {
        heads.push_back(fmt::format("  {}--{}{}{}", option.letter == 0 ? "    " : fmt::format("-{}, ", option.letter),
                                    option.name, option.value.empty() ? "" : " ", option.value));
        width = std::max(width, heads.back().size());
    }
    text += "\nOptions:\n";
    for (std::size_t i = 0; i < heads.size(); ++i) {
        const Option& option = command.options[i];
        text +=
            fmt::format("{:<{}}  {}{}{}\n", heads[i], width, option.meaning, option.repeatable ? "; may repeat" : "",
                        option.default_text.empty() ? "" : fmt::format(" (default: {})", option.default_text));
    }
    return text;
}

}  // namespace windtunnel::app
