#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "bind_expected.hpp"
#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {
namespace {

constexpr std::size_t most_variables = 200;

}  // namespace

model::Chain ChainBinder::bind() {
    const std::size_t before = findings_.size();
    const Value& variables = file_["chain.variable"];
    chain_.title = file_.text("title");
    chain_.group = file_.text("group");
    chain_.time_unit = file_.text("chain.time_unit");
    chain_.most_states = file_["chain.most_states"].integer;
    const Place& place = variables.given ? variables.place : file_["component"].place;
    chain_.place = {place.file, place.line, place.column, "chain"};
    constants();
    for (const Values& table : variables.tables) variable(table);
    for (const Values& table : file_["component"].tables) component(table);
    for (const Values& table : file_["gate"].tables) gate(table);
    const std::size_t number = variables.tables.size() + file_["component"].tables.size();
    const bool other_form = file_.given("function.formula") || file_.given("checkpoint.mtbf");
    if ((number == 0 && !other_form) || number > most_variables)
        add(file_["measure"].place, "chain.variable", fmt::format("{} variables and components", number),
            fmt::format("from 1 to {}", most_variables));
    if (findings_.size() == before) {
        for (const Values& table : file_["chain.transition"].tables) transition(table);
        for (const Values& table : file_["component"].tables) table.given("states") ? changes(table) : failure(table);
        repairs();
        for (const Values& table : file_["common_cause"].tables) common_cause(table);
        for (const Values& table : file_["level"].tables) level(table);
        for (const Values& table : file_["chain.reward"].tables) reward(table);
        ranges();
        function_form();
        checkpoint();
        for (const Values& table : file_["measure"].tables) measure(table);
        importance();
        sensitivity();
        for (const Values& table : file_["break_even"].tables) break_even(table);
    }
    for (const auto& [name, value] : replaced_)
        for (model::ChainConstant& constant : chain_.constants)
            if (constant.name == name) constant.value = value;
    return std::move(chain_);
}

void ChainBinder::add(const Place& place, std::string field, std::string message, std::string expected) {
    findings_.push_back(finding_at(place, std::move(field), std::move(message), std::move(expected)));
}

model::FilePlace ChainBinder::file_place(const Place& place, std::string field) {
    return {place.file, place.line, place.column, std::move(field)};
}

