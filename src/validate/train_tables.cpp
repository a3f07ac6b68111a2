#include "windtunnel/validate/train_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "cross_check.hpp"
#include "train_series.hpp"

namespace windtunnel::validate {
namespace {

using model::PublishedRow;

bool is_blackwell(const PublishedRow& row) {
    for (const char* card : {"B200", "B300", "GB200", "GB300"})
        if (row.accelerator.starts_with(card)) return true;
    return false;
}
bool is_card(const PublishedRow& row, const char* family) {
    return row.accelerator.starts_with(family);
}
bool is_dense(const PublishedRow& row) {
    return !row.experts;
}
bool is_long_ascend(const PublishedRow& row) {
    return is_card(row, "Ascend") && row.sequence.value_or(0) > 100'000;
}

/// The families that the project judges itself by.
struct Family {
    const char* name;
    std::function<bool(const PublishedRow&)> has;
    bool with_derived = false;  ///< rows whose step the paper gives as TFLOP/s of its own formula belong to it
};
const std::vector<Family>& families() {
    static const std::vector<Family> all{
        {"all complete rows", [](const PublishedRow&) { return true; }},
        {"dense bf16/fp16 on A100 and H100",
         [](const PublishedRow& row) {
             return is_dense(row) && (is_card(row, "A100") || is_card(row, "H100")) &&
                    (row.dtype == "bf16" || row.dtype == "fp16");
         }},
        {"dense FP8 on H100, dense Blackwell",
         [](const PublishedRow& row) {
             return is_dense(row) && ((is_card(row, "H100") && row.dtype == "fp8") || is_blackwell(row));
         }},
        {"MoE on Blackwell", [](const PublishedRow& row) { return !is_dense(row) && is_blackwell(row); }},
        {"MoE on H100", [](const PublishedRow& row) { return !is_dense(row) && is_card(row, "H100"); }},
        {"dense Ascend",
         [](const PublishedRow& row) { return is_dense(row) && is_card(row, "Ascend") && !is_long_ascend(row); }},
        {"dense Ascend, 128K tokens", [](const PublishedRow& row) { return is_dense(row) && is_long_ascend(row); }},
        {"MoE on Ascend", [](const PublishedRow& row) { return !is_dense(row) && is_card(row, "Ascend"); }},
        {"Korthikanti and SC21, one set",
         [](const PublishedRow& row) {
             return (row.file == "korthikanti2022" || row.file == "megatron_sc21") && row.software == "megatron_2023";
         },
         true},
        {"SC21 ZeRO-3",
         [](const PublishedRow& row) { return row.file == "megatron_sc21" && row.software != "megatron_2023"; }, true},
        {"TorchTitan", [](const PublishedRow& row) { return row.file == "torchtitan"; }},
        {"small models on one node", [](const PublishedRow& row) { return row.file == "vtrain_single"; }},
    };
    return all;
}

double absolute(const RowResult& line) {
    return std::abs(line.relative_error().value_or(0.0));
}

/// Collects figures of one table.
class Table {
public:
    Table(std::string name, std::vector<Figure>& figures) : name_{std::move(name)}, figures_{figures} {}

