#include "windtunnel/report/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;
using validate::FamilyError;
using validate::Figure;
using validate::RowResult;

std::string short_number(const std::optional<double>& value) {
    return value ? fmt::format("{:.5g}", *value) : "";
}
std::string exact_number(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
}
Json json_number(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::string error_text(const RowResult& row) {
    const auto error = row.relative_error();
    if (!error) return "";
    const bool tiny = *error != 0.0 && std::abs(*error) < 5e-4;
    return (tiny ? fmt::format("{:+.1e}", *error) : fmt::format("{:+.1f} %", 100.0 * *error)) +
           (row.is_outside() ? " OUTSIDE" : "");
}

/// Limits of families and known answers with a tolerance are judged apart; a run may have either.
std::string verdict(std::size_t num_limits, std::size_t num_exceeded, std::size_t num_answers, std::size_t num_missed) {
    std::string text;
    if (num_limits > 0)
        text += num_exceeded > 0 ? fmt::format("{} of {} limits exceeded\n", num_exceeded, num_limits)
                                 : fmt::format("all {} limits are kept\n", num_limits);
    if (num_answers > 0)
        text += num_missed > 0 ? fmt::format("{} of {} known answers missed\n", num_missed, num_answers)
                               : fmt::format("all {} known answers are met\n", num_answers);
    return text.empty() ? "no family has a limit: nothing was judged\n" : text;
}

/// A field of RFC 4180: quoted where it must be.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"') quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

/// Counts stand as they are, all else in percent.
std::string figure_value(const Figure& figure, const std::optional<double>& value) {
    if (!value) return "";
    for (const char* plain :
         {"rows", "sets", "sets with fitted rows", "tau", "tau with fitted rows", "context, GB",
          "half-width to mean error", "values", "left out to reported", "left at the prior, assumed",
          "fewest rows that one touches", "rows whose fit without their source is out of date"})
        if (figure.measure == plain) return fmt::format("{:.4g}", *value);
    return fmt::format("{:.1f} %", 100.0 * *value);
}

/// One table after the other, one line a name, its measures beside each other.
std::string figures_text(std::span<const Figure> figures) {
    std::string text;
    for (std::size_t first = 0; first < figures.size();) {
        std::size_t end = first;
        std::vector<std::string> measures;
        while (end < figures.size() && figures[end].table == figures[first].table) {
            if (std::find(measures.begin(), measures.end(), figures[end].measure) == measures.end())
                measures.push_back(figures[end].measure);
            ++end;
        }
        std::vector<std::string> heads{figures[first].table, "rows"};
        heads.insert(heads.end(), measures.begin(), measures.end());
        heads.push_back("limits (wanted)");
        TextTable table{heads};
        for (std::size_t at = first; at < end;) {
            std::vector<std::string> cells(heads.size());
            cells[0] = figures[at].name;
            cells[1] = fmt::format("{}", figures[at].count);
            for (; at < end && figures[at].name == cells[0]; ++at) {
                const Figure& figure = figures[at];
                const auto column = std::find(measures.begin(), measures.end(), figure.measure) - measures.begin();
                cells[static_cast<std::size_t>(column) + 2] = figure_value(figure, figure.value);
                if (!figure.limit && !figure.target) continue;
                std::string limit = figure.measure + (figure.at_least ? " >= " : " <= ") +
                                    figure_value(figure, figure.limit ? figure.limit : figure.target);
                if (figure.misses(figure.target)) limit += " (" + figure_value(figure, figure.target) + " MISSED)";
                if (figure.exceeds()) limit += " OUTSIDE";
                if (!figure.judged) limit += " (too few rows to judge)";
                cells.back() += (cells.back().empty() ? "" : ", ") + limit;
            }
            table.add_row(cells);
        }
        text += '\n' + table.text();
        first = end;
    }
    return text;
}

}  // namespace

