#include "windtunnel/input/chains.hpp"

#include <gtest/gtest.h>

namespace windtunnel::input {
namespace {

std::vector<model::Chain> read(const std::string& text) {
    return read_chains("chain.toml", [&](const std::string&) { return FileText{text, {}, false}; });
}

/// The findings of a text, one a line.
std::string findings(const std::string& text) {
    try {
        (void)read(text);
    } catch (const base::InputError& error) {
        std::string all;
        for (const base::Finding& finding : error.findings()) all += finding.text() + "\n";
        return all;
    }
    return {};
}

const std::string repairman = R"(
title = "repairman"
[chain]
constants = { n = 3, mttf = 100, fail = "1/mttf" }
variable = [{ name = "up", most = "n", initial = "n" }]
transition = [
  { name = "failure", guard = "up > 0", rate = "up * fail", update = { up = "up - 1" } },
  { name = "repair", guard = "up < n", rate = 0.5, update = { up = "up + 1" } },
]
reward = [{ name = "repairs", per_event = { repair = 1 } }]
[[measure]]
name = "availability"
kind = "steady_state"
reward = "up >= 2 ? 1 : 0"
[[measure]]
name = "repairs_per_h"
kind = "steady_state"
reward = "repairs"
[[measure]]
name = "by_a_day"
kind = "probability"
target = "!(up >= 1) && n > 2"
time = "1 days"
[[measure]]
name = "down"
kind = "formula"
formula = "1 - availability"
)";

/// The text with one piece replaced.
std::string with(const std::string& piece, const std::string& other) {
    std::string text = repairman;
    const auto at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    return at == std::string::npos ? text : text.replace(at, piece.size(), other);
}

TEST(Chains, ReadsVariablesFunctionsAndMeasures) {
    const auto chains = read(repairman);
    ASSERT_EQ(chains.size(), 1u);
    const model::Chain& chain = chains[0];
    EXPECT_EQ(chain.id, "chain");
    EXPECT_EQ(chain.variables.at(0).most, 3);
    const std::vector<double> two{2.0}, three{3.0};
    EXPECT_DOUBLE_EQ(chain.transitions.at(0).rate(two), 0.02);  // 2 x 1/100
    EXPECT_EQ(chain.transitions[0].updates.at(0).value(two), 1.0);
    EXPECT_EQ(chain.transitions.at(1).guard(three), 0.0);
    EXPECT_EQ(chain.measures.at(0).reward, 1u);  // a reward of its own after the named one
    EXPECT_EQ(chain.rewards.at(1).per_time(two), 1.0);
    EXPECT_EQ(chain.rewards.at(0).per_event.at(1)(two), 1.0);
    EXPECT_DOUBLE_EQ(*chain.measures.at(2).time, 24.0);
    EXPECT_EQ(chain.measures[2].target(std::vector<double>{0.0}), 1.0);
    EXPECT_EQ(chain.measures.at(3).formula(std::vector<double>{0.25, 0, 0, 0}), 0.75);
}

TEST(Chains, CopiesOfAFunctionShareNothing) {
    const auto chains = read(repairman);
    const model::StateFunction copy = chains[0].transitions[0].rate;
    EXPECT_DOUBLE_EQ(copy(std::vector<double>{3.0}), 0.03);
    EXPECT_DOUBLE_EQ(chains[0].transitions[0].rate(std::vector<double>{1.0}), 0.01);
}

TEST(Chains, VariantsReplaceConstantsAndHaveAnswersOfTheirOwn) {
    const auto chains = read(repairman + R"(
[[variant]]
name = "small"
constants = { n = 2 }
[[variant]]
name = "fragile"
constants = { mttf = 10 }
[expected.small]
states = 3
availability = { value = 0.9, tolerance = 1e-3, absolute = true }
)");
    ASSERT_EQ(chains.size(), 2u);
    EXPECT_EQ(chains[0].variables[0].most, 2);
    EXPECT_DOUBLE_EQ(chains[1].transitions[0].rate(std::vector<double>{1.0}), 0.1);  // fail follows mttf
    ASSERT_EQ(chains[0].expected.size(), 2u);
    EXPECT_EQ(chains[0].expected[0].tolerance, 1e-9);
    EXPECT_TRUE(chains[0].expected[1].absolute);
    EXPECT_TRUE(chains[1].expected.empty());
}

TEST(Chains, AWrongNameIsFoundAtItsLetter) {
    // Line 7 of the text; the name stands at column 57: 2 blanks, { name = "failure", ... rate = " and 5 letters.
    const std::string text = findings(with("up * fail", "up * fial"));
    EXPECT_NE(text.find("chain.toml:7:"), std::string::npos) << text;
    EXPECT_NE(text.find("fial"), std::string::npos) << text;
    EXPECT_NE(text.find("nearest known name: fail"), std::string::npos) << text;
    const std::string line =
        "  { name = \"failure\", guard = \"up > 0\", rate = \"up * fial\", update = { up = \"up - 1\" } },";
    EXPECT_NE(text.find("chain.toml:7:" + std::to_string(line.find("fial") + 1) + ":"), std::string::npos) << text;
}

TEST(Chains, EachRuleHasAFinding) {
    const std::pair<std::string, std::string> cases[] = {
        {with("up > 0\"", "up = 0\""), "= is no comparison"},
        {with("{ up = \"up - 1\" }", "{ down = 1 }"), "no such variable"},
        {with("initial = \"n\"", "initial = \"n + 1\""), "4 is out of bounds"},
        {with("most = \"n\"", "most = \"n / 2\""), "1.5 is no integer"},
        {with("most = \"n\"", "most = -1"), "-1 is below least 0"},
        {with("fail = \"1/mttf\"", "fail = \"1/0\""), "is not finite"},
        {with("n = 3,", "sin = 3,"), "cannot be a name"},
        {with("fail = \"1/mttf\"", "up = 3"), "stands for something else already"},
        {with("{ repair = 1 }", "{ mend = 1 }"), "no such transition"},
        {with("name = \"down\"", "name = \"availability\""), "stands for something else already"},
        {with("1 - availability", "1 - availabilty"), "nearest known name: availability"},
        {with("time = \"1 days\"", "time = \"1 GB\""), "expected"},
        {with("time = \"1 days\"", "avoid = 0\nreward = \"up\""), "has no meaning for kind probability"},
        {with("reward = \"repairs\"", ""), "is missing for kind steady_state"},
        {with("up * fail", "up, fail"), "more than one value"},
        {with("kind = \"formula\"", "kind = \"formulae\""), "is not known"},
        {with("rate = 0.5", "rate = true"), "is no valid value"},
        {repairman + "[expected]\navailabilty = 0.5\n", "nearest: availability"},
        {repairman + "[expected]\navailability = \"high\"\n", "is no number"},
        {repairman + "[expected]\navailability = { tolerance = 1 }\n", "has no value"},
        {repairman + "[[variant]]\nname = \"a\"\nconstants = { m = 3 }\n", "the chain has no such constant"},
        {"[chain]\ntime_unit = \"h\"\n", "is missing"},
    };
    for (const auto& [text, expected] : cases) {
        const std::string found = findings(text);
        EXPECT_NE(found.find(expected), std::string::npos) << "wanted: " << expected << "\nfound: " << found;
        EXPECT_NE(found.find("chain.toml:"), std::string::npos) << found;
    }
}

const std::string rack = R"(
[[component]]
name = "node"
count = 10
active = 8
dormancy = 0.25
failure_rate = 0.5
fails_while = "power > 0"
repair_rate = 2
[[component]]
name = "power"
count = 2
failure_rate = 0.125
repair_rate = 1
[[crew]]
name = "staff"
number = 3
serves = ["power", "node"]
[[common_cause]]
name = "flood"
rate = 0.0625
takes = { node = 4, power = 1 }
[[measure]]
name = "up"
kind = "steady_state"
reward = "node >= 8 && power >= 1"
)";

