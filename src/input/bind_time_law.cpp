#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "chain_binder.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/quantity.hpp"

namespace windtunnel::input {
namespace {

using enum model::TimeLawKind;

struct LawWord {
    std::string word;
    model::TimeLawKind kind;
    std::vector<std::string> keys;
    std::string example;
};

const std::vector<LawWord>& law_words() {
    static const std::vector<LawWord> words{
        {"exponential", exponential, {"mean", "rate"}, "mean = 24"},
        {"weibull", weibull, {"shape", "scale", "mean"}, "shape = 0.75, scale = 1000"},
        {"lognormal", lognormal, {"median", "sigma"}, "median = 2, sigma = 1.2"},
        {"gamma", gamma, {"shape", "scale"}, "shape = 2, scale = 1"},
        {"erlang", gamma, {"phases", "mean", "rate"}, "phases = 2, rate = 0.1"},
        {"deterministic", deterministic, {"value"}, "value = 10"},
        {"uniform", uniform, {"least", "most"}, "least = 1, most = 3"},
        {"hyperexponential", hyperexponential, {"weights", "means"}, "weights = [0.9, 0.1], means = [1, 20]"},
        {"phase_type", phase_type, {"start", "rates"}, "start = [1, 0], rates = [[0, 2], [0, 1]]"},
        {"empirical", empirical, {"times", "weights"}, "times = [1, 2, 4], weights = [0.2, 0.5, 0.3]"},
    };
    return words;
}

constexpr std::size_t most_phases = 60, most_times = 10'000;

double unit_seconds(const std::string& unit) {
    return unit == "s" ? 1.0 : unit == "min" ? 60.0 : unit == "h" ? 3600.0 : 86400.0;
}

/// Every phase that is entered reaches the end?
bool ends(const model::TimeLaw& law) {
    const std::size_t n = law.weight.size();
    std::vector<std::uint8_t> good(n, 0);
    for (std::size_t round = 0; round <= n; ++round)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (law.time[i * n + j] > 0.0 && (i == j || good[j] != 0)) good[i] = 1;
    return std::all_of(good.begin(), good.end(), [](std::uint8_t one) { return one != 0; });
}

}  // namespace

std::optional<double> ChainBinder::law_number(const Node& node, const std::string& field, bool is_time) {
    if (node.kind == Node::Kind::text && is_time) {
        const CheckedQuantity time = read_quantity(node.text, "24 h");
        if (time.problem.empty()) return time.value / unit_seconds(chain_.time_unit);
    }
    const model::StateFunction value = function(Member{"", node.place, node}, field, {{}, names_.constants});
    if (!value) return std::nullopt;
    const double number = value({});
    if (!std::isfinite(number) && !has_unknown_) {
        add(node.place, field, "is not finite", "a number");
        return std::nullopt;
    }
    return number;
}

std::vector<double> ChainBinder::law_numbers(const Node& node, const std::string& field, bool is_time) {
    std::vector<double> numbers;
    if (node.kind != Node::Kind::array || node.items.empty() || node.items.size() > most_times) {
        add(node.place, field, describe(node) + " is no list of numbers",
            fmt::format("from 1 to {} numbers", most_times));
        return numbers;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        const Node& item = node.items[i];
        const std::string inner = fmt::format("{}[{}]", field, i);
        if (item.kind == Node::Kind::array) {
            const std::vector<double> row = law_numbers(item, inner, is_time);
            numbers.insert(numbers.end(), row.begin(), row.end());
        } else if (const auto number = law_number(item, inner, is_time)) {
            numbers.push_back(*number);
        }
    }
    return numbers;
}

std::optional<model::TimeLaw> ChainBinder::time_law(const std::vector<Member>& members, const Place& place,
                                                    const std::string& field) {
    const std::size_t before = findings_.size();
    const auto find = [&](const std::string& key) -> const Node* {
        const auto found =
            std::find_if(members.begin(), members.end(), [&](const Member& one) { return one.key == key; });
        return found == members.end() ? nullptr : &found->node;
    };
    std::vector<std::string> known;
    for (const LawWord& one : law_words()) known.push_back(one.word);
    const Node* word = find("law");
    const std::string text = word != nullptr ? word->text : "";
    const auto form =
        std::find_if(law_words().begin(), law_words().end(), [&](const LawWord& one) { return one.word == text; });
    if (form == law_words().end()) {
        add(word != nullptr ? word->place : place, field + ".law",
            word == nullptr ? "is missing" : describe(*word) + " is not known",
            fmt::format("one of {}; nearest: {}", fmt::join(known, ", "), base::nearest_name(text, known)));
        return std::nullopt;
    }
    std::vector<std::string> keys = form->keys;
    keys.insert(keys.end(), {"law", "source", "basis"});
    for (const Member& member : members)
        if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
            add(member.place, field + "." + member.key.substr(0, 60), "no parameter of a law " + form->word,
                "nearest: " + base::nearest_name(member.key, keys) + "; law = \"" + form->word + "\", " +
                    form->example);
    const auto number = [&](const std::string& key, bool is_time) -> std::optional<double> {
        const Node* node = find(key);
        return node == nullptr ? std::nullopt : law_number(*node, field + "." + key, is_time);
    };
    const auto list = [&](const std::string& key, bool is_time) -> std::vector<double> {
        const Node* node = find(key);
        return node == nullptr ? std::vector<double>{} : law_numbers(*node, field + "." + key, is_time);
    };
    model::TimeLaw law;
    law.kind = form->kind;
    bool good = true;
    const auto positive = [](const std::optional<double>& value) {
        return value && (*value > 0.0 || std::isnan(*value));
    };
    const auto of_mean = [&](double factor) {  // scale from a mean or a rate
        const auto mean = number("mean", true), rate = number("rate", false);
        good = good && (find("mean") == nullptr) != (find("rate") == nullptr) && (positive(mean) || positive(rate));
        if (good) law.scale = mean ? *mean / factor : form->word == "erlang" ? 1.0 / *rate : 1.0 / (*rate * factor);
    };
    if (form->word == "exponential") {
        of_mean(1.0);
    } else if (form->word == "erlang") {
        const auto phases = number("phases", false);
        good = positive(phases) && std::floor(*phases) == *phases && *phases <= static_cast<double>(most_phases);
        if (good) law.shape = *phases;
        of_mean(law.shape);
    } else if (law.kind == weibull || law.kind == gamma) {
        const auto shape = number("shape", false), scale = number("scale", true), mean = number("mean", true);
        good = positive(shape) && *shape >= 0.01 && *shape <= 1e6 && (positive(scale) != positive(mean));
        if (good) {
            law.shape = *shape;
            law.scale = scale ? *scale : *mean / std::tgamma(1.0 + 1.0 / *shape);
        }
    } else if (law.kind == lognormal) {
        const auto median = number("median", true), sigma = number("sigma", false);
        good = positive(median) && positive(sigma) && *sigma <= 10.0;
        if (good) law.shape = *sigma, law.scale = *median;
    } else if (law.kind == deterministic) {
        const auto value = number("value", true);
        good = value && !(*value < 0.0);
        if (good) law.scale = *value;
    } else if (law.kind == uniform) {
        const auto least = number("least", true), most = number("most", true);
        good = least && most && *least >= 0.0 && *most > *least;
        if (good) law.shape = *least, law.scale = *most;
    } else {
        law.weight = list(law.kind == phase_type ? "start" : "weights", false);
        law.time = law.kind == hyperexponential ? list("means", true)
                   : law.kind == empirical      ? list("times", true)
                                                : list("rates", false);
        if (law.kind == empirical && find("weights") == nullptr)
            law.weight.assign(law.time.size(), 1.0 / static_cast<double>(std::max<std::size_t>(law.time.size(), 1)));
        const std::size_t n = law.weight.size();
        double sum = 0.0;
        for (const double one : law.weight) {
            sum += one;
            good = good && one >= 0.0;
        }
        good = good && n > 0 && std::abs(sum - 1.0) < 1e-6 && law.time.size() == (law.kind == phase_type ? n * n : n) &&
               (law.kind == empirical || n <= most_phases);
        for (const double one : law.time) good = good && (law.kind == hyperexponential ? one > 0.0 : one >= 0.0);
        if (good && law.kind == phase_type) good = ends(law);
        for (double& one : law.weight) one /= sum;
    }
    if (!good && findings_.size() == before)
        add(place, field, "parameters of the law are missing or out of range",
            fmt::format("{{ law = \"{}\", {} }}: times above 0, weights that sum to 1, phases that end", form->word,
                        form->example));
    if (findings_.size() > before) return std::nullopt;
    return law;
}

std::optional<model::TimeLaw> ChainBinder::time_law(const Values& table, std::string_view key) {
    return time_law(table[key].members, table[key].place, field_of(table, key));
}

}  // namespace windtunnel::input
