#pragma once
/// Request traces: who sent how many tokens when. One reader for the column names of published traces.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/model/serving.hpp"

namespace windtunnel::input {

/// Line by line, so that a trace of any length is read in the memory of one line (and one number per distinct block).
///
/// Formats, told by the first line: CSV with the columns
///   arrival_s or arrival_ms, isl or input_tokens, osl or output_tokens, block_ids (numbers and ranges, optional);
///   TIMESTAMP, ContextTokens, GeneratedTokens (Azure);   Timestamp, Request tokens, Response tokens (BurstGPT);
///   timestamp, input_length, output_length (ServeGen);
/// or JSON lines with timestamp (ms), input_length, output_length, hash_ids (Mooncake, blocks of 512 tokens).
/// Times start at that of the first row and never fall; token counts are whole and positive, answers may be empty.
class TraceReader {
public:
    TraceReader(std::string path, std::vector<base::Finding>& findings) : path_{std::move(path)}, findings_{findings} {}

    /// True: `row` and `blocks` hold a request. False: a heading, an empty line, or a finding.
    [[nodiscard]] bool line(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks);
    /// After the last line: a finding when there was no request at all.
    void finish();
    [[nodiscard]] int block_tokens() const noexcept { return block_tokens_; }
    /// More findings than anybody reads: stop.
    [[nodiscard]] bool hopeless() const noexcept { return num_findings_ >= most_findings; }
    /// "Azure", "BurstGPT", ...
    [[nodiscard]] const std::string& format() const noexcept { return format_; }

private:
    static constexpr int most_findings = 20;
    static constexpr int no_column = -1;

    void add(std::string field, std::string message, std::string expected);
    [[nodiscard]] bool heading(std::string_view text);
    [[nodiscard]] bool csv(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks);
    [[nodiscard]] bool json(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks);
    [[nodiscard]] bool take(double time_s, std::int64_t input, std::int64_t output, model::TraceRow& row);
    [[nodiscard]] bool tokens(std::string_view cell, const char* column, std::int64_t& value);
    [[nodiscard]] bool time(std::string_view cell, double& seconds);
    [[nodiscard]] bool block_list(std::string_view cell, std::vector<std::uint32_t>& blocks);
    [[nodiscard]] std::uint32_t block_number(std::int64_t id);

    std::string path_;
    std::vector<base::Finding>& findings_;
    std::string format_;
    std::vector<std::string> names_;  ///< of the columns
    int time_column_ = no_column, input_column_ = no_column, output_column_ = no_column, blocks_column_ = no_column;
    double time_unit_ = 1.0;  ///< seconds
    bool is_json_ = false, has_heading_ = false;
    int line_ = 0, num_findings_ = 0, block_tokens_ = 0;
    std::int64_t rows_ = 0;
    double first_s_ = 0.0, last_s_ = 0.0;
    std::unordered_map<std::int64_t, std::uint32_t> block_numbers_;
};

/// The whole trace of a text.
[[nodiscard]] model::Trace read_trace(const std::string& text, const std::string& path,
                                      std::vector<base::Finding>& findings);

}  // namespace windtunnel::input
