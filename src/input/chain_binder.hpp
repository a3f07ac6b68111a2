#pragma once
/// One chain from the values of a chain file. Variables, transitions, rewards and measures: bind_chain.cpp; components,
/// crews and common causes: bind_components.cpp.
#include <set>
#include <string>
#include <vector>

#include "binders.hpp"
#include "expression.hpp"

namespace windtunnel::input {

/// `variant` replaces constants.
class ChainBinder {
public:
    ChainBinder(const Values& file, const Values* variant, Findings& findings)
        : file_{file}, variant_{variant}, findings_{findings} {}
    model::Chain bind();

private:
    void add(const Place& place, std::string field, std::string message, std::string expected);
    [[nodiscard]] static model::FilePlace file_place(const Place& place, std::string field);
    /// The compiled text, or nothing after a finding at the letter that is wrong.
    [[nodiscard]] model::StateFunction function(const std::string& text, Place place, const std::string& field,
                                                const Names& names, bool quoted);
    [[nodiscard]] model::StateFunction function(const Values& table, std::string_view key, const Names& names);
    [[nodiscard]] model::StateFunction function(const Member& member, const std::string& field, const Names& names);
    [[nodiscard]] bool new_name(const std::string& name, const Place& place, const std::string& field);
    void constant(const Member& member, const std::string& field);
    void constants();
    [[nodiscard]] std::int64_t whole(const Values& table, const std::string& key);
    void variable(const Values& table);
    void transition(const Values& table);
    void component(const Values& table);
    /// Text of a key as a factor, after a finding where it is no expression.
    [[nodiscard]] std::string factor(const Values& table, std::string_view key);
    [[nodiscard]] static std::string failed(const Values& table);
    /// A transition that changes the number of working members, from texts that are good on their own.
    void add_transition(const std::string& name, const Values& table, std::string_view rate_key,
                        const std::string& guard, const std::string& rate, std::vector<model::ChainUpdate> updates);
    [[nodiscard]] model::ChainUpdate change(const Values& table, const std::string& name, const std::string& by);
    void failure(const Values& table);
    /// Repairs of each class: by crews of its own, or by a shared pool in the order of its list.
    void repairs();
    void common_cause(const Values& table);
    void reward(const Values& table);
    /// Needs a key of a measure, or must not have it.
    [[nodiscard]] bool wants(const Values& table, const char* key, bool needed, bool allowed);
    void measure(const Values& table);
    /// Index of the named reward, or of a new one from an expression.
    [[nodiscard]] std::size_t reward_of(const Values& table);
    const Values& file_;
    const Values* variant_;
    Findings& findings_;
    model::Chain chain_;
    Names names_;
    std::set<std::string> taken_;
    std::vector<std::string> measures_;
};

}  // namespace windtunnel::input
