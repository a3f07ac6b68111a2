#include <fmt/format.h>

#include "binders.hpp"
#include "files_reader.hpp"
#include "windtunnel/input/records.hpp"

namespace windtunnel::input {
namespace {

model::FittedValue fitted_value(const Values& table, Findings& findings) {
    model::FittedValue value{table.text("name"),    table.text("unit"),    table.number("value"),
                             table.number("prior"), table.number("lower"), table.number("upper")};
    value.low = table.given("low") ? table.number("low") : value.value;
    value.high = table.given("high") ? table.number("high") : value.value;
    value.num_rows = table.integer("rows");
    value.assumed = table.flag("assumed");
    if (value.value < value.lower || value.value > value.upper)
        findings.push_back(finding_at(table["value"].place, field_of(table, "value"),
                                      fmt::format("{} lies outside its bounds", value.value),
                                      fmt::format("{} to {}", value.lower, value.upper)));
    return value;
}

}  // namespace

model::FitRecord read_fit_record(const std::string& path) {
    const FileProvider provider = read_file;
    FilesReader reader{provider};
    const auto values = reader.values(path, "calibration");
    if (!values || values->has_bad()) throw base::InputError{std::move(reader.findings)};
    model::FitRecord record;
    for (const Values& table : (*values)["parameter"].tables)
        record.values.push_back(fitted_value(table, reader.findings));
    record.rows = (*values)["rows"].texts;
    if (!reader.findings.empty()) throw base::InputError{std::move(reader.findings)};
    return record;
}

}  // namespace windtunnel::input
