#pragma once
/// Reads a result file back into the tables that the writer was given.
#include <memory>
#include <string>
#include <vector>

#include "windtunnel/store/provenance.hpp"
#include "windtunnel/store/result_writer.hpp"
#include "windtunnel/store/table.hpp"

namespace windtunnel::store {

/// Throws base::InputError when the file is absent, no result file or of another format, and base::RunError when it
/// is damaged.
class ResultReader {
public:
    explicit ResultReader(std::string path);
    ResultReader(const ResultReader&) = delete;
    ResultReader& operator=(const ResultReader&) = delete;
    ~ResultReader();

    [[nodiscard]] Completeness completeness() const;
    [[nodiscard]] Provenance provenance() const;
    /// Paths below /results, sorted.
    [[nodiscard]] std::vector<std::string> table_paths() const;
    [[nodiscard]] std::uint64_t num_rows(const std::string& table_path) const;
    /// Rows begin..end of a table; end is cut to the table. Columns in the order of the file.
    [[nodiscard]] Table read(const std::string& table_path, std::uint64_t begin = 0,
                             std::uint64_t end = ~std::uint64_t{0}) const;

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace windtunnel::store
