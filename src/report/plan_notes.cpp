#include "windtunnel/report/plan_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace windtunnel::report {
namespace {

constexpr std::size_t line_width = 118;

/// "failures.component[3].repair = 6 h (assumed: why)", taken apart.
struct Assumption {
    std::string file;         ///< failures
    std::string key;          ///< component[].repair
    std::string value;        ///< 6 h
    std::string reason;       ///< assumed: why
    std::vector<int> places;  ///< 3; of a list only

    [[nodiscard]] bool same_value(const Assumption& other) const {
        return !places.empty() && !other.places.empty() && file == other.file && key == other.key &&
               value == other.value && reason == other.reason;
    }
};

/// The number in the first brackets; removes it from the key.
std::optional<int> take_place(std::string& key) {
    const std::size_t open = key.find('['), close = key.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) return std::nullopt;
    int place = 0;
    const auto [end, error] = std::from_chars(key.data() + open + 1, key.data() + close, place);
    if (error != std::errc{} || end != key.data() + close) return std::nullopt;
    key.erase(open + 1, close - open - 1);
    return place;
}

std::optional<Assumption> taken_apart(const std::string& line) {
    const std::size_t dot = line.find('.'), equals = line.find(" = ");
    const std::size_t reason = std::min(line.rfind(" (assumed"), line.rfind(" (recalled"));
    if (dot == std::string::npos || equals == std::string::npos || reason == std::string::npos) return std::nullopt;
    if (dot > equals || equals > reason || line.back() != ')') return std::nullopt;
    Assumption read;
    read.file = line.substr(0, dot);
    read.key = line.substr(dot + 1, equals - dot - 1);
    read.value = line.substr(equals + 3, reason - equals - 3);
    read.reason = line.substr(reason + 2, line.size() - reason - 3);
    if (const auto place = take_place(read.key)) read.places = {*place};
    return read;
}

/// "0,2-4"
std::string places_text(const std::vector<int>& places) {
    std::vector<std::string> parts;
    for (std::size_t first = 0; first < places.size();) {
        std::size_t last = first;
        while (last + 1 < places.size() && places[last + 1] == places[last] + 1) ++last;
        parts.push_back(first == last ? fmt::format("{}", places[first])
                                      : fmt::format("{}-{}", places[first], places[last]));
        first = last + 1;
    }
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string value_text(const Assumption& one) {
    std::string key = one.key;
    if (!one.places.empty()) key.insert(key.find('[') + 1, places_text(one.places));
    return key + " = " + one.value;
}

bool in_section(const std::string& line, std::string_view section) {
    return line.size() > section.size() && line.starts_with(section) && line[section.size()] == '.';
}

std::vector<std::string> used(const std::vector<std::string>& lines, const std::vector<std::string_view>& unused) {
    std::vector<std::string> kept;
    std::ranges::copy_if(lines, std::back_inserter(kept), [&](const std::string& line) {
        return std::ranges::none_of(unused, [&](std::string_view section) { return in_section(line, section); });
    });
    return kept;
}

}  // namespace

std::vector<std::string> joined_assumptions(const std::vector<std::string>& lines) {
    std::vector<Assumption> values;
    std::vector<std::string> joined;
    for (const std::string& line : lines) {
        const auto read = taken_apart(line);
        if (!read) {
            joined.push_back(line);
            continue;
        }
        const auto same =
            std::ranges::find_if(values, [&](const Assumption& value) { return value.same_value(*read); });
        if (same == values.end())
            values.push_back(*read);
        else
            same->places.push_back(read->places.front());
    }
    std::vector<bool> done(values.size(), false);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (done[i]) continue;
        std::vector<std::string> together;
        for (std::size_t j = i; j < values.size(); ++j) {
            if (values[j].file != values[i].file || values[j].reason != values[i].reason) continue;
            done[j] = true;
            together.push_back(value_text(values[j]));
        }
        joined.push_back(fmt::format("{}.{} ({})", values[i].file, fmt::join(together, ", "), values[i].reason));
    }
    return joined;
}

std::string wrapped(const std::string& text, std::size_t width) {
    std::string lines;
    std::size_t begin = 0;
    while (true) {
        const std::string indent = begin == 0 ? "" : "  ";
        const std::size_t room = width - indent.size();
        if (text.size() - begin <= room) return lines + indent + text.substr(begin) + '\n';
        std::size_t space = text.rfind(' ', begin + room);
        if (space == std::string::npos || space <= begin) space = text.find(' ', begin + room);
        if (space == std::string::npos) return lines + indent + text.substr(begin) + '\n';
        lines += indent + text.substr(begin, space - begin) + '\n';
        begin = space + 1;
    }
}

std::string plan_notes(const model::Plan& plan, const std::vector<std::string_view>& unused) {
    std::string text;
    const std::vector<std::string> defaults = used(plan.implicit_defaults, unused);
    if (!defaults.empty()) text += wrapped(fmt::format("defaults: {}", fmt::join(defaults, ", ")), line_width);
    for (const std::string& line : joined_assumptions(used(plan.assumptions, unused)))
        text += wrapped("assumed: " + line, line_width);
    return text;
}

}  // namespace windtunnel::report
