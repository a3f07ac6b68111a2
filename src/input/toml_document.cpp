#include "windtunnel/input/toml_document.hpp"

#include <toml++/toml.h>

#include <algorithm>

namespace windtunnel::input {
namespace {

Place place_of(const toml::source_region& region, const Place& origin) {
    Place place = origin;
    if (!origin.option.empty()) return place;
    place.line = static_cast<int>(region.begin.line);
    place.column = static_cast<int>(region.begin.column);
    return place;
}

// The depth is bounded: toml++ refuses documents nested deeper than 256.
Node node_of(const toml::node& from, const Place& origin) {
    Node node;
    node.place = place_of(from.source(), origin);
    if (const toml::table* table = from.as_table()) {
        node.kind = Node::Kind::table;
        for (const auto& [key, value] : *table)
            node.members.push_back(
                Member{std::string{key.str()}, place_of(key.source(), origin), node_of(value, origin)});
        // toml++ sorts by name; findings come in the order of the file.
        std::stable_sort(node.members.begin(), node.members.end(), [](const Member& a, const Member& b) {
            return std::pair{a.place.line, a.place.column} < std::pair{b.place.line, b.place.column};
        });
    } else if (const toml::array* array = from.as_array()) {
        node.kind = Node::Kind::array;
        node.items.reserve(array->size());
        for (const auto& item : *array) node.items.push_back(node_of(item, origin));
    } else if (const auto* text = from.as_string()) {
        node.kind = Node::Kind::text;
        node.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
        node.kind = Node::Kind::integer;
        node.integer = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
        node.kind = Node::Kind::real;
        node.real = real->get();
    } else if (const auto* boolean = from.as_boolean()) {
        node.kind = Node::Kind::boolean;
        node.boolean = boolean->get();
    } else {
        node.kind = Node::Kind::other;
    }
    return node;
}

}  // namespace

std::optional<Node> parse_toml(const std::string& text, const std::string& file, std::vector<base::Finding>& findings) {
    try {
        const toml::table root = toml::parse(text);
        return node_of(root, Place{file, 0, 0, {}});
    } catch (const toml::parse_error& error) {
        const auto& begin = error.source().begin;
        findings.push_back(base::Finding{file,
                                         static_cast<int>(begin.line),
                                         static_cast<int>(begin.column),
                                         {},
                                         "not valid TOML: " + std::string{error.description()},
                                         {}});
    }
    return std::nullopt;
}

Node parse_override_value(const std::string& value, const std::string& option) {
    const Place origin{{}, 0, 0, option};
    try {
        const toml::table root = toml::parse("value = " + value);
        if (root.size() == 1 && root.contains("value")) return node_of(*root.get("value"), origin);
    } catch (const toml::parse_error&) {
        // No TOML value: a bare word or a quantity without quotes, taken as text below.
    }
    Node node;
    node.kind = Node::Kind::text;
    node.place = origin;
    node.text = value;
    return node;
}

}  // namespace windtunnel::input
