#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {

void ChainBinder::component(const Values& table) {
    const std::int64_t count = whole(table, "count");
    const std::string& name = table.text("name");
    if (!new_name(name, table["name"].place, field_of(table, "name"))) return;
    if (count < 1) add(table["count"].place, field_of(table, "count"), fmt::format("{} members", count), "1 or more");
    names_.variables.push_back(name);
    chain_.variables.push_back({name, 0, std::max<std::int64_t>(count, 1), std::max<std::int64_t>(count, 1)});
}

std::string ChainBinder::factor(const Values& table, std::string_view key) {
    (void)function(table, key, names_);
    return "(" + table.text(key) + ")";
}

std::string ChainBinder::failed(const Values& table) {
    return "(" + table.text("count") + " - " + table.text("name") + ")";
}

void ChainBinder::add_transition(const std::string& name, const Values& table, std::string_view rate_key,
                                 const std::string& guard, const std::string& rate,
                                 std::vector<model::ChainUpdate> updates) {
    model::ChainTransition one;
    one.name = name;
    one.place = file_place(table.place, table.field);
    one.rate_place = file_place(table[rate_key].place, field_of(table, rate_key));
    one.guard = function(guard, table.place, table.field, names_, false);
    one.rate = function(rate, table[rate_key].place, field_of(table, rate_key), names_, false);
    one.updates = std::move(updates);
    chain_.transitions.push_back(std::move(one));
}

model::ChainUpdate ChainBinder::change(const Values& table, const std::string& name, const std::string& by) {
    const auto found = std::find(names_.variables.begin(), names_.variables.end(), name);
    return {static_cast<std::size_t>(found - names_.variables.begin()),
            function(name + by, table.place, table.field, names_, false), file_place(table.place, table.field)};
}

void ChainBinder::failure(const Values& table) {
    const std::string& name = table.text("name");
    std::string at_risk = name, guard = name + " > 0";
    if (table.given("dormancy") && !table.given("active"))
        add(table["dormancy"].place, field_of(table, "dormancy"), "has no meaning without spares", "active");
    if (table.given("active")) {
        const std::string active = factor(table, "active");
        at_risk = fmt::format("(min({0}, {1})", name, active);
        if (table.given("dormancy"))
            at_risk += fmt::format(" + {} * max({} - {}, 0)", factor(table, "dormancy"), name, active);
        at_risk += ")";
    }
    if (table.given("fails_while")) guard += " && " + factor(table, "fails_while");
    const std::string rate = at_risk + " * " + factor(table, "failure_rate");
    add_transition(name + "_failure", table, "failure_rate", guard, rate, {change(table, name, " - 1")});
}

void ChainBinder::repairs() {
    std::map<std::string, std::string> served;  // class -> crews at work on it
    const std::vector<Values>& classes = file_["component"].tables;
    std::vector<std::string> known;
    for (const Values& one : classes) known.push_back(one.text("name"));
    for (const Values& crew : file_["crew"].tables) {
        std::string free = factor(crew, "number");
        for (const std::string& name : crew["serves"].texts) {
            const auto found = std::find(known.begin(), known.end(), name);
            if (found == known.end() || served.contains(name)) {
                add(crew["serves"].place, field_of(crew, "serves"),
                    fmt::format("{} {}", name, found == known.end() ? "is no component" : "is served already"),
                    "nearest: " + base::nearest_name(name, known));
                continue;
            }
            const Values& one = classes[static_cast<std::size_t>(found - known.begin())];
            if (one.given("crews") || !one.given("repair_rate"))
                add(one.place, one.field, fmt::format("is served by crew {}", crew.text("name")),
                    "repair_rate and no crews of its own");
            served[name] = fmt::format("min({}, max({}, 0))", failed(one), free);
            free += " - " + failed(one);
        }
    }
    for (const Values& one : classes) {
        const std::string& name = one.text("name");
        if (!one.given("repair_rate")) {
            if (one.given("crews"))
                add(one["crews"].place, field_of(one, "crews"), "have nothing to do", "repair_rate");
            continue;
        }
        std::string crews = failed(one);
        if (served.contains(name)) crews = served[name];
        if (one.given("crews")) crews = fmt::format("min({}, {})", failed(one), factor(one, "crews"));
        add_transition(name + "_repair", one, "repair_rate", failed(one) + " > 0",
                       crews + " * " + factor(one, "repair_rate"), {change(one, name, " + 1")});
    }
}

void ChainBinder::common_cause(const Values& table) {
    std::vector<std::string> known;
    for (const Values& one : file_["component"].tables) known.push_back(one.text("name"));
    std::vector<model::ChainUpdate> updates;
    std::string guard;
    for (const Member& member : table["takes"].members) {
        const std::string field = field_of(table, "takes." + member.key.substr(0, 100));
        if (std::find(known.begin(), known.end(), member.key) == known.end()) {
            add(member.place, field, "no such component", "nearest: " + base::nearest_name(member.key, known));
            continue;
        }
        const model::StateFunction number = function(member, field, {{}, names_.constants});
        const double taken = number ? number({}) : 1.0;
        if (!(taken >= 1.0) || std::floor(taken) != taken)
            add(member.node.place, field, fmt::format("{} members", taken), "an integer, 1 or more");
        updates.push_back(change(table, member.key, fmt::format(" - min({}, {:.0f})", member.key, taken)));
        guard += (guard.empty() ? "" : " || ") + member.key + " > 0";
    }
    if (guard.empty())
        return add(table["takes"].place, field_of(table, "takes"), "takes nothing", "component = number");
    add_transition(table.text("name"), table, "rate", guard, factor(table, "rate"), std::move(updates));
}

}  // namespace windtunnel::input
