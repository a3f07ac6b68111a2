#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "key_tables.hpp"
#include "read_value.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/quantity.hpp"

namespace windtunnel::input {
namespace {

/// The parameters of a law, as keys of its table.
struct LawForm {
    std::string word;
    model::LawKind kind;
    std::string shape;  ///< key of the shape; empty: none
    std::string scale;  ///< key of the time
    Range shape_range;
};

const std::vector<LawForm>& law_forms() {
    static const std::vector<LawForm> forms{
        {"exponential", model::LawKind::exponential, "", "mean", {}},
        {"weibull", model::LawKind::weibull, "shape", "scale", {0.05, 100.0}},
        {"lognormal", model::LawKind::lognormal, "sigma", "median", {0.0, 10.0, true}},
        {"gamma", model::LawKind::gamma, "shape", "scale", {0.01, 1e6}},
        {"deterministic", model::LawKind::deterministic, "", "value", {}},
    };
    return forms;
}

std::string form_text(const LawForm& form) {
    const std::string shape = form.shape.empty() ? std::string{} : form.shape + " = 0.75, ";
    return fmt::format("{{ law = \"{}\", {}{} = \"24 h\" }}", form.word, shape, form.scale);
}

Key time_key(const LawForm& form) {
    const bool fixed = form.kind == model::LawKind::deterministic;
    return Key{form.scale, KeyKind::quantity, "required", "", "24 h", {0.0, most_seconds, !fixed}};
}

}  // namespace

void read_law(const Node& node, const std::string& field, Value& value, std::vector<base::Finding>& findings) {
    const auto bad = [&](const Place& place, std::string message, std::string expected) {
        value.bad = true;
        if (findings.size() < most_findings)
            findings.push_back(finding_at(place, field, std::move(message), std::move(expected)));
    };
    const auto& forms = law_forms();
    if (node.kind == Node::Kind::text) {  // a fixed time
        Value time;
        read_value(node, time_key(forms.back()), field, time, findings);
        value.bad = value.bad || time.bad;
        value.law = {model::LawKind::deterministic, 1.0, Seconds{time.number}};
        return;
    }
    const Node* word = node.find("law");
    if (node.kind != Node::Kind::table || word == nullptr || word->kind != Node::Kind::text)
        return bad(node.place, describe(node) + " is no law", form_text(forms[1]) + " or a time as text");
    const auto form =
        std::find_if(forms.begin(), forms.end(), [&](const LawForm& other) { return other.word == word->text; });
    if (form == forms.end()) {
        std::vector<std::string> words;
        for (const LawForm& other : forms) words.push_back(other.word);
        return bad(
            word->place, describe(*word) + " is not known",
            fmt::format("one of {}; nearest: {}", fmt::join(words, ", "), base::nearest_name(word->text, words)));
    }
    std::vector<std::string> known{"law", form->scale, "source", "basis"};
    if (!form->shape.empty()) known.push_back(form->shape);
    for (const Member& member : node.members)
        if (std::find(known.begin(), known.end(), member.key) == known.end())
            bad(member.place, fmt::format("unknown key {} of a law {}", member.key.substr(0, 60), form->word),
                "nearest: " + base::nearest_name(member.key, known) + "; " + form_text(*form));
    const Node *scale = node.find(form->scale), *shape = node.find(form->shape);
    if (scale == nullptr) bad(node.place, form->scale + " is missing", form_text(*form));
    if (shape == nullptr && !form->shape.empty()) bad(node.place, form->shape + " is missing", form_text(*form));
    Value time, number;
    number.number = 1.0;
    if (scale != nullptr) read_value(*scale, time_key(*form), field + "." + form->scale, time, findings);
    if (shape != nullptr && !form->shape.empty())
        read_value(*shape, Key{form->shape, KeyKind::number, "required", "", "", form->shape_range},
                   field + "." + form->shape, number, findings);
    value.bad = value.bad || time.bad || number.bad;
    value.law = {form->kind, number.number, Seconds{time.number}};
}

}  // namespace windtunnel::input
