#include "hugging_face_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windtunnel::input {
namespace {

constexpr int most = 10'000'000;

std::string shown(const nlohmann::json& value) {
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

std::string first(const HuggingFaceConfig::Names& names) {
    return std::string{names.front()};
}

}  // namespace

TextPlace place_of(std::string_view text, std::size_t byte) {
    byte = std::min(byte, text.size());
    const auto before = text.substr(0, byte);
    const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
            1 + static_cast<int>(byte - line_start)};
}

const nlohmann::json* HuggingFaceConfig::find(const Names& names) const {
    for (const std::string_view name : names) {
        const auto at = members_.find(name);
        if (at != members_.end() && !at->is_null()) return &*at;
    }
    return nullptr;
}

void HuggingFaceConfig::add(std::string_view field, const std::string& message, const std::string& expected) const {
    const std::size_t at = text_.find(fmt::format("\"{}\"", field));
    const TextPlace place = at == std::string_view::npos ? TextPlace{} : place_of(text_, at);
    findings_.push_back({file_, place.line, place.column, std::string{field}, message, expected});
}

namespace {

/// 3 and 3.0 are integers; "3" is not.
std::optional<int> integer_from(const nlohmann::json& value, int least) {
    if (!value.is_number()) return std::nullopt;
    const double number = value.get<double>();
    const bool whole = value.is_number_integer() || std::floor(number) == number;
    if (!whole || !(number >= least) || !(number <= most)) return std::nullopt;
    return static_cast<int>(number);
}

}  // namespace

std::optional<int> HuggingFaceConfig::integer(const Names& names, int least) const {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return std::nullopt;
    const auto named = std::find_if(names.begin(), names.end(), [&](std::string_view name) {
        const auto at = members_.find(name);
        return at != members_.end() && &*at == value;
    });
    if (const auto number = integer_from(*value, least)) return number;
    add(*named, shown(*value) + " is not usable", fmt::format("an integer from {} to {}", least, most));
    return least;
}

bool HuggingFaceConfig::usable(const Names& names) const {
    const nlohmann::json* value = find(names);
    return value != nullptr && integer_from(*value, 1);
}

int HuggingFaceConfig::required(const Names& names, int least) const {
    if (const auto value = integer(names, least)) return *value;
    add(first(names), "is missing", fmt::format("an integer from {} to {}", least, most));
    return least;
}

int HuggingFaceConfig::optional(const Names& names, int otherwise, int least) const {
    return integer(names, least).value_or(otherwise);
}

bool HuggingFaceConfig::flag(const Names& names, bool otherwise) const {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return otherwise;
    if (value->is_boolean()) return value->get<bool>();
    add(first(names), shown(*value) + " is not usable", "true or false");
    return otherwise;
}

std::string HuggingFaceConfig::word(const Names& names, const std::string& otherwise) const {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return otherwise;
    if (value->is_string()) return value->get<std::string>();
    add(first(names), shown(*value) + " is not usable", "text");
    return otherwise;
}

std::vector<int> HuggingFaceConfig::integers(const Names& names) const {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return {};
    std::vector<int> list;
    if (value->is_array())
        for (const nlohmann::json& item : *value)
            if (item.is_number_integer() && item.get<double>() >= 0 && item.get<double>() <= most)
                list.push_back(item.get<int>());
            else
                add(first(names), shown(item) + " is not usable", fmt::format("integers from 0 to {}", most));
    else
        add(first(names), shown(*value) + " is not usable", "a list of integers");
    return list;
}

std::optional<HuggingFaceConfig> HuggingFaceConfig::nested(const Names& names) const {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) {
        add(first(names), shown(*value) + " is not usable", "an object");
        return std::nullopt;
    }
    return HuggingFaceConfig{*value, text_, file_, findings_};
}

}  // namespace windtunnel::input
