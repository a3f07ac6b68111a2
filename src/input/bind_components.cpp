#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {

void ChainBinder::component(const Values& table) {
    const std::int64_t count = whole(table, "count");
    const std::string& name = table.text("name");
    if (!new_name(name, table["name"].place, field_of(table, "name"))) return;
    if (count < 1) add(table["count"].place, field_of(table, "count"), fmt::format("{} members", count), "1 or more");
    if (table.given("states")) return states(table, std::max<std::int64_t>(count, 1));
    for (const char* key : {"changes", "weight"})
        if (table.given(key)) add(table[key].place, field_of(table, key), "has no meaning without states", "states");
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

std::optional<double> ChainBinder::constant_value(const std::string& text) const {
    try {
        return Expression{text, {{}, names_.constants}}({});
    } catch (const ExpressionError&) {
        return std::nullopt;
    }
}

/// Text of a rate; "unknown" becomes a constant of its own without a number.
std::string ChainBinder::rate_text(const Values& table, std::string_view key) {
    const std::string& text = table.text(key);
    if (text != "unknown" || names_.constants.contains("unknown")) return text;
    std::string name = table.text("name") + "_" + std::string{key};
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    if (!names_.constants.contains(name)) {
        const auto other = replaced_.find(name);
        const bool known = other != replaced_.end();
        has_unknown_ = has_unknown_ || !known;
        names_.constants[name] = known ? other->second : std::numeric_limits<double>::quiet_NaN();
        chain_.constants.push_back({name, names_.constants[name], !known});
    }
    return name;
}

void ChainBinder::failure(const Values& table) {
    const std::string& name = table.text("name");
    model::ChainComponent component;
    component.name = name;
    component.place = file_place(table.place, table.field);
    component.variable = static_cast<std::size_t>(std::find(names_.variables.begin(), names_.variables.end(), name) -
                                                  names_.variables.begin());
    component.count = chain_.variables[component.variable].most;
    component.failure = chain_.transitions.size();
    component.independent = !table.given("active") && !table.given("fails_while") && !table.given("crews");
    if (table.given("failure_rate") == table.given("life"))
        return add(table.place, table.field,
                   table.given("life") ? "has a failure_rate and a life" : "has no failure_rate and no life",
                   "one of the two");
    std::string at_risk = name, guard = name + " > 0";
    if (table.given("dormancy") && !table.given("active"))
        add(table["dormancy"].place, field_of(table, "dormancy"), "has no meaning without spares", "active");
    if (table.given("active")) {
        const std::string active = factor(table, "active");
        const std::optional<double> in_use = constant_value(active), members = constant_value(table.text("count"));
        if (in_use && members && (*in_use > *members || *in_use < 1.0))
            add(table["active"].place, field_of(table, "active"),
                fmt::format("{} active of {} members{}", *in_use, *members,
                            *in_use < 1.0 ? ": the spare pool is larger than the fleet" : ""),
                "from 1 to the count; the others are spares");
        const std::optional<double> dormancy =
            table.given("dormancy") ? constant_value(table.text("dormancy")) : std::nullopt;
        if (dormancy && !(*dormancy >= 0.0 && *dormancy <= 1.0))
            add(table["dormancy"].place, field_of(table, "dormancy"), fmt::format("is {}", *dormancy), "from 0 to 1");
        at_risk = fmt::format("(min({0}, {1})", name, active);
        if (table.given("dormancy"))
            at_risk += fmt::format(" + {} * max({} - {}, 0)", factor(table, "dormancy"), name, active);
        at_risk += ")";
    }
    if (table.given("fails_while")) guard += " && " + factor(table, "fails_while");
    if (table.given("life")) {
        const auto law = time_law(table, "life");
        add_transition(name + "_failure", table, "life", guard, "0", {change(table, name, " - 1")});
        const bool always = table.text("ageing") == "always";
        const model::ClockMemory memory = !table.given("fails_while") ? model::ClockMemory::lapses
                                          : always                    ? model::ClockMemory::runs_on
                                                                      : model::ClockMemory::stops;
        if (law) {
            component.life = *law;
            chain_.transitions.back().clock =
                model::TransitionClock{*law, memory, function(at_risk, table.place, table.field, names_, false)};
        }
    } else {
        if (table.given("ageing"))
            add(table["ageing"].place, field_of(table, "ageing"), "has no meaning for a rate", "life");
        const std::string text = rate_text(table, "failure_rate");
        (void)function(text, table["failure_rate"].place, field_of(table, "failure_rate"), names_, true);
        const std::optional<double> rate = constant_value(text);
        component.independent = component.independent && rate.has_value() && *rate > 0.0;
        if (rate && *rate > 0.0) component.life.scale = 1.0 / *rate;
        add_transition(name + "_failure", table, "failure_rate", guard, at_risk + " * (" + text + ")",
                       {change(table, name, " - 1")});
    }
    chain_.components.push_back(std::move(component));
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
            const auto class_of = std::find_if(chain_.components.begin(), chain_.components.end(),
                                               [&](const auto& other) { return other.name == name; });
            if (class_of != chain_.components.end()) class_of->independent = false;
            if (one.given("crews") || !one.given("repair_rate"))
                add(one.place, one.field, fmt::format("is served by crew {}", crew.text("name")),
                    "repair_rate and no crews of its own");
            served[name] = fmt::format("min({}, max({}, 0))", failed(one), free);
            free += " - " + failed(one);
        }
    }
    for (const Values& one : classes) {
        const std::string& name = one.text("name");
        const auto component = std::find_if(chain_.components.begin(), chain_.components.end(),
                                            [&](const auto& other) { return other.name == name; });
        if (component == chain_.components.end()) continue;  // has a finding
        if (one.given("repair") && one.given("repair_rate"))
            add(one["repair"].place, field_of(one, "repair"), "stands beside a repair_rate", "one of the two");
        if (one.given("repair")) {
            const auto law = time_law(one, "repair");
            if (!law) continue;
            std::string busy = failed(one);
            if (one.given("crews")) busy = fmt::format("min({}, {})", failed(one), factor(one, "crews"));
            component->repair = *law;
            component->repair_transition = chain_.transitions.size();
            add_transition(name + "_repair", one, "repair", failed(one) + " > 0", "0", {change(one, name, " + 1")});
            chain_.transitions.back().clock = model::TransitionClock{
                *law, model::ClockMemory::lapses, function(busy, one.place, one.field, names_, false)};
            continue;
        }
        if (!one.given("repair_rate")) {
            if (one.given("crews"))
                add(one["crews"].place, field_of(one, "crews"), "have nothing to do", "repair_rate");
            continue;
        }
        std::string crews = failed(one);
        if (served.contains(name)) crews = served[name];
        if (one.given("crews")) crews = fmt::format("min({}, {})", failed(one), factor(one, "crews"));
        const std::string text = rate_text(one, "repair_rate");
        (void)function(text, one["repair_rate"].place, field_of(one, "repair_rate"), names_, true);
        const std::optional<double> rate = constant_value(text);
        if (rate && *rate > 0.0) {
            component->repair = model::TimeLaw{};
            component->repair->scale = 1.0 / *rate;
        } else {
            component->independent = false;
        }
        component->repair_transition = chain_.transitions.size();
        add_transition(name + "_repair", one, "repair_rate", failed(one) + " > 0", crews + " * (" + text + ")",
                       {change(one, name, " + 1")});
    }
}

void ChainBinder::common_cause(const Values& table) {
    std::vector<std::string> known;
    for (const model::ChainComponent& one : chain_.components) known.push_back(one.name);
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
        for (model::ChainComponent& component : chain_.components)
            if (component.name == member.key) component.independent = false;
        updates.push_back(change(table, member.key, fmt::format(" - min({}, {:.0f})", member.key, taken)));
        guard += (guard.empty() ? "" : " || ") + member.key + " > 0";
    }
    if (guard.empty())
        return add(table["takes"].place, field_of(table, "takes"), "takes nothing", "component = number");
    add_transition(table.text("name"), table, "rate", guard, factor(table, "rate"), std::move(updates));
}

}  // namespace windtunnel::input