model::StateFunction ChainBinder::function(const std::string& text, Place place, const std::string& field,
                                           const Names& names, bool quoted) {
    const std::string whole = written_out(text);
    try {
        return Expression{whole, names};
    } catch (ExpressionError& error) {
        if (whole != text) error.position = -1;
        if (error.position >= 0 && quoted) place.column += 1 + error.position;
        std::vector<std::string> known = names.variables;
        for (const auto& [name, value] : names.constants) known.push_back(name);
        std::string word;
        for (std::size_t i = error.position < 0 ? text.size() : static_cast<std::size_t>(error.position);
             i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'); ++i)
            word += text[i];
        add(place, field, fmt::format("\"{}\": {}", text, error.message),
            word.empty() ? "an expression of variables and constants"
                         : fmt::format("nearest known name: {}", base::nearest_name(word, known)));
        return {};
    }
}

model::StateFunction ChainBinder::function(const Values& table, std::string_view key, const Names& names) {
    const Value& value = table[key];
    return function(value.text, value.place, field_of(table, key), names, true);
}

model::StateFunction ChainBinder::function(const Member& member, const std::string& field, const Names& names) {
    const Node& node = member.node;
    switch (node.kind) {
        case Node::Kind::text:
            return function(node.text, node.place, field, names, true);
        case Node::Kind::integer:
            return function(fmt::format("{}", node.integer), node.place, field, names, false);
        case Node::Kind::real:
            return function(fmt::format("{}", node.real), node.place, field, names, false);
        default:
            add(node.place, field, describe(node) + " is no valid value", "a number, or an expression as text");
    }
    return {};
}

bool ChainBinder::new_name(const std::string& name, const Place& place, const std::string& field) {
    if (!is_good_name(name)) {
        add(place, field, fmt::format("\"{}\" cannot be a name", name),
            "a letter, then letters, digits or _, and no function's name");
        return false;
    }
    if (taken_.insert(name).second) return true;
    add(place, field, fmt::format("\"{}\" stands for something else already", name), "a name of its own");
    return false;
}

void ChainBinder::constant(const Member& member, const std::string& field) {
    const auto set = [&](double number, bool unknown) {
        names_.constants[member.key] = number;
        for (model::ChainConstant& one : chain_.constants) {
            if (one.name != member.key) continue;
            one.value = number;
            one.unknown = unknown;
            return;
        }
        chain_.constants.push_back({member.key, number, unknown});
    };
    if (const auto other = replaced_.find(member.key); other != replaced_.end()) return set(other->second, false);
    if (member.node.kind == Node::Kind::text && member.node.text == "unknown") {
        has_unknown_ = true;
        return set(std::numeric_limits<double>::quiet_NaN(), true);
    }
    const model::StateFunction value = function(member, field, {{}, names_.constants});
    if (!value) return;
    const double number = value({});
    if (!std::isfinite(number) && !has_unknown_) return add(member.node.place, field, "is not finite", "a number");
    set(number, false);
}

void ChainBinder::constants() {
    std::set<std::string> replaced;
    if (variant_ != nullptr)
        for (const Member& member : (*variant_)["constants"].members) replaced.insert(member.key);
    std::vector<std::string> known;
    for (const Member& member : file_["chain.constants"].members) {
        const std::string field = "chain.constants." + member.key.substr(0, 100);
        known.push_back(member.key);
        if (!new_name(member.key, member.place, field)) continue;
        constant(member, field);
        if (!replaced.contains(member.key)) continue;
        for (const Member& other : (*variant_)["constants"].members)
            if (other.key == member.key) constant(other, field_of(*variant_, "constants." + other.key));
    }
    if (variant_ == nullptr) return;
    for (const Member& member : (*variant_)["constants"].members)
        if (!taken_.contains(member.key))
            add(member.place, field_of(*variant_, "constants." + member.key.substr(0, 100)),
                "the chain has no such constant", "nearest: " + base::nearest_name(member.key, known));
}

std::int64_t ChainBinder::whole(const Values& table, const std::string& key) {
    constexpr double most = 9e15;
    const model::StateFunction value = function(table, key, {{}, names_.constants});
    if (!value) return 0;
    const double number = value({});
    if (std::abs(number) <= most && std::floor(number) == number) return static_cast<std::int64_t>(number);
    const Place& place = table[key].given ? table[key].place : table.place;
    add(place, field_of(table, key), fmt::format("{} is no integer", number), "an integer up to 9e15");
    return 0;
}

void ChainBinder::variable(const Values& table) {
    model::ChainVariable one{table.text("name"), whole(table, "least"), whole(table, "most"), whole(table, "initial")};
    if (!new_name(one.name, table["name"].place, field_of(table, "name"))) return;
    if (one.least > one.most)
        add(table["most"].place, field_of(table, "most"), fmt::format("{} is below least {}", one.most, one.least),
            "at least as much");
    else if (one.initial < one.least || one.initial > one.most)
        add(table["initial"].place, field_of(table, "initial"), fmt::format("{} is out of bounds", one.initial),
            fmt::format("from {} to {}", one.least, one.most));
    names_.variables.push_back(one.name);
    chain_.variables.push_back(std::move(one));
}

void ChainBinder::transition(const Values& table) {
    model::ChainTransition one;
    one.name = table.text("name");
    one.place = file_place(table.place, table.field);
    one.rate_place = file_place(table["rate"].place, field_of(table, "rate"));
    if (table.given("guard")) one.guard = function(table, "guard", names_);
    if (table.given("rate") == table.given("law"))
        add(table.place, table.field, table.given("rate") ? "has a rate and a law" : "has no rate and no law",
            "one of the two");
    if (table.given("law")) {
        const auto law = time_law(table, "law");
        const std::string& memory = table.text("memory");
        one.rate = [](std::span<const double>) { return 0.0; };
        if (law)
            one.clock = model::TransitionClock{*law,
                                               memory == "stops"     ? model::ClockMemory::stops
                                               : memory == "runs_on" ? model::ClockMemory::runs_on
                                                                     : model::ClockMemory::lapses,
                                               {}};
    } else {
        if (table.given("memory"))
            add(table["memory"].place, field_of(table, "memory"), "has no meaning for a rate", "law");
        if (table.given("rate"))
            one.rate = function(rate_text(table, "rate"), table["rate"].place, field_of(table, "rate"), names_, true);
    }
    for (const Member& member : table["update"].members) {
        const std::string field = field_of(table, "update." + member.key.substr(0, 100));
        const auto found = std::find(names_.variables.begin(), names_.variables.end(), member.key);
        if (found == names_.variables.end()) {
            add(member.place, field, "no such variable",
                "nearest: " + base::nearest_name(member.key, names_.variables));
            continue;
        }
        one.updates.push_back({static_cast<std::size_t>(found - names_.variables.begin()),
                               function(member, field, names_), file_place(member.node.place, field)});
    }
    chain_.transitions.push_back(std::move(one));
}

void ChainBinder::reward(const Values& table) {
    model::ChainReward one;
    one.name = table.text("name");
    one.place = file_place(table.place, table.field);
    if (!new_name(one.name, table["name"].place, field_of(table, "name"))) return;
    if (table.given("per_time")) one.per_time = function(table, "per_time", names_);
    one.per_event.resize(chain_.transitions.size());
    std::vector<std::string> known;
    for (const model::ChainTransition& transition : chain_.transitions) known.push_back(transition.name);
    for (const Member& member : table["per_event"].members) {
        const std::string field = field_of(table, "per_event." + member.key.substr(0, 100));
        bool any = false;
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (known[i].empty() || known[i] != member.key) continue;
            one.per_event[i] = function(member, field, names_);
            any = true;
        }
        if (!any) add(member.place, field, "no such transition", "nearest: " + base::nearest_name(member.key, known));
    }
    chain_.rewards.push_back(std::move(one));
}

