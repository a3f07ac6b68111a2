#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <sstream>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {
namespace {

constexpr std::size_t most_states = 20, most_ways = 500, most_edges = 100;

bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::string ChainBinder::written_out(const std::string& text) const {
    if (derived_.empty()) return text;
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        if (!is_letter(text[i])) {
            result += text[i++];
            continue;
        }
        std::size_t end = i;
        while (end < text.size() && is_letter(text[end])) ++end;
        const std::string word = text.substr(i, end - i);
        const auto found = derived_.find(word);
        result += found == derived_.end() ? word : found->second;
        i = end;
    }
    return result;
}

void ChainBinder::states(const Values& table, std::int64_t count) {
    const std::string& name = table.text("name");
    const std::vector<std::string>& all = table["states"].texts;
    for (const char* key :
         {"failure_rate", "life", "repair_rate", "repair", "crews", "active", "dormancy", "fails_while", "ageing"})
        if (table.given(key))
            add(table[key].place, field_of(table, key), "has no meaning for a class with states", "changes");
    if (all.size() < 2 || all.size() > most_states)
        return add(table["states"].place, field_of(table, "states"), fmt::format("{} states", all.size()),
                   fmt::format("from 2 to {}", most_states));
    std::string working, capacity;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string variable = name + "_" + all[i];
        if (!new_name(variable, table["states"].place, field_of(table, "states"))) continue;
        names_.variables.push_back(variable);
        chain_.variables.push_back({variable, 0, count, i == 0 ? count : 0});
        double weight = i == 0 ? 1.0 : 0.0;
        for (const Member& member : table["weight"].members)
            if (member.key == all[i])
                if (const auto value = law_number(member.node, field_of(table, "weight." + member.key), false))
                    weight = *value;
        if (!(weight >= 0.0))
            add(table["weight"].place, field_of(table, "weight"), fmt::format("{} of {}", weight, all[i]), "0 or more");
        if (weight <= 0.0) continue;
        working += (working.empty() ? "" : " + ") + variable;
        capacity += fmt::format("{}{} * {}", capacity.empty() ? "" : " + ", weight, variable);
    }
    for (const Member& member : table["weight"].members)
        if (std::find(all.begin(), all.end(), member.key) == all.end())
            add(member.place, field_of(table, "weight." + member.key.substr(0, 60)), "is no state",
                "nearest: " + base::nearest_name(member.key, all));
    derived_[name] = "(" + (working.empty() ? std::string{"0"} : working) + ")";
    if (new_name(name + "_capacity", table["name"].place, field_of(table, "name")))
        derived_[name + "_capacity"] = "(" + (capacity.empty() ? std::string{"0"} : capacity) + ")";
}

void ChainBinder::changes(const Values& table) {
    const std::string& name = table.text("name");
    const std::vector<std::string>& all = table["states"].texts;
    if (table["changes"].members.empty())
        add(table.place, field_of(table, "changes"), "is missing", fmt::format("{0}_to_{1} = rate", all[0], all[1]));
    std::vector<std::uint8_t> left(all.size(), 0);
    for (const Member& member : table["changes"].members) {
        const std::string field = field_of(table, "changes." + member.key.substr(0, 100));
        const auto part = [&](bool first) {
            std::size_t i = 0;
            for (; i < all.size(); ++i) {
                const std::string with = first ? all[i] + "_to_" : "_to_" + all[i];
                if (first ? member.key.starts_with(with) : member.key.ends_with(with)) break;
            }
            return i;
        };
        const std::size_t from = part(true), to = part(false);
        if (from == all.size() || to == all.size() || from == to || member.key != all[from] + "_to_" + all[to]) {
            add(member.place, field, "is no change between two states",
                fmt::format("state_to_state, states: {}", fmt::join(all, ", ")));
            continue;
        }
        left[from] = 1;
        const std::string a = name + "_" + all[from], b = name + "_" + all[to];
        model::ChainTransition one;
        one.name = name + "_" + member.key;
        one.place = one.rate_place = file_place(member.place, field);
        one.guard = function(a + " > 0", member.place, field, names_, false);
        one.updates = {change(table, a, " - 1"), change(table, b, " + 1")};
        if (member.node.kind == Node::Kind::table) {
            one.rate = [](std::span<const double>) { return 0.0; };
            if (const auto law = time_law(member.node.members, member.node.place, field))
                one.clock = model::TransitionClock{*law, model::ClockMemory::lapses,
                                                   function(a, member.place, field, names_, false)};
        } else {
            const model::StateFunction rate = function(member, field, names_);
            const auto variable = static_cast<std::size_t>(
                std::find(names_.variables.begin(), names_.variables.end(), a) - names_.variables.begin());
            if (rate)
                one.rate = [rate, variable](std::span<const double> state) { return state[variable] * rate(state); };
        }
        if (one.rate) chain_.transitions.push_back(std::move(one));
    }
}

