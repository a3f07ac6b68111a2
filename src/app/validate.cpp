#include <algorithm>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/report/validation.hpp"

namespace windtunnel::app {

Command validate_command() {
    return {"validate",
            "Published measurements against the model, a line each; code 1 when a family is outside its limit.",
            "train",
            1,
            1,
            together({{{"rows", "FILE.json", "only the rows of this record file", "those that are shipped", true},
                       {"csv", "FILE.csv", "write the table as CSV", "none"}},
                      print_options()})};
}

ExitCode run_validate(const Arguments& arguments, Context& context) {
    const std::string& what = arguments.positional()[0];
    const std::vector<std::string> kinds{"train"};
    if (what != "train")
        throw_usage_error(what, "nothing to validate under this name", base::nearest_name(what, kinds));
    const std::string inputs = shipped_inputs();
    if (inputs.empty())
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    const model::Measurements measurements = input::read_measurements(inputs, arguments.texts("rows"));
    const std::vector<validate::RowResult> rows = validate::run_rows(measurements.rows, measurements);
    const std::vector<validate::FamilyError> families = validate::family_errors(rows, measurements.limits);
    if (arguments.has("csv")) write_file(arguments.text("csv"), report::validation_csv(rows));
    context.out << (arguments.has("json") ? report::validation_json(rows, families)
                                          : report::validation_text(rows, families));
    const bool outside = std::ranges::any_of(families, [](const auto& family) { return family.exceeds(); });
    return outside ? ExitCode::failed : ExitCode::done;
}

}  // namespace windtunnel::app
