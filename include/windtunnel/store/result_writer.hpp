#pragma once
/// Writes a result file. It is whole or absent: written under a temporary name in the same folder, flushed, synced,
/// opened again and checked, renamed.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "windtunnel/store/provenance.hpp"
#include "windtunnel/store/table.hpp"

namespace windtunnel::store {

/// Root attributes of a file of this version. A reader accepts the same `breaking` and any `added`.
inline constexpr const char* result_format = "windtunnel-result";
inline constexpr int result_format_breaking = 1;
inline constexpr int result_format_added = 0;

enum class Completeness { whole, partial };

/// Longest text of each column, in bytes; 0 for other columns. HDF5 texts have a fixed width, so it must be known
/// before the first row of a table that is written in pieces.
using TextWidths = std::vector<std::size_t>;
[[nodiscard]] TextWidths no_widths(const TableSchema& schema);
void widen(TextWidths& widths, const Table& rows);

/// Every function throws base::RunError with path and reason; then nothing stands under the final name.
class ResultWriter {
public:
    explicit ResultWriter(std::string path);
    ResultWriter(const ResultWriter&) = delete;
    ResultWriter& operator=(const ResultWriter&) = delete;
    ~ResultWriter();  ///< without finish(): removes the temporary file

    /// A whole table below /results.
    void write(const Table& table);
    /// A table in pieces: its schema and widths first, then rows in order. Returns its number.
    [[nodiscard]] std::size_t begin(const TableSchema& schema, const TextWidths& widths);
    void append(std::size_t table, const Table& rows);
    /// Provenance, root attributes, flush, check, rename.
    void finish(const Provenance& provenance, Completeness completeness);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace windtunnel::store
