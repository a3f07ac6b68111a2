#include "windtunnel/store/table.hpp"

#include <utility>

namespace windtunnel::store {

std::size_t Table::num_rows() const {
    if (columns.empty()) return 0;
    return std::visit([](const auto& values) { return values.size(); }, columns.front());
}

Table empty_table(TableSchema schema) {
    Table table;
    table.columns.reserve(schema.columns.size());
    for (const ColumnSchema& column : schema.columns) {
        switch (column.type) {
            case ColumnType::real:
                table.columns.emplace_back(std::vector<double>{});
                break;
            case ColumnType::integer:
            case ColumnType::enumeration:
                table.columns.emplace_back(std::vector<std::int64_t>{});
                break;
            case ColumnType::text:
                table.columns.emplace_back(std::vector<std::string>{});
                break;
        }
    }
    table.schema = std::move(schema);
    return table;
}

}  // namespace windtunnel::store
