#include "windtunnel/validate/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "windtunnel/compute/attention.hpp"
#include "windtunnel/compute/gemm.hpp"
#include "windtunnel/compute/operator_times.hpp"

namespace windtunnel::validate {
namespace {

constexpr double wanted_median = 0.02, wanted_percentile_90 = 0.10;
constexpr double published_operator_error = 0.066;  ///< mean, of a mapping to instructions (point P18)

const char* class_name(model::OperatorClass kind) {
    using enum model::OperatorClass;
    switch (kind) {
        case gemm:
            return "gemm";
        case grouped_gemm:
            return "grouped_gemm";
        case attention:
            return "attention";
        case latent_attention:
            return "latent_attention";
        case vector:
            return "vector";
        case collective:
            return "collective";
        case all_to_all:
            return "all_to_all";
        case phase:
            break;
    }
    return "phase";
}

/// Columns of a row by name, words and numbers.
class Row {
public:
    Row(const model::OperatorTable& table, const model::OperatorRow& row) : shape_{table.shape}, row_{row} {}
    [[nodiscard]] std::string word(const std::string& column) const {
        const auto found = std::find(shape_.keys.begin(), shape_.keys.end(), column);
        return found == shape_.keys.end() ? "" : row_.key[static_cast<std::size_t>(found - shape_.keys.begin())];
    }
    [[nodiscard]] std::optional<double> number(const std::string& column) const {
        const auto axis = std::find(shape_.axes.begin(), shape_.axes.end(), column);
        if (axis != shape_.axes.end()) return row_.at[static_cast<std::size_t>(axis - shape_.axes.begin())];
        const std::string text = word(column);
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
        return value;
    }
    [[nodiscard]] bool has(std::initializer_list<const char*> columns) const {
        return std::all_of(columns.begin(), columns.end(), [this](const char* c) { return number(c).has_value(); });
    }
    [[nodiscard]] double operator[](const char* column) const { return number(column).value_or(0.0); }

private:
    const model::OperatorTableShape& shape_;
    const model::OperatorRow& row_;
};

model::Precision precision_of(const std::string& word) {
    if (word.starts_with("fp8")) return model::Precision::fp8;
    if (word == "nvfp4") return model::Precision::nvfp4;
    return model::Precision::bf16;
}

Seconds two_expert_products(const Row& row, const compute::Card& card) {
    const double tokens = row["tokens"] * row["topk"] / std::max(1.0, row["moe_ep"]);
    const double local = row["experts"] / std::max(1.0, row["moe_ep"]);
    const double used = std::max(1.0, std::min(local, tokens)), rows = tokens / used;
    const double width = row["inter"] / std::max(1.0, row["moe_tp"]);
    return compute::grouped_gemm_time(used, {rows, 2.0 * width, row["hidden"]}, card) +
           compute::grouped_gemm_time(used, {rows, row["hidden"], width}, card) + 3.0 * card.launch;
}

/// Rows of more than 32 expert-parallel ranks, as the rows of fewer say.
std::vector<std::pair<std::size_t, Seconds>> beyond(const model::OperatorTable& table, const std::string& quantity,
                                                    std::size_t column) {
    constexpr double fitted_up_to = 32.0;
    std::vector<std::pair<std::size_t, Seconds>> times;
    const auto axis = std::find(table.shape.axes.begin(), table.shape.axes.end(), "ep");
    if (table.shape.kind != model::OperatorClass::all_to_all || axis == table.shape.axes.end()) return times;
    const auto ep = static_cast<std::size_t>(axis - table.shape.axes.begin());
    model::OperatorTable below = table;
    std::erase_if(below.rows, [&](const model::OperatorRow& row) { return row.at[ep] > fitted_up_to; });
    if (below.rows.empty()) return times;
    const compute::OperatorTimes model{below, quantity};
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        if (const model::OperatorRow& row = table.rows[i];
            row.at[ep] > fitted_up_to && row.time[column].value_or(0.0) > 0.0)
            if (const auto answer = model.time(row.key, row.at)) times.emplace_back(i, answer->time);
    return times;
}

/// Keys and values of 128, or latent rows of 512 + 64.
Seconds decoding(double sequences, double length, double heads, double cached, double score_width, double value_width,
                 double cache_bytes, const compute::Card& card) {
    const Flops work{2.0 * sequences * length * heads * (score_width + value_width)};
    const Bytes cache{sequences * length * cached * cache_bytes};
    return std::max(work / (card.wide_peak * card.attention), compute::streaming_time(cache, card)) + card.launch;
}

}  // namespace

std::vector<OperatorColumn> operator_columns(const model::OperatorTables& tables) {
    std::vector<OperatorColumn> columns;
    for (std::size_t t = 0; t < tables.tables.size(); ++t)
        for (std::size_t q = 0; q < tables.tables[t].shape.quantities.size(); ++q) columns.push_back({t, q});
    return columns;
}

std::optional<Seconds> roofline_time(const model::OperatorTables& tables, const model::OperatorTable& table,
                                     const model::OperatorRow& published) {
    const model::Accelerator* accelerator = nullptr;
    for (const std::string& word : published.key)
        if (const auto id = table.shape.accelerators.find(word); id != table.shape.accelerators.end())
            if (const auto found = tables.accelerators.find(id->second); found != tables.accelerators.end())
                accelerator = &found->second;
    if (accelerator == nullptr) return std::nullopt;
    const Row row{table, published};
    const std::string dtype =
        row.word("dtype").empty() && table.shape.name == "infersim_gemm" ? "fp8" : row.word("dtype");
    const compute::Card card = compute::card_of(*accelerator, model::Efficiency{}, precision_of(dtype));
    if (!(card.matrix_peak > FlopsPerSecond{0.0})) return std::nullopt;  // the card lacks the precision
    const double cache_bytes = row.word("kv_dtype") == "fp8" ? 1.0 : 2.0;
    const bool prompt = row.word("phase") == "prefill" || row.number("seq").has_value();
    const double sequences = row.number("batch").value_or(1.0);
    double length = row["seq_or_kv_len"];
    for (const char* column : {"seq", "kv"}) length = row.number(column).value_or(length);
    using enum model::OperatorClass;
    switch (table.shape.kind) {
        case gemm:
            if (!row.has({"m", "n", "k"})) return std::nullopt;
            return compute::gemm_time({row["m"], row["n"], row["k"]}, card) + card.launch;
        case grouped_gemm:
            if (!row.has({"tokens", "topk", "experts", "hidden", "inter", "moe_tp", "moe_ep"})) return std::nullopt;
            return two_expert_products(row, card);
        case attention:
            if (!row.has({"heads", "kv_heads", "batch", "seq_or_kv_len"})) return std::nullopt;
            if (prompt)
                return compute::flash_attention_time({sequences, length, 1.0, row["heads"], 128, 128}, card) +
                       card.launch;
            return decoding(sequences, length, row["heads"], 2.0 * 128 * row["kv_heads"], 128, 128, cache_bytes, card);
        case latent_attention:
            if (!row.has({"heads"}) || !(length > 0.0)) return std::nullopt;
            if (prompt)
                return compute::flash_attention_time({sequences, length, 1.0, row["heads"], 192, 128}, card) +
                       card.launch;
            return decoding(sequences, length, row["heads"], 576, 576, 512, cache_bytes, card);
        default:
            return std::nullopt;
    }
}

std::vector<RowResult> operator_rows(const model::OperatorTables& tables, const OperatorColumn& column) {
    const model::OperatorTable& table = tables.tables.at(column.table);
    const std::string& quantity = table.shape.quantities.at(column.quantity);
    std::vector<RowResult> lines;
    const auto add = [&](std::size_t row, const char* what, const std::string& family, double predicted,
                         double measured) {
        RowResult line;
        line.id = fmt::format("{}/{}:{}", table.shape.name, quantity, table.rows[row].line);
        line.file = table.shape.family;
        line.family = family;
        line.quantity = what;
        line.predicted = predicted;
        line.measured = measured;
        lines.push_back(std::move(line));
    };
    const compute::OperatorTimes times{table, quantity};
    for (const compute::OperatorTimes::LeftOut& point : times.left_out())
        add(point.row, "latency_s", table.shape.family, point.predicted.value(), point.measured.value());
    for (const auto& [row, time] : beyond(table, quantity, column.quantity))
        add(row, "beyond_ep_32_s", table.shape.family, time.value(), *table.rows[row].time[column.quantity]);
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        if (const auto& measured = table.rows[row].time.at(column.quantity); measured && *measured > 0.0)
            if (const auto roofline = roofline_time(tables, table, table.rows[row]))
                add(row, "roofline_s", class_name(table.shape.kind), roofline->value(), *measured);
    return lines;
}

std::vector<Figure> operator_figures(std::span<const RowResult> rows, const model::OperatorTables& tables) {
    std::set<std::string> judged;
    for (const model::OperatorTable& table : tables.tables)
        if (table.shape.judged) judged.insert(table.shape.family);
    std::map<std::string, std::vector<double>> left_out, roofline, beyond_ep;
    for (const RowResult& line : rows) {
        const double error = std::abs(line.relative_error().value_or(0.0));
        if (line.quantity == "roofline_s") {
            roofline[line.family].push_back(error);
            continue;
        }
        if (line.quantity == "beyond_ep_32_s") {
            beyond_ep[line.family].push_back(error);
            continue;
        }
        left_out[line.family].push_back(error);
        if (judged.contains(line.family)) left_out[" all judged"].push_back(error);
    }
    std::vector<Figure> figures;
    for (auto& [family, errors] : left_out) {
        const ErrorSummary summary = error_summary(std::move(errors));
        const std::string name = family == " all judged" ? "all judged" : family;
        Figure median{"points left out of operator tables", name, "median", summary.median, summary.count, {}, {}};
        Figure percentile = median;
        percentile.measure = "90th percentile";
        percentile.value = summary.percentile_90;
        if (name == "all judged" || judged.contains(name)) {
            median.target = wanted_median;
            percentile.target = wanted_percentile_90;
            median.limit = wanted_median;
            percentile.limit = wanted_percentile_90;
            for (const model::OperatorLimit& limit : tables.limits)
                if (limit.family == name) {
                    median.limit = limit.median;
                    percentile.limit = limit.percentile_90;
                }
            median.judged = percentile.judged = summary.count >= least_rows_judged;
        }
        figures.push_back(std::move(median));
        figures.push_back(std::move(percentile));
    }
    for (auto& [family, errors] : beyond_ep) {
        const ErrorSummary summary = error_summary(std::move(errors));
        figures.push_back({"more than 32 expert-parallel ranks, fitted on up to 32",
                           family,
                           "median",
                           summary.median,
                           summary.count,
                           {},
                           {}});
    }
    for (auto& [family, errors] : roofline) {
        const ErrorSummary summary = error_summary(std::move(errors));
        Figure mean{"roofline of the data sheet", family, "mean", summary.mean, summary.count,
                    published_operator_error,     {}};
        figures.push_back(mean);
        mean.target.reset();
        mean.measure = "median";
        mean.value = summary.median;
        figures.push_back(mean);
        mean.measure = "90th percentile";
        mean.value = summary.percentile_90;
        figures.push_back(mean);
    }
    return figures;
}

}  // namespace windtunnel::validate