std::string validation_text(std::span<const RowResult> rows, std::span<const FamilyError> families,
                            std::span<const Figure> figures) {
    TextTable lines{{"row", "family", "quantity", "predicted", "measured", "error", "90 % interval", "fitted", "note"}};
    std::size_t num_answers = 0, num_missed = 0;
    for (const RowResult& row : rows) {
        num_answers += row.tolerance ? 1 : 0;
        num_missed += row.is_outside() ? 1 : 0;
        const std::string interval =
            row.low && row.high ? fmt::format("{} to {}", short_number(row.low), short_number(row.high)) : "";
        lines.add_row({row.id, row.family, row.quantity, short_number(row.predicted), short_number(row.measured),
                       error_text(row), interval, row.used_to_fit ? "yes" : "no", row.reason});
    }
    TextTable errors{
        {"family", "quantity", "rows", "without", "mean", "median", "90th", "worst", "mean of unfitted", "limit", ""}};
    std::size_t num_limits = 0, num_exceeded = 0;
    for (const FamilyError& family : families) {
        const auto error = [&family](double value) { return family.num_rows > 0 ? percent(value) : std::string{}; };
        errors.add_row({family.family, family.quantity, fmt::format("{}", family.num_rows),
                        fmt::format("{}", family.num_without), error(family.mean), error(family.median),
                        error(family.percentile_90), error(family.worst),
                        family.num_not_fitted > 0 ? percent(family.mean_not_fitted) : "",
                        family.limit ? percent(*family.limit) : "", family.exceeds() ? "OUTSIDE ITS LIMIT" : ""});
        num_limits += family.limit ? 1 : 0;
        num_exceeded += family.limit && family.exceeds() ? 1 : 0;
    }
    for (const Figure& figure : figures) {
        num_limits += figure.limit && figure.judged ? 1 : 0;
        num_exceeded += figure.exceeds() ? 1 : 0;
    }
    return lines.text() + "\nabsolute relative error by family\n" + errors.text() + figures_text(figures) +
           verdict(num_limits, num_exceeded, num_answers, num_missed);
}

std::string validation_json(std::span<const RowResult> rows, std::span<const FamilyError> families,
                            std::span<const Figure> figures) {
    Json row_list = Json::array();
    for (const RowResult& row : rows)
        row_list.push_back({{"id", row.id},
                            {"family", row.family},
                            {"quantity", row.quantity},
                            {"predicted", json_number(row.predicted)},
                            {"measured", json_number(row.measured)},
                            {"relative_error", json_number(row.relative_error())},
                            {"low", json_number(row.low)},
                            {"high", json_number(row.high)},
                            {"used_to_fit", row.used_to_fit},
                            {"reason", row.reason},
                            {"assumed", row.assumed}});
    Json family_list = Json::array();
    const auto known = [](auto num_rows, double error) { return num_rows > 0 ? Json(error) : Json(nullptr); };
    for (const FamilyError& family : families)
        family_list.push_back({{"family", family.family},
                               {"quantity", family.quantity},
                               {"num_rows", family.num_rows},
                               {"num_without", family.num_without},
                               {"mean", known(family.num_rows, family.mean)},
                               {"median", known(family.num_rows, family.median)},
                               {"percentile_90", known(family.num_rows, family.percentile_90)},
                               {"worst", known(family.num_rows, family.worst)},
                               {"mean_not_fitted", known(family.num_not_fitted, family.mean_not_fitted)},
                               {"num_not_fitted", family.num_not_fitted},
                               {"limit", json_number(family.limit)},
                               {"exceeds", family.exceeds()}});
    Json figure_list = Json::array();
    for (const Figure& figure : figures)
        figure_list.push_back({{"table", figure.table},
                               {"name", figure.name},
                               {"measure", figure.measure},
                               {"value", json_number(figure.value)},
                               {"rows", figure.count},
                               {"target", json_number(figure.target)},
                               {"limit", json_number(figure.limit)},
                               {"at_least", figure.at_least},
                               {"judged", figure.judged},
                               {"exceeds", figure.exceeds()}});
    const Json document{{"rows", row_list}, {"families", family_list}, {"figures", figure_list}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string validation_csv(std::span<const RowResult> rows) {
    std::string text = "id,family,quantity,predicted,measured,relative_error,low,high,used_to_fit,reason\n";
    for (const RowResult& row : rows)
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", field(row.id), field(row.family), field(row.quantity),
                            exact_number(row.predicted), exact_number(row.measured), exact_number(row.relative_error()),
                            exact_number(row.low), exact_number(row.high), row.used_to_fit ? 1 : 0, field(row.reason));
    return text;
}

}  // namespace windtunnel::report
