#include "windtunnel/input/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace windtunnel::input {

const Node* Node::find(std::string_view key) const {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
    return found == members.end() ? nullptr : &found->node;
}

std::string describe(const Node& node) {
    constexpr std::size_t longest = 60;
    switch (node.kind) {
        case Node::Kind::table:
            return "a table";
        case Node::Kind::array:
            return "a list";
        case Node::Kind::text: {
            const bool cut = node.text.size() > longest;
            return fmt::format("\"{}{}\"", node.text.substr(0, longest), cut ? "..." : "");
        }
        case Node::Kind::integer:
            return fmt::format("{}", node.integer);
        case Node::Kind::real:
            return fmt::format("{}", node.real);
        case Node::Kind::boolean:
            return node.boolean ? "true" : "false";
        case Node::Kind::other:
            break;
    }
    return "a date or time";
}

base::Finding finding_at(const Place& place, std::string field, std::string message, std::string expected) {
    if (!place.option.empty()) message = place.option + ": " + message;
    return base::Finding{place.file,       place.line,         place.column,
                         std::move(field), std::move(message), std::move(expected)};
}

}  // namespace windtunnel::input
