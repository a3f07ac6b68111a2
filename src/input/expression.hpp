#pragma once
/// Text of an expression to a function of named numbers. Keeps muParser inside one source file.
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace windtunnel::input {

/// Names that an expression may use.
struct Names {
    std::vector<std::string> variables;
    std::map<std::string, double> constants;
};

/// A copy shares nothing with its original; one copy serves one thread at a time.
class Expression {
public:
    /// Throws ExpressionError. Operators and functions: see docs/models/availability-chain.md.
    Expression(const std::string& text, const Names& names);
    Expression(const Expression& other);
    Expression(Expression&&) noexcept;
    Expression& operator=(const Expression&) = delete;
    Expression& operator=(Expression&&) = delete;
    ~Expression();

    /// Values in the order of Names::variables.
    [[nodiscard]] double operator()(std::span<const double> values) const;

private:
    struct Text;
    struct Compiled;
    std::shared_ptr<const Text> text_;
    std::unique_ptr<Compiled> compiled_;
};

struct ExpressionError {
    std::string message;
    int position = -1;  ///< in the text, from 0; -1: the whole
};

/// May a variable, constant or measure have this name? A letter, then letters, digits and _; no name of a function.
[[nodiscard]] bool is_good_name(const std::string& name);

}  // namespace windtunnel::input
