#pragma once
/// Fills a table row by row; columns in schema order.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/store/table.hpp"

namespace windtunnel::study {

class Rows {
public:
    explicit Rows(store::TableSchema schema) : table_{store::empty_table(std::move(schema))} {}

    Rows& real(double value) { return put(value); }
    Rows& integer(std::int64_t value) { return put(value); }
    Rows& text(std::string value) { return put(std::move(value)); }

    [[nodiscard]] store::Table take() && {
        base::ensures(column_ == 0, "the last row is whole");
        return std::move(table_);
    }

private:
    template <class Value>
    Rows& put(Value value) {
        auto* values = std::get_if<std::vector<Value>>(&table_.columns[column_]);
        base::expects(values != nullptr, "the value has the column's type");
        values->push_back(std::move(value));
        column_ = (column_ + 1) % table_.columns.size();
        return *this;
    }
    store::Table table_;
    std::size_t column_ = 0;
};

}  // namespace windtunnel::study
