#include "expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace windtunnel::input {
namespace {

constexpr std::size_t most_letters = 4000;

double negation(double value) {
    return value == 0.0 ? 1.0 : 0.0;
}
double rounded_down(double value) {
    return std::floor(value);
}
double rounded_up(double value) {
    return std::ceil(value);
}

/// Place of an assignment in a text: "=" that is no part of ==, !=, <= or >=. muParser would carry it out.
int assignment(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') continue;
        if (i + 1 < text.size() && text[i + 1] == '=') {
            ++i;
            continue;
        }
        if (i == 0 || (text[i - 1] != '!' && text[i - 1] != '<' && text[i - 1] != '>')) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace

struct Expression::Text {
    std::string text;
    Names names;
};

struct Expression::Compiled {
    explicit Compiled(const Text& source) : values(source.names.variables.size()) {
        parser.DefineInfixOprt("!", negation);
        parser.DefineFun("floor", rounded_down);
        parser.DefineFun("ceil", rounded_up);
        for (std::size_t i = 0; i < values.size(); ++i) parser.DefineVar(source.names.variables[i], &values[i]);
        for (const auto& [name, value] : source.names.constants) parser.DefineConst(name, value);
        parser.SetExpr(source.text);
        (void)parser.Eval();
        if (parser.GetNumResults() != 1)
            throw ExpressionError{"more than one value: a comma outside of a function", -1};
        for (const auto& [name, address] : parser.GetUsedVar())
            used.push_back(static_cast<std::size_t>(address - values.data()));
    }
    std::vector<double> values;
    std::vector<std::size_t> used;
    mu::Parser parser;
};

Expression::Expression(const std::string& text, const Names& names) {
    if (text.size() > most_letters)
        throw ExpressionError{fmt::format("{} letters are too many: at most {}", text.size(), most_letters), -1};
    if (const int at = assignment(text); at >= 0) throw ExpressionError{"= is no comparison: use ==", at};
    text_ = std::make_shared<const Text>(Text{text, names});
    try {
        compiled_ = std::make_unique<Compiled>(*text_);
    } catch (const mu::Parser::exception_type& error) {
        std::string message = error.GetMsg();
        std::replace(message.begin(), message.end(), '\n', ' ');
        const auto at = static_cast<std::int64_t>(error.GetPos());
        const bool inside = at >= 0 && at < static_cast<std::int64_t>(text.size());
        throw ExpressionError{message, inside ? static_cast<int>(at) : -1};
    }
}

Expression::Expression(const Expression& other)
    : text_{other.text_}, compiled_{std::make_unique<Compiled>(*other.text_)} {}
Expression::Expression(Expression&&) noexcept = default;
Expression::~Expression() = default;

double Expression::operator()(std::span<const double> values) const {
    for (const std::size_t i : compiled_->used) compiled_->values[i] = values[i];
    return compiled_->parser.Eval();
}

bool is_good_name(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || name.size() > 80 || !letter(name[0]) || !std::all_of(name.begin(), name.end(), inner))
        return false;
    mu::Parser parser;
    const auto& functions = parser.GetFunDef();
    return functions.find(name) == functions.end() && name != "floor" && name != "ceil" && name != "states";
}

}  // namespace windtunnel::input
