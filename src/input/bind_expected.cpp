#include "bind_expected.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/nearest.hpp"

namespace windtunnel::input {
namespace {

/// Each known answer to the measure of its name.
class ExpectedBinder {
public:
    ExpectedBinder(double tolerance, std::vector<model::Chain>& chains, Findings& findings)
        : tolerance_{tolerance}, chains_{chains}, findings_{findings} {}

    void bind(const Member& member) {
        if (chains_.size() == 1 && chains_[0].variant.empty())
            return answer(member, chains_[0], "expected." + member.key);
        std::vector<std::string> names;
        for (model::Chain& chain : chains_) {
            names.push_back(chain.variant);
            if (chain.variant != member.key) continue;
            if (member.node.kind != Node::Kind::table)
                return add(member.node.place, "expected." + member.key, describe(member.node) + " is no table",
                           "answers of the variant");
            for (const Member& inner : member.node.members)
                answer(inner, chain, "expected." + member.key + "." + inner.key);
            return;
        }
        add(member.place, "expected." + member.key.substr(0, 100), "no such variant",
            "nearest: " + base::nearest_name(member.key, names));
    }

private:
    void add(const Place& place, std::string field, std::string message, std::string expected) {
        findings_.push_back(finding_at(place, std::move(field), std::move(message), std::move(expected)));
    }
    [[nodiscard]] static bool is_number(const Node& node) {
        return node.kind == Node::Kind::integer || (node.kind == Node::Kind::real && std::isfinite(node.real));
    }
    [[nodiscard]] static double number(const Node& node) {
        return node.kind == Node::Kind::integer ? static_cast<double>(node.integer) : node.real;
    }

    void answer(const Member& member, model::Chain& chain, const std::string& field) {
        std::vector<std::string> known{"states"};
        for (const model::ChainMeasure& measure : chain.measures) known.push_back(measure.name);
        if (std::find(known.begin(), known.end(), member.key) == known.end())
            return add(member.place, field, "no such measure", "nearest: " + base::nearest_name(member.key, known));
        model::ExpectedAnswer one{member.key, 0.0, tolerance_, false};
        const Node* value = &member.node;
        if (member.node.kind == Node::Kind::table) {
            const std::vector<std::string> keys{"value", "tolerance", "absolute"};
            for (const Member& inner : member.node.members) {
                const bool flag = inner.key == "absolute";
                if (std::find(keys.begin(), keys.end(), inner.key) == keys.end())
                    return add(inner.place, field, "unknown key " + inner.key,
                               "nearest: " + base::nearest_name(inner.key, keys));
                const bool good = flag ? inner.node.kind == Node::Kind::boolean : is_number(inner.node);
                if (!good || (inner.key == "tolerance" && number(inner.node) < 0.0))
                    return add(inner.node.place, field, describe(inner.node) + " is no valid " + inner.key,
                               flag ? "true or false" : "a number, 0 or more");
                if (flag) one.absolute = inner.node.boolean;
                if (inner.key == "tolerance") one.tolerance = number(inner.node);
            }
            value = member.node.find("value");
            if (value == nullptr)
                return add(member.node.place, field, "has no value", "{ value = 0.5, tolerance = 1e-9 }");
        }
        if (!is_number(*value)) return add(value->place, field, describe(*value) + " is no number", "a number");
        one.value = number(*value);
        chain.expected.push_back(one);
    }

    double tolerance_;
    std::vector<model::Chain>& chains_;
    Findings& findings_;
};

}  // namespace

void bind_expected(const Values& file, std::vector<model::Chain>& chains, Findings& findings) {
    ExpectedBinder expected{file.number("tolerance"), chains, findings};
    for (const Member& member : file["expected"].members) expected.bind(member);
}

}  // namespace windtunnel::input