TEST(Components, AreVariablesWithTransitions) {
    const model::Chain chain = read(rack).at(0);
    ASSERT_EQ(chain.variables.size(), 2u);
    EXPECT_EQ(chain.variables[0].initial, 10);
    ASSERT_EQ(chain.transitions.size(), 5u);
    const std::vector<double> full{10, 2}, some{3, 1}, dark{3, 0}, none{0, 0};
    const auto& failure = chain.transitions[0];
    EXPECT_EQ(failure.name, "node_failure");
    EXPECT_DOUBLE_EQ(failure.rate(full), (8 + 0.25 * 2) * 0.5);
    EXPECT_DOUBLE_EQ(failure.rate(some), 3 * 0.5);
    EXPECT_EQ(failure.guard(dark), 0.0);
    EXPECT_EQ(failure.updates[0].value(full), 9.0);
    const auto& repair = chain.transitions[2];
    EXPECT_EQ(repair.name, "node_repair");
    EXPECT_DOUBLE_EQ(repair.rate(some), 2 * 2.0);  // of three crews one is at the power
    EXPECT_DOUBLE_EQ(repair.rate(dark), 1 * 2.0);
    EXPECT_DOUBLE_EQ(chain.transitions[3].rate(dark), 2.0);
    const auto& flood = chain.transitions[4];
    EXPECT_EQ(flood.updates.at(0).value(some), 0.0);
    EXPECT_EQ(flood.updates.at(1).value(full), 1.0);
    EXPECT_EQ(flood.guard(none), 0.0);
}

TEST(Components, EachRuleHasAFinding) {
    const auto with_rack = [](const std::string& piece, const std::string& other) {
        std::string text = rack;
        return text.replace(text.find(piece), piece.size(), other);
    };
    const std::pair<std::string, std::string> cases[] = {
        {with_rack("count = 10", "count = 0"), "0 members"},
        {with_rack("active = 8\n", ""), "has no meaning without spares"},
        {with_rack("\"power\", \"node\"", "\"power\", \"nodes\""), "nodes is no component"},
        {with_rack("count = 2", "count = 2\ncrews = 1"), "is served by crew staff"},
        {with_rack("repair_rate = 2\n", "crews = 1\n"), "have nothing to do"},
        {with_rack("power = 1 }", "power = 0.5 }"), "0.5 members"},
        {with_rack("node = 4, power", "nodes = 4, power"), "no such component"},
        {with_rack("fails_while = \"power > 0\"", "fails_while = \"powr > 0\""), "nearest known name: power"},
        {with_rack("failure_rate = 0.5", "failure_rate = \"1) * (2\""), "failure_rate"},
        {"[[measure]]\nname = \"x\"\nkind = \"formula\"\nformula = 1\n", "0 variables and components"},
    };
    for (const auto& [text, expected] : cases) {
        const std::string found = findings(text);
        EXPECT_NE(found.find(expected), std::string::npos) << "wanted: " << expected << "\nfound: " << found;
    }
}

}  // namespace
}  // namespace windtunnel::input
