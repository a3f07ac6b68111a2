#pragma once
/// One chain from the values of a chain file. Variables, transitions, rewards and measures: bind_chain.cpp; components,
/// crews and common causes: bind_components.cpp; laws: bind_time_law.cpp; what rests on other measures:
/// bind_questions.cpp; ranges, hierarchy, functions and the job with checkpoints: bind_forms.cpp; classes of
/// several conditions and gates: bind_structure.cpp.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "binders.hpp"
#include "expression.hpp"

namespace windtunnel::input {

/// `variant` replaces constants.
class ChainBinder {
public:
    ChainBinder(const Values& file, const Values* variant, Findings& findings,
                std::map<std::string, double> replaced = {})
        : file_{file}, variant_{variant}, findings_{findings}, replaced_{std::move(replaced)} {}
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
    /// A class with more than two conditions: its variables, then its changes.
    void states(const Values& table, std::int64_t count);
    void changes(const Values& table);
    void gate(const Values& table);
    [[nodiscard]] std::string ways(const Values& table);
    /// The text with names that stand for expressions written out.
    [[nodiscard]] std::string written_out(const std::string& text) const;
    /// Repairs of each class: by crews of its own, or by a shared pool in the order of its list.
    void repairs();
    void common_cause(const Values& table);
    /// Is the text a function of constants alone? Its value.
    [[nodiscard]] std::optional<double> constant_value(const std::string& text) const;
    [[nodiscard]] std::string rate_text(const Values& table, std::string_view key);
    [[nodiscard]] std::optional<double> law_number(const Node& node, const std::string& field, bool is_time);
    [[nodiscard]] std::vector<double> law_numbers(const Node& node, const std::string& field, bool is_time);
    [[nodiscard]] std::optional<model::TimeLaw> time_law(const std::vector<Member>& members, const Place& place,
                                                         const std::string& field);
    [[nodiscard]] std::optional<model::TimeLaw> time_law(const Values& table, std::string_view key);
    void ranges();
    void function_form();
    void checkpoint();
    void level(const Values& table);
    /// What a measure of a later kind needs, after the common keys.
    void question(const Values& table, model::ChainMeasure& one);
    [[nodiscard]] std::optional<std::size_t> measure_named(const std::string& name, const Place& place,
                                                           const std::string& field);
    void known_by(const model::ChainMeasure& one, const Place& place, const std::string& field);
    void generate(const std::string& of, const std::string& kind, const std::string& by, const Place& place,
                  const std::string& field);
    void importance();
    void sensitivity();
    void break_even(const Values& table);
    [[nodiscard]] std::optional<double> number(const Values& table, std::string_view key);
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
    std::map<std::string, double> replaced_;  ///< constants with other values than the file's
    bool has_unknown_ = false;
    std::map<std::string, std::string> derived_;  ///< names that stand for expressions of the variables
};

/// Kind of a measure by its word.
[[nodiscard]] model::MeasureKind measure_kind(const std::string& word);

}  // namespace windtunnel::input
