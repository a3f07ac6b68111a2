#include "read_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/quantity.hpp"

namespace windtunnel::input {
namespace {

using base::Finding;
constexpr std::int64_t most_axis_values = 1'000'000;
constexpr std::size_t most_findings_of_a_list = 5;

bool within(double number, const Range& range) {
    return (range.open_least ? number > range.least : number >= range.least) &&
           (range.open_most ? number < range.most : number <= range.most);
}

std::string range_text(const Range& range) {
    std::string text = fmt::format("{} {}", range.open_least ? "above" : "from", range.least);
    if (range.most < std::numeric_limits<double>::max())
        text += fmt::format("{} {}", range.open_most ? " to below" : " to", range.most);
    return text;
}

/// Reading one node: what is read, and where findings go.
struct Reading {
    const Node& node;
    const Key& key;
    const std::string& field;
    Value& value;
    std::vector<Finding>& findings;

    void bad(const Place& place, std::string message, std::string expected) const {
        value.bad = true;
        if (findings.size() < most_findings)
            findings.push_back(finding_at(place, field, std::move(message), std::move(expected)));
    }
    void wrong_kind(const Node& at, std::string expected) const {
        bad(at.place, describe(at) + " is no valid value", std::move(expected));
    }
};

std::string word_hint(const std::string& word, const std::vector<std::string>& words) {
    return fmt::format("one of {}; nearest: {}", fmt::join(words, ", "), base::nearest_name(word, words));
}

bool is_word(const Reading& reading, const Node& node) {
    const auto& words = reading.key.words;
    if (node.kind == Node::Kind::text && std::find(words.begin(), words.end(), node.text) != words.end()) return true;
    if (node.kind == Node::Kind::text)
        reading.bad(node.place, describe(node) + " is not known", word_hint(node.text, words));
    else
        reading.wrong_kind(node, fmt::format("one of {}", fmt::join(words, ", ")));
    return false;
}

bool is_integer(const Reading& reading, const Node& node) {
    const std::string expected = "an integer " + range_text(reading.key.range);
    if (node.kind != Node::Kind::integer) {
        reading.wrong_kind(node, expected);
        return false;
    }
    if (!within(static_cast<double>(node.integer), reading.key.range)) {
        reading.bad(node.place, fmt::format("{} is out of range", node.integer), expected);
        return false;
    }
    return true;
}

void read_number(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    double number = 0.0;
    if (node.kind == Node::Kind::integer) {
        number = static_cast<double>(node.integer);
    } else if (node.kind == Node::Kind::real) {
        number = node.real;
    } else if (node.kind == Node::Kind::text && !key.example.empty()) {
        const CheckedQuantity read = read_quantity(node.text, key.example);
        if (!read.problem.empty()) return reading.bad(node.place, describe(node) + ": " + read.problem, read.expected);
        number = read.value;
    } else {
        return reading.wrong_kind(node, "a number " + range_text(key.range));
    }
    if (!std::isfinite(number))
        return reading.bad(node.place, "the number is not finite", "a number " + range_text(key.range));
    if (!within(number, key.range))
        return reading.bad(node.place, describe(node) + " is out of range", "a number " + range_text(key.range));
    value.number = number;
}

void read_one_quantity(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    if (node.kind == Node::Kind::text && std::find(key.words.begin(), key.words.end(), node.text) != key.words.end()) {
        value.text = node.text;
        return;
    }
    const bool plain = node.kind == Node::Kind::integer || node.kind == Node::Kind::real;
    if (node.kind != Node::Kind::text && !plain)
        return reading.wrong_kind(node, read_quantity("0", key.example).expected);
    if (plain)
        return reading.bad(node.place, describe(node) + " has no unit", read_quantity("0", key.example).expected);
    const CheckedQuantity read = read_quantity(node.text, key.example);
    if (!read.problem.empty()) {
        const bool of_dimension = read.problem.starts_with("is ");
        return reading.bad(node.place, describe(node) + (of_dimension ? " " : ": ") + read.problem, read.expected);
    }
    if (!within(read.value, key.range)) {
        const bool low = read.value <= key.range.least;
        return reading.bad(
            node.place, describe(node) + " is out of range",
            low ? fmt::format(
                      "{} {}, for example \"{}\"", key.range.open_least ? "above" : "at least",
                      key.range.least == 0.0 ? "0" : fmt::format("{:g} in s, B, FLOP, J or USD", key.range.least),
                      key.example)
                : fmt::format("at most {:g} in s, B, FLOP, J or USD, for example \"{}\"", key.range.most, key.example));
    }
    value.number = read.value;
    value.text.clear();
}

/// {from, to, step | factor}
void read_range(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    const std::string expected = "{ from = 1, to = 64, step = 1 } or { from = 1, to = 64, factor = 2 }";
    const std::vector<std::string> known{"from", "to", "step", "factor"};
    for (const Member& member : node.members) {
        if (std::find(known.begin(), known.end(), member.key) == known.end())
            return reading.bad(member.place, fmt::format("unknown key {}", member.key.substr(0, 60)),
                               "from, to, step or factor; nearest: " + base::nearest_name(member.key, known));
        if (member.node.kind != Node::Kind::integer)
            return reading.bad(member.node.place, member.key + ": " + describe(member.node) + " is no integer",
                               expected);
    }
    const Node *from = node.find("from"), *to = node.find("to"), *step = node.find("step"),
               *factor = node.find("factor");
    if (from == nullptr || to == nullptr) return reading.bad(node.place, "a range needs from and to", expected);
    if (step != nullptr && factor != nullptr)
        return reading.bad(node.place, "a range has a step or a factor, not both", expected);
    if (!is_integer(reading, *from) || !is_integer(reading, *to)) return;
    if (from->integer > to->integer)
        return reading.bad(node.place, fmt::format("from {} is above to {}", from->integer, to->integer), expected);
    if (step != nullptr && step->integer < 1)
        return reading.bad(step->place, fmt::format("step {} is below 1", step->integer), expected);
    if (factor != nullptr && (factor->integer < 2 || from->integer < 1))
        return reading.bad(factor->place,
                           fmt::format("a range from {} by factor {} does not grow", from->integer, factor->integer),
                           "from 1 or more and a factor of 2 or more");
    std::vector<std::int64_t> integers;
    if (factor != nullptr) {
        for (std::int64_t at = from->integer;; at *= factor->integer) {
            integers.push_back(at);
            if (at > to->integer / factor->integer) break;
        }
    } else {
        const std::int64_t by = step == nullptr ? 1 : step->integer;
        const std::int64_t last = (to->integer - from->integer) / by;  // both ends are in range: no overflow
        if (last >= most_axis_values)
            return reading.bad(node.place, fmt::format("the range has more than {} values", most_axis_values),
                               fmt::format("an axis of at most {} values", most_axis_values));
        integers.reserve(static_cast<std::size_t>(last) + 1);
        for (std::int64_t i = 0; i <= last; ++i) integers.push_back(from->integer + i * by);
    }
    value.integers = std::move(integers);
    value.any = false;
}

void read_integers(const Reading& reading, bool unique) {
    const auto& [node, key, field, value, findings] = reading;
    if (node.items.empty()) return reading.bad(node.place, "the list is empty", "at least one value");
    if (node.items.size() > static_cast<std::size_t>(most_axis_values))
        return reading.bad(node.place, fmt::format("the list has more than {} values", most_axis_values),
                           fmt::format("an axis of at most {} values", most_axis_values));
    std::vector<std::int64_t> integers;
    std::unordered_set<std::int64_t> seen;
    std::size_t faults = 0;
    for (const Node& item : node.items) {
        if (!is_integer(reading, item)) {
            if (++faults == most_findings_of_a_list) return;
            continue;
        }
        if (unique && !seen.insert(item.integer).second) {
            reading.bad(item.place, fmt::format("{} stands twice in the list", item.integer), "each value once");
            if (++faults == most_findings_of_a_list) return;
            continue;
        }
        integers.push_back(item.integer);
    }
    if (faults > 0) return;
    value.integers = std::move(integers);
    value.any = false;
}

void read_integer_axis(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    const std::string expected = fmt::format("an integer {}, a list, a range {{ from, to, step | factor }}{}",
                                             range_text(key.range), key.any_allowed ? " or \"any\"" : "");
    if (node.kind == Node::Kind::text && node.text == "any" && key.any_allowed) {
        value.any = true;
        value.integers.clear();
    } else if (node.kind == Node::Kind::integer) {
        if (!is_integer(reading, node)) return;
        value.any = false;
        value.integers = {node.integer};
    } else if (node.kind == Node::Kind::array) {
        read_integers(reading, true);
    } else if (node.kind == Node::Kind::table) {
        read_range(reading);
    } else {
        reading.wrong_kind(node, expected);
    }
}

void read_texts(const Reading& reading, bool words, bool may_be_empty) {
    const auto& [node, key, field, value, findings] = reading;
    if (node.kind != Node::Kind::array)
        return reading.wrong_kind(node,
                                  words ? fmt::format("a list of {}", fmt::join(key.words, ", ")) : "a list of texts");
    if (node.items.empty() && !may_be_empty) return reading.bad(node.place, "the list is empty", "at least one value");
    std::vector<std::string> texts;
    std::unordered_set<std::string> seen;
    std::size_t faults = 0;
    for (const Node& item : node.items) {
        bool good = words ? is_word(reading, item) : item.kind == Node::Kind::text;
        if (!words && !good) reading.wrong_kind(item, "a text");
        if (good && !seen.insert(item.text).second) {
            reading.bad(item.place, describe(item) + " stands twice in the list", "each value once");
            good = false;
        }
        if (!good && ++faults == most_findings_of_a_list) return;
        if (good) texts.push_back(item.text);
    }
    if (faults > 0) return;
    value.texts = std::move(texts);
    value.any = false;
}

void read_word_axis(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    if (node.kind == Node::Kind::text && node.text == "any") {
        value.any = true;
        value.texts.clear();
    } else if (node.kind == Node::Kind::array) {
        read_texts(reading, true, false);
    } else if (is_word(reading, node)) {
        value.any = false;
        value.texts = {node.text};
    }
}

void read_split(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    if (node.kind == Node::Kind::array) {
        read_integers(reading, false);
        if (!value.bad) value.text.clear();
    } else if (is_word(reading, node)) {
        value.text = node.text;
        value.integers.clear();
    }
}

void read_expression(const Reading& reading) {
    const auto& [node, key, field, value, findings] = reading;
    switch (node.kind) {
        case Node::Kind::text:
            value.text = node.text;
            return;
        case Node::Kind::integer:
            value.text = fmt::format("{}", node.integer);
            return;
        case Node::Kind::real:
            value.text = fmt::format("{}", node.real);
            return;
        default:
            return reading.wrong_kind(node, "a number, or an expression as text");
    }
}

}  // namespace

void read_value(const Node& node, const Key& key, const std::string& field, Value& value,
                std::vector<Finding>& findings) {
    const Reading reading{node, key, field, value, findings};
    switch (key.kind) {
        case KeyKind::text:
        case KeyKind::path: {
            const bool empty_path = key.kind == KeyKind::path && node.text.empty();
            if (node.kind != Node::Kind::text || empty_path)
                return reading.wrong_kind(node, key.kind == KeyKind::path ? "a path as text" : "a text");
            value.text = node.text;
            return;
        }
        case KeyKind::word:
            if (is_word(reading, node)) value.text = node.text;
            return;
        case KeyKind::integer:
            if (is_integer(reading, node)) value.integer = node.integer;
            return;
        case KeyKind::number:
            return read_number(reading);
        case KeyKind::quantity:
            return read_one_quantity(reading);
        case KeyKind::boolean:
            if (node.kind != Node::Kind::boolean) return reading.wrong_kind(node, "true or false");
            value.flag = node.boolean;
            return;
        case KeyKind::law:
            return read_law(node, field, value, findings);
        case KeyKind::integer_axis:
            return read_integer_axis(reading);
        case KeyKind::word_axis:
            return read_word_axis(reading);
        case KeyKind::integer_list:
            if (node.kind != Node::Kind::array) return reading.wrong_kind(node, "a list of integers");
            return read_integers(reading, false);
        case KeyKind::word_list:
            return read_texts(reading, true, false);
        case KeyKind::text_list:
            return read_texts(reading, false, true);
        case KeyKind::split:
            return read_split(reading);
        case KeyKind::expression:
            return read_expression(reading);
        case KeyKind::names:
            if (node.kind != Node::Kind::table) return reading.wrong_kind(node, "a table of names");
            value.members = node.members;
            return;
        case KeyKind::tables:
            break;  // by read_values
    }
}

}  // namespace windtunnel::input
