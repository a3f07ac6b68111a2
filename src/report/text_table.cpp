#include "windtunnel/report/text_table.hpp"

#include <algorithm>
#include <cctype>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::report {
namespace {

/// Letters, not bytes: UTF-8 continuation bytes take no place.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool looks_like_number(const std::string& cell) {
    if (cell.empty() || cell == "-") return true;
    return std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell[0] == '-' || cell[0] == '+';
}

}  // namespace

TextTable::TextTable(std::vector<std::string> heads) : heads_{std::move(heads)} {}

void TextTable::add_row(std::vector<std::string> cells) {
    base::expects(cells.size() == heads_.size(), "a cell for each column");
    rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
    const std::size_t num_columns = heads_.size();
    std::vector<std::size_t> widths(num_columns);
    std::vector<bool> right(num_columns, true);
    for (std::size_t column = 0; column < num_columns; ++column) {
        widths[column] = width_of(heads_[column]);
        for (const auto& row : rows_) {
            widths[column] = std::max(widths[column], width_of(row[column]));
            right[column] = right[column] && looks_like_number(row[column]);
        }
    }
    right[0] = false;

    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        std::string line = "  ";
        for (std::size_t column = 0; column < num_columns; ++column) {
            const std::string space(widths[column] - width_of(cells[column]), ' ');
            line += right[column] ? space + cells[column] : cells[column] + space;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    add_line(heads_);
    for (const auto& row : rows_) add_line(row);
    return text;
}

}  // namespace windtunnel::report