    void add(const std::string& name, const std::string& measure, std::optional<double> value, int count) {
        Figure figure;
        figure.table = name_;
        figure.name = name;
        figure.measure = measure;
        figure.value = value;
        figure.count = count;
        figures_.push_back(std::move(figure));
    }
    void add(const std::string& name, const ErrorSummary& errors, bool with_95 = false) {
        const auto known = [&errors](double value) { return errors.count > 0 ? std::optional{value} : std::nullopt; };
        add(name, "mean", known(errors.mean), errors.count);
        add(name, "median", known(errors.median), errors.count);
        add(name, "P90", known(errors.percentile_90), errors.count);
        if (with_95) add(name, "P95", known(errors.percentile_95), errors.count);
        add(name, "worst", known(errors.worst), errors.count);
    }

private:
    std::string name_;
    std::vector<Figure>& figures_;
};

/// Errors of a group: the rows that judge, those of them with and without assumed fields, and the rows of the fit.
struct Group {
    std::vector<double> judging, printed, assumed, fitted;
    std::vector<double> left_out, beside;  ///< of a fit without the row's source, and the reported ones of these rows
    void add(const RowResult& line, double error, const std::optional<double>& without_source = {}) {
        if (without_source && !line.used_to_fit) {
            left_out.push_back(*without_source);
            beside.push_back(error);
        }
        if (line.used_to_fit) {
            fitted.push_back(error);
            return;
        }
        judging.push_back(error);
        (line.assumed.empty() ? printed : assumed).push_back(error);
    }
    void put(Table& table, const std::string& name) const {
        table.add(name, error_summary(judging));
        for (const auto& [measure, errors] : {std::pair{"mean, all printed", &printed},
                                              std::pair{"mean, assumed", &assumed}, std::pair{"mean, fitted", &fitted}})
            if (const ErrorSummary part = error_summary(*errors); part.count > 0)
                table.add(name, measure, part.mean, part.count);
        const ErrorSummary without = error_summary(left_out), reported = error_summary(beside);
        if (without.count == 0) return;
        table.add(name, "mean, source left out", without.mean, without.count);
        table.add(name, "left out to reported",
                  reported.mean > 0.0 ? std::optional{without.mean / reported.mean} : std::nullopt, without.count);
    }
};

using Lines = std::vector<RowOf>;

/// Error of a fit that has not seen the row's source; nothing where that fit belongs to another model or calibration.
std::optional<double> error_without_source(const RowOf& of, const model::Measurements& measurements, int& stale) {
    const auto found = measurements.left_out.find(of.row->file + '/' + of.row->id);
    if (found == measurements.left_out.end() || of.row->of_the_user) return std::nullopt;
    constexpr double rounding = 1e-5;  // the file holds seven digits
    if (std::abs(found->second.reported_s / *of.line->predicted - 1.0) > rounding) {
        ++stale;
        return std::nullopt;
    }
    return std::abs(found->second.left_out_s / *of.line->measured - 1.0);
}

/// Values that the data determine, over all sets, and the fewest fitted rows that one of them touches.
void fit_table(const model::Measurements& measurements, int stale, std::vector<Figure>& figures) {
    std::map<std::string, const model::FitRecord*> sets;
    for (const model::CalibrationRule& rule : measurements.calibrations) sets[rule.name] = &rule.record;
    int values = 0, assumed = 0, fewest = std::numeric_limits<int>::max();
    for (const auto& [name, record] : sets)
        for (const model::FittedValue& value : record->values) {
            (value.assumed ? assumed : values) += 1;
            if (!value.assumed) fewest = std::min(fewest, value.num_rows);
        }
    Table table{"fitted values", figures};
    const auto num_sets = static_cast<int>(sets.size());
    table.add("all", "values", values, num_sets);
    table.add("all", "left at the prior, assumed", assumed, num_sets);
    if (values > 0) table.add("all", "fewest rows that one touches", fewest, num_sets);
    table.add("all", "rows whose fit without their source is out of date", stale, stale);
}

void step_tables(const Lines& lines, const model::Measurements& measurements, std::vector<Figure>& figures) {
    int stale = 0;
    std::map<std::string, Group> named, by_file, by_assumed;
    int complete = 0;
    std::map<std::string, int> excluded;
    for (const RowOf& of : lines) {
        if (of.line->quantity != "step_time_s") continue;
        const bool whole = is_complete(*of.row);
        if (is_converted(*of.row)) {
            if (!whole || !of.line->predicted || !of.line->measured) continue;
            for (const Family& family : families())
                if (family.with_derived && family.has(*of.row)) named[family.name].add(*of.line, absolute(*of.line));
            continue;
        }
        complete += whole ? 1 : 0;
        if (!of.line->predicted || !of.line->measured) {
            if (whole) ++excluded[of.line->reason];
            continue;
        }
        const double error = absolute(*of.line);
        const std::optional<double> without = error_without_source(of, measurements, stale);
        std::string knobs = "all printed";
        if (!of.line->assumed.empty()) {
            knobs = "assumed:";
            for (const std::string& field : of.line->assumed) knobs += ' ' + field;
        }
        by_assumed[knobs].add(*of.line, error, without);
        by_file[of.row->file + (of.row->experts ? " MoE" : "")].add(*of.line, error, without);
        if (!whole) continue;
        for (const Family& family : families())
            if (family.has(*of.row)) named[family.name].add(*of.line, error, without);
    }
    fit_table(measurements, stale, figures);
    Table step{"step time", figures}, files{"step time by file", figures}, knobs{"step time by knobs", figures},
        rows{"rows", figures};
    for (const Family& family : families()) named[family.name].put(step, family.name);
    for (const auto& [name, group] : by_file) group.put(files, name);
    for (const auto& [name, group] : by_assumed) group.put(knobs, name);
    int without = 0;
    for (const auto& [reason, count] : excluded) without += count;
    rows.add("complete", "rows", complete, complete);
    rows.add("excluded", "share", complete > 0 ? std::optional{double(without) / complete} : std::nullopt, without);
    for (const auto& [reason, count] : excluded) rows.add("excluded: " + reason, "rows", count, count);
}

/// The step that MFU or TFLOP/s gives is inverse to them.
void converted_table(const Lines& lines, std::vector<Figure>& figures) {
    std::map<std::string, Group> by_file;
    for (const RowOf& of : lines) {
        const bool step = of.line->quantity == "step_time_s" && is_converted(*of.row);
        if ((!step && of.line->quantity != "mfu") || !of.line->predicted || !of.line->measured) continue;
        const double error = step ? absolute(*of.line) : std::abs(*of.line->measured / *of.line->predicted - 1.0);
        by_file[of.row->file].add(*of.line, error);
        by_file["all"].add(*of.line, error);
    }
    Table table{"step time converted from MFU or TFLOP/s", figures};
    for (const auto& [name, group] : by_file) group.put(table, name);
}

void memory_tables(const Lines& lines, const model::Measurements& measurements, std::vector<Figure>& figures) {
    std::map<std::string, Group> groups;
    std::map<std::string, std::pair<double, double>> reserves;  // by kind and software: context, share
    int apart = 0;
    for (const RowOf& of : lines) {
        if (of.line->quantity != "memory_bytes" || !of.line->predicted || !of.line->measured) continue;
        const std::string kind = memory_kind_of(*of.row, measurements);
        const double error = absolute(*of.line);
        if (measurements.doubtful.contains(of.row->id)) {
            ++apart;
            groups["named as doubtful"].add(*of.line, error);
            continue;
        }
        groups[of.row->file + ", " + kind].add(*of.line, error);
        groups["all"].add(*of.line, error);
        if (kind == "allocated" || kind == "formula") continue;
        if (const model::CalibrationRule* rule = calibration_of(*of.row, measurements))
            reserves[kind + ", " + of.row->software] = {
                kind == "device" ? rule->efficiency.memory_context.value() : 0.0,
                rule->efficiency.memory_fragmentation};
    }
    Table table{"memory", figures}, reserve{"memory reserve", figures};
    for (const auto& [name, group] : groups) {
        table.add(name, error_summary(group.judging), true);
        if (const ErrorSummary fitted = error_summary(group.fitted); fitted.count > 0)
            table.add(name, "mean, fitted", fitted.mean, fitted.count);
    }
    const auto& all = groups["all"];
    const auto rows = static_cast<int>(all.judging.size() + all.fitted.size());
    table.add("all", "rows", rows, rows);
    for (const auto& [name, values] : reserves) {
        reserve.add(name, "context, GB", values.first / base::giga, 1);
        reserve.add(name, "share of allocated", values.second, 1);
    }
    int verdicts = 0, ran_out = 0, missed = 0, alarms = 0;
    for (const RowOf& of : lines) {
        if (of.line->quantity != "oom" || !of.line->predicted || !of.line->measured) continue;
        const bool really = *of.line->measured > 0.5, said = *of.line->predicted > 0.5;
        ++verdicts;
        ran_out += really ? 1 : 0;
        missed += really && !said ? 1 : 0;
        alarms += !really && said ? 1 : 0;
    }
    Table oom{"out of memory", figures};
    oom.add("verdicts", "rows", verdicts, verdicts);
    oom.add("ran out", "rows", ran_out, ran_out);
    oom.add("missed", "rows", missed, verdicts);
    oom.add("false alarms", "rows", alarms, verdicts);
}

void interval_table(const Lines& lines, std::vector<Figure>& figures) {
    std::vector<double> widths, errors;
    int inside = 0;
    for (const RowOf& of : lines) {
        const RowResult& line = *of.line;
        if (line.quantity != "step_time_s" || line.used_to_fit || !line.low || !line.high || !line.measured ||
            !line.predicted || !is_complete(*of.row) || is_converted(*of.row))
            continue;
        inside += *line.low <= *line.measured && *line.measured <= *line.high ? 1 : 0;
        widths.push_back(0.5 * (*line.high - *line.low) / *line.predicted);
        errors.push_back(absolute(line));
    }
    Table table{"90 % interval", figures};
    const ErrorSummary width = error_summary(widths), error = error_summary(errors);
    const int n = width.count;
    table.add("complete rows", "held", n > 0 ? std::optional{double(inside) / n} : std::nullopt, n);
    table.add("complete rows", "held, at most", n > 0 ? std::optional{double(inside) / n} : std::nullopt, n);
    table.add("complete rows", "median half-width", n > 0 ? std::optional{width.median} : std::nullopt, n);
    table.add("complete rows", "half-width to mean error",
              error.mean > 0.0 ? std::optional{width.median / error.mean} : std::nullopt, n);
}

}  // namespace

ErrorSummary error_summary(std::vector<double> errors) {
    ErrorSummary summary;
    if (errors.empty()) return summary;
    std::sort(errors.begin(), errors.end());
    const auto n = static_cast<double>(errors.size());
    const auto quantile = [&](double share) {
        return errors[std::max<std::size_t>(static_cast<std::size_t>(std::ceil(share * n - 1e-9)), 1) - 1];
    };
    summary.count = static_cast<int>(errors.size());
    summary.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
    summary.median = quantile(0.5);
    summary.percentile_90 = quantile(0.9);
    summary.percentile_95 = quantile(0.95);
    summary.worst = errors.back();
    return summary;
}

bool is_complete(const PublishedRow& row) {
    return row.hidden && row.layers && row.heads && row.sequence && row.tp && row.pp && row.mbs && row.gbs &&
           row.cards && row.confidence != "low" && row.phase != "lora";
}

bool is_converted(const PublishedRow& row) {
    return !row.step_time_s && !row.tokens_per_s && !row.tokens_per_s_per_card;
}

std::vector<Figure> train_figures(std::span<const RowResult> results, const model::Measurements& measurements) {
    std::map<std::pair<std::string, std::string>, const PublishedRow*> rows;
    bool shipped = true;
    for (const PublishedRow& row : measurements.rows) rows[{row.file, row.id}] = &row;
    Lines lines;
    for (const RowResult& line : results)
        if (const auto found = rows.find({line.file, line.id}); found != rows.end())
            lines.push_back({&line, found->second});
    for (const PublishedRow& row : measurements.rows) shipped = shipped && !row.of_the_user;
    std::vector<Figure> figures;
    step_tables(lines, measurements, figures);
    converted_table(lines, figures);
    memory_tables(lines, measurements, figures);
    interval_table(lines, figures);
    order_figures(lines, figures);
    scaling_figures(lines, figures);
    cross_check_figures(measurements.cross_checks, figures);
    for (Figure& figure : figures) {
        for (const model::FigureLimit& limit : measurements.figure_limits)
            if (limit.table == figure.table && limit.name == figure.name && limit.measure == figure.measure) {
                figure.target = limit.target;
                figure.limit = limit.limit;
                figure.at_least = limit.at_least;
            }
        figure.judged = shipped || figure.count >= least_rows_judged;
    }
    return figures;
}

}  // namespace windtunnel::validate
