#include "overrides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "windtunnel/input/toml_document.hpp"

namespace windtunnel::input {

void apply_override(Node& root, const Override& change, std::vector<base::Finding>& findings) {
    const std::string option = fmt::format("--set {}={}", change.key.substr(0, 200), change.value.substr(0, 60));
    const Place place{{}, 0, 0, option};
    Node* table = &root;
    for (std::string rest = change.key;;) {
        const std::size_t dot = rest.find('.');
        const std::string name = rest.substr(0, dot);
        if (name.empty() || table->kind != Node::Kind::table) {
            findings.push_back(finding_at(place, change.key.substr(0, 200),
                                          name.empty() ? "is no key" : "leads through a value that is no table",
                                          "section.key=value, for example train.tokens=1e12"));
            return;
        }
        auto member = std::find_if(table->members.begin(), table->members.end(),
                                   [&](const Member& other) { return other.key == name; });
        if (member == table->members.end()) {
            Node below;  // a table, until the last name puts a value here
            below.place = place;
            member = table->members.insert(table->members.end(), Member{name, place, below});
        }
        if (dot == std::string::npos) {
            member->place = place;
            member->node = parse_override_value(change.value, option);
            return;
        }
        table = &member->node;
        rest = rest.substr(dot + 1);
    }
}

}  // namespace windtunnel::input
