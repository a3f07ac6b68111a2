#pragma once
/// Columns of text, aligned: the first column to the left, numbers to the right.
#include <string>
#include <vector>

namespace windtunnel::report {

class TextTable {
public:
    explicit TextTable(std::vector<std::string> heads);
    /// Expects as many cells as heads.
    void add_row(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    /// Heads, then rows; each line indented by two blanks, no blanks at line ends. A column is set to the right when
    /// every cell in it starts with a digit, a sign or is empty.
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::string> heads_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace windtunnel::report
