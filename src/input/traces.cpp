#include "windtunnel/input/traces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "windtunnel/base/hash.hpp"

namespace windtunnel::input {
namespace {

constexpr std::int64_t most_tokens = 100'000'000, most_range = 1'000'000;
constexpr int mooncake_block_tokens = 512;
constexpr double most_seconds = 3.2e9;

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '"'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Cells between commas; no trace that is known has a comma inside a cell.
void split(std::string_view text, std::vector<std::string_view>& cells) {
    cells.clear();
    while (true) {
        const std::size_t comma = text.find(',');
        cells.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        text.remove_prefix(comma + 1);
    }
}

template <class Number>
bool whole(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

/// Days since 1970-01-01 of a Gregorian date. Source: Hinnant, "chrono-compatible low-level date algorithms".
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2023-11-16 18:15:46.6805900", with a T or a blank, and perhaps an offset that every row shares.
bool date_and_time(std::string_view text, double& seconds) {
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':') return false;
    int year = 0, month = 0, day = 0, hour = 0, minute = 0;
    double second = 0.0;
    std::size_t end = 19;
    while (end < text.size() && (text[end] == '.' || (text[end] >= '0' && text[end] <= '9'))) ++end;
    if (!whole(text.substr(0, 4), year) || !whole(text.substr(5, 2), month) || !whole(text.substr(8, 2), day) ||
        !whole(text.substr(11, 2), hour) || !whole(text.substr(14, 2), minute) ||
        !whole(text.substr(17, end - 17), second))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    seconds = static_cast<double>(days_from_civil(year, month, day)) * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
    return true;
}

struct Names {
    const char* format;
    const char* time;
    const char* input;
    const char* output;
    double unit_s;
};
constexpr std::array known{Names{"windtunnel", "arrival_s", "input_tokens", "output_tokens", 1.0},
                           Names{"windtunnel", "arrival_s", "isl", "osl", 1.0},
                           Names{"windtunnel", "arrival_ms", "isl", "osl", 1e-3},
                           Names{"Azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens", 1.0},
                           Names{"BurstGPT", "Timestamp", "Request tokens", "Response tokens", 1.0},
                           Names{"ServeGen", "timestamp", "input_length", "output_length", 1.0}};

}  // namespace

void TraceReader::add(std::string field, std::string message, std::string expected) {
    if (++num_findings_ <= most_findings)
        findings_.push_back({path_, line_, 0, std::move(field), std::move(message), std::move(expected)});
}

bool TraceReader::line(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks) {
    ++line_;
    if (line_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (trimmed(text).empty() || text.front() == '#') return false;
    if (!has_heading_) {
        has_heading_ = true;
        is_json_ = trimmed(text).front() == '{';
        if (!is_json_) {
            (void)heading(text);
            return false;
        }
        format_ = "Mooncake";
        block_tokens_ = mooncake_block_tokens;
    }
    blocks.clear();
    if (is_json_) return json(text, row, blocks);
    return time_column_ != no_column && csv(text, row, blocks);
}

bool TraceReader::heading(std::string_view text) {
    std::vector<std::string_view> cells;
    split(text, cells);
    names_.assign(cells.begin(), cells.end());
    const auto column = [&](std::string_view name) {
        const auto found = std::find(cells.begin(), cells.end(), name);
        return found == cells.end() ? no_column : static_cast<int>(found - cells.begin());
    };
    for (const Names& names : known) {
        const int time = column(names.time), input = column(names.input), output = column(names.output);
        if (time == no_column || input == no_column || output == no_column) continue;
        time_column_ = time, input_column_ = input, output_column_ = output;
        blocks_column_ = column("block_ids");
        time_unit_ = names.unit_s;
        format_ = names.format;
        if (blocks_column_ != no_column) block_tokens_ = mooncake_block_tokens;
        return true;
    }
    add("", fmt::format("the columns {} are those of no known trace", fmt::join(names_, ", ")),
        "arrival_s, input_tokens, output_tokens; TIMESTAMP, ContextTokens, GeneratedTokens; Timestamp, Request tokens, "
        "Response tokens; timestamp, input_length, output_length; or JSON lines");
    return false;
}

bool TraceReader::tokens(std::string_view cell, const char* column, std::int64_t& value) {
    if (whole(cell, value)) return true;
    double real = 0.0;
    if (whole(cell, real) && std::isfinite(real) && real == std::floor(real) && std::abs(real) < 1e15) {
        value = static_cast<std::int64_t>(real);
        return true;
    }
    add(column, fmt::format("\"{}\" is no number of tokens", cell.substr(0, 40)), "a whole number");
    return false;
}

bool TraceReader::time(std::string_view cell, double& seconds) {
    if (date_and_time(cell, seconds)) return true;
    if (whole(cell, seconds) && std::isfinite(seconds)) {
        seconds *= time_unit_;
        return true;
    }
    add(names_.at(static_cast<std::size_t>(time_column_)), fmt::format("\"{}\" is no time", cell.substr(0, 40)),
        "a finite number, or 2023-11-16 18:15:46.68");
    return false;
}

std::uint32_t TraceReader::block_number(std::int64_t id) {
    return block_numbers_.try_emplace(id, static_cast<std::uint32_t>(block_numbers_.size())).first->second;
}

bool TraceReader::block_list(std::string_view cell, std::vector<std::uint32_t>& blocks) {
    while (!(cell = trimmed(cell)).empty()) {
        const std::size_t blank = std::min(cell.find(' '), cell.size());
        const std::string_view item = cell.substr(0, blank);
        const std::size_t dash = item.find('-');
        std::int64_t from = 0, to = 0;
        const bool good = whole(item.substr(0, dash), from) &&
                          (dash == std::string_view::npos ? (to = from, true) : whole(item.substr(dash + 1), to));
        if (!good || from < 0 || to < from || to - from > most_range) {
            add("block_ids", fmt::format("\"{}\" is no block or range of blocks", item.substr(0, 40)), "12 or 12-15");
            return false;
        }
        for (std::int64_t id = from; id <= to; ++id) blocks.push_back(block_number(id));
        cell.remove_prefix(blank);
    }
    return true;
}

bool TraceReader::csv(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks) {
    std::vector<std::string_view> cells;
    split(text, cells);
    if (cells.size() != names_.size()) {
        add("", fmt::format("{} columns", cells.size()), fmt::format("{}, as in the first line", names_.size()));
        return false;
    }
    const auto cell = [&](int column) { return cells[static_cast<std::size_t>(column)]; };
    double seconds = 0.0;
    std::int64_t input = 0, output = 0;
    const bool good_time = time(cell(time_column_), seconds);
    const bool good_input = tokens(cell(input_column_), names_[static_cast<std::size_t>(input_column_)].c_str(), input);
    const bool good_output =
        tokens(cell(output_column_), names_[static_cast<std::size_t>(output_column_)].c_str(), output);
    if (!good_time || !good_input || !good_output) return false;
    if (blocks_column_ != no_column && !block_list(cell(blocks_column_), blocks)) return false;
    return take(seconds, input, output, row);
}

bool TraceReader::json(std::string_view text, model::TraceRow& row, std::vector<std::uint32_t>& blocks) {
    const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object()) {
        add("", "no JSON object", "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": []}");
        return false;
    }
    std::array<double, 3> numbers{};
    constexpr std::array names{"timestamp", "input_length", "output_length"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = object.find(names[i]);
        if (found == object.end() || !found->is_number()) {
            add(names[i], "is missing or no number", "a number");
            return false;
        }
        numbers[i] = found->get<double>();
    }
    if (const auto ids = object.find("hash_ids"); ids != object.end()) {
        if (!ids->is_array() ||
            !std::all_of(ids->begin(), ids->end(), [](const auto& id) { return id.is_number_integer(); })) {
            add("hash_ids", "is no list of whole numbers", "[0, 1, 2]");
            return false;
        }
        for (const auto& id : *ids) blocks.push_back(block_number(id.get<std::int64_t>()));
    }
    for (std::size_t i = 1; i < names.size(); ++i)
        if (numbers[i] != std::floor(numbers[i]) || std::abs(numbers[i]) > 1e15) {
            add(names[i], "is no number of tokens", "a whole number");
            return false;
        }
    return take(numbers[0] * 1e-3, static_cast<std::int64_t>(numbers[1]), static_cast<std::int64_t>(numbers[2]), row);
}

bool TraceReader::take(double time_s, std::int64_t input, std::int64_t output, model::TraceRow& row) {
    const int before = num_findings_;
    if (input < 1 || input > most_tokens)
        add("input tokens", fmt::format("{} tokens of a prompt", input), fmt::format("from 1 to {}", most_tokens));
    if (output < 0 || output > most_tokens)
        add("output tokens", fmt::format("{} tokens of an answer", output), fmt::format("from 0 to {}", most_tokens));
    if (!std::isfinite(time_s)) add("time", "is not finite", "a finite time");
    if (num_findings_ != before) return false;
    if (rows_ == 0) first_s_ = last_s_ = time_s;
    if (time_s < last_s_) {
        add("time", fmt::format("{} s is before the row above ({} s)", time_s - first_s_, last_s_ - first_s_),
            "rows in the order of their times");
        return false;
    }
    if (time_s - first_s_ > most_seconds) {
        add("time", "the trace lasts more than 100 years", "seconds, or milliseconds in a column arrival_ms");
        return false;
    }
    last_s_ = time_s;
    ++rows_;
    row = {time_s - first_s_, static_cast<std::int32_t>(input),
           static_cast<std::int32_t>(std::max<std::int64_t>(output, 1)), 0, 0};
    return true;
}

void TraceReader::finish() {
    if (rows_ > 0 || num_findings_ > 0) return;
    line_ = 0;
    add("", "holds no request", "a heading and at least one row");
}

model::Trace read_trace(const std::string& text, const std::string& path, std::vector<base::Finding>& findings) {
    model::Trace trace;
    trace.path = path;
    trace.hash = base::fnv1a_64(text);
    TraceReader reader{path, findings};
    model::TraceRow row;
    std::vector<std::uint32_t> blocks;
    for (std::string_view rest = text; !rest.empty() && !reader.hopeless();) {
        const std::size_t end = rest.find('\n');
        if (reader.line(rest.substr(0, end), row, blocks)) {
            row.first_block = static_cast<std::uint32_t>(trace.blocks.size());
            row.num_blocks = static_cast<std::uint32_t>(blocks.size());
            trace.blocks.insert(trace.blocks.end(), blocks.begin(), blocks.end());
            trace.rows.push_back(row);
        }
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    reader.finish();
    trace.block_tokens = reader.block_tokens();
    return trace;
}

}  // namespace windtunnel::input