bool ChainBinder::wants(const Values& table, const char* key, bool needed, bool allowed) {
    if (table.given(key) && !allowed && !needed)
        add(table[key].place, field_of(table, key), "has no meaning for kind " + table.text("kind"), "no such key");
    if (!table.given(key) && needed)
        add(table.place, field_of(table, key), "is missing for kind " + table.text("kind"), "");
    return table.given(key) && (needed || allowed);
}

void ChainBinder::measure(const Values& table) {
    using enum model::MeasureKind;
    model::ChainMeasure one;
    one.name = table.text("name");
    one.place = file_place(table.place, table.field);
    one.kind = measure_kind(table.text("kind"));
    const bool timed =
        one.kind == transient || one.kind == accumulated || one.kind == time_averaged || one.kind == variance;
    const bool rewarded = timed || one.kind == steady_state || one.kind == reward_until;
    const bool aimed =
        one.kind == mean_time || one.kind == reward_until || one.kind == probability || one.kind == frequency;
    if (wants(table, "time", timed, one.kind == probability || one.kind == level)) {
        const std::string& unit = chain_.time_unit;
        const double seconds = unit == "s" ? 1.0 : unit == "min" ? 60.0 : unit == "h" ? 3600.0 : 86400.0;
        one.time = table.number("time") / seconds;
    }
    if (wants(table, "reward", rewarded, false)) one.reward = reward_of(table);
    if (wants(table, "target", aimed, false)) one.target = function(table, "target", names_);
    if (wants(table, "avoid", false, one.kind == probability)) one.avoid = function(table, "avoid", names_);
    if (wants(table, "formula", one.kind == formula, false)) {
        Names names{measures_, names_.constants};
        one.formula = function(table, "formula", names);
    }
    question(table, one);
    if (!new_name(one.name, table["name"].place, field_of(table, "name"))) return;
    measures_.push_back(one.name);
    chain_.measures.push_back(std::move(one));
}

std::size_t ChainBinder::reward_of(const Values& table) {
    const std::string& text = table.text("reward");
    for (std::size_t i = 0; i < chain_.rewards.size(); ++i)
        if (chain_.rewards[i].name == text) return i;
    model::ChainReward one;
    one.per_time = function(table, "reward", names_);
    one.place = file_place(table["reward"].place, field_of(table, "reward"));
    chain_.rewards.push_back(std::move(one));
    return chain_.rewards.size() - 1;
}

namespace {

/// The chain with a function that binds the same file once more with other constants.
model::Chain with_rebinding(model::Chain chain, const std::shared_ptr<const Values>& file,
                            std::optional<std::size_t> variant) {
    const auto nominal = std::make_shared<const std::vector<model::ChainConstant>>(chain.constants);
    chain.with_constants = [file, variant, nominal](std::span<const double> values) -> std::optional<model::Chain> {
        std::map<std::string, double> replaced;
        for (std::size_t i = 0; i < nominal->size() && i < values.size(); ++i)
            if (values[i] != (*nominal)[i].value && !std::isnan(values[i])) replaced[(*nominal)[i].name] = values[i];
        Findings findings;
        model::Chain other =
            ChainBinder{*file, variant ? &(*file)["variant"].tables[*variant] : nullptr, findings, std::move(replaced)}
                .bind();
        if (!findings.empty()) return std::nullopt;
        return with_rebinding(std::move(other), file, variant);
    };
    return chain;
}

}  // namespace

std::vector<model::Chain> bind_chains(const Values& file, Findings& findings) {
    std::vector<model::Chain> chains;
    if (file.has_bad()) return chains;
    const std::vector<Values>& variants = file["variant"].tables;
    const auto kept = std::make_shared<const Values>(file);
    if (variants.empty()) chains.push_back(with_rebinding(ChainBinder{file, nullptr, findings}.bind(), kept, {}));
    std::set<std::string> names;
    for (const Values& variant : variants) {
        const std::size_t before = findings.size();
        chains.push_back(with_rebinding(ChainBinder{file, &variant, findings}.bind(), kept,
                                        static_cast<std::size_t>(&variant - variants.data())));
        chains.back().variant = variant.text("name");
        if (!is_good_name(variant.text("name")) || !names.insert(variant.text("name")).second)
            findings.push_back(finding_at(variant["name"].place, field_of(variant, "name"),
                                          fmt::format("\"{}\" is no name or stands twice", variant.text("name")),
                                          "a letter, then letters, digits or _"));
        if (findings.size() > before) return chains;  // once is enough
    }
    if (findings.empty()) {
        bind_expected(file, chains, findings);
    }
    return chains;
}

}  // namespace windtunnel::input