std::string ChainBinder::ways(const Values& table) {
    struct Edge {
        std::string a, b, works;
    };
    std::vector<Edge> edges;
    const Value& list = table["edges"];
    for (const std::string& text : list.texts) {
        std::istringstream words{text};
        Edge edge;
        words >> edge.a >> edge.b;
        std::getline(words, edge.works);
        if (edge.a.empty() || edge.b.empty() || edge.works.find_first_not_of(' ') == std::string::npos)
            add(list.place, field_of(table, "edges"), fmt::format("\"{}\" is no edge", text),
                "\"place place expression\"");
        edges.push_back(std::move(edge));
    }
    if (edges.size() > most_edges)
        add(list.place, field_of(table, "edges"), fmt::format("{} edges", edges.size()),
            fmt::format("at most {}", most_edges));
    if (edges.empty() || edges.size() > most_edges || !table.given("from") || !table.given("to")) {
        add(table.place, table.field, "a gate of kind reach needs edges, from and to", "");
        return "0";
    }
    const std::string& goal = table.text("to");
    std::vector<std::string> found;
    std::vector<std::string> visited{table.text("from")};
    // Every way without a place twice; works are multiplied, ways added.
    const std::function<void(std::string, std::string)> walk = [&](std::string at, std::string works) {
        if (found.size() > most_ways) return;
        if (at == goal) {
            found.push_back("(" + works + ")");
            return;
        }
        for (const Edge& edge : edges)
            for (const bool forward : {true, false}) {
                const std::string &start = forward ? edge.a : edge.b, &end = forward ? edge.b : edge.a;
                if (start != at || std::find(visited.begin(), visited.end(), end) != visited.end()) continue;
                visited.push_back(end);
                walk(end, works + (works.empty() ? "" : " && ") + "((" + edge.works + ") != 0)");
                visited.pop_back();
            }
    };
    walk(visited[0], "");
    if (found.empty() || found.size() > most_ways)
        add(list.place, field_of(table, "edges"),
            found.empty() ? fmt::format("no way leads from {} to {}", visited[0], goal)
                          : fmt::format("more than {} ways", most_ways),
            "a smaller graph, or an expression");
    return fmt::format("{}", fmt::join(found, " || "));
}

void ChainBinder::gate(const Values& table) {
    const std::string &name = table.text("name"), &kind = table.text("kind");
    if (!new_name(name, table["name"].place, field_of(table, "name"))) return;
    const std::size_t before = findings_.size();
    if (kind == "reach") {
        const std::string text = ways(table);
        if (findings_.size() == before)
            (void)function(text, table["edges"].place, field_of(table, "edges"), names_, false);
        derived_[name] = "((" + written_out(text) + ") ? 1 : 0)";
        return;
    }
    const std::vector<std::string>& parts = table["of"].texts;
    if (parts.empty()) add(table.place, field_of(table, "of"), "is missing", "expressions");
    std::string sum;
    for (const std::string& part : parts) {
        if (part == name) {
            add(table["of"].place, field_of(table, "of"), name + " is a part of itself: the structure has a cycle",
                "gates stand from the smallest to the largest");
            continue;
        }
        (void)function(part, table["of"].place, field_of(table, "of"), names_, false);
        sum += fmt::format("{}(({}) != 0)", sum.empty() ? "" : " + ", written_out(part));
    }
    double need = kind == "series" ? static_cast<double>(parts.size()) : 1.0;
    if (wants(table, "need", kind == "k_of_n", false)) {
        const auto given = number(table, "need");
        need = given.value_or(1.0);
        if (given && (*given < 1.0 || *given > static_cast<double>(parts.size()) || std::floor(*given) != *given))
            add(table["need"].place, field_of(table, "need"), fmt::format("{} of {} parts", *given, parts.size()),
                "an integer from 1 to the number of parts");
    }
    derived_[name] = fmt::format("(({}) >= {})", sum.empty() ? "0" : sum, need);
}

}  // namespace windtunnel::input
