#include <algorithm>
#include <optional>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/chains.hpp"
#include "windtunnel/input/operator_tables.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/input/serve_records.hpp"
#include "windtunnel/parallel/first_error.hpp"
#include "windtunnel/report/validation.hpp"
#include "windtunnel/study/operator_study.hpp"
#include "windtunnel/study/validate_study.hpp"

namespace windtunnel::app {

Command validate_command() {
    return {"validate",
            "Published measurements against the model, a line each; code 1 when a family is outside its limit.",
            "train|avail|serve|ops",
            1,
            1,
            together({{{"rows", "FILE|FOLDER",
                        "only the rows of these files: records (JSON), chain files, tables (CSV) or points (JSON)",
                        "those that are shipped", true},
                       {"fit", "FOLDER", "serve: fit the sets of shares again and write them into this folder", "none"},
                       {"csv", "FILE.csv", "write the table as CSV", "none"}},
                      run_options_without_dry_run(),
                      print_options()})};
}

namespace {

/// The sets of shares of the engines from the rows that may be used, as files under the names of the rules.
ExitCode fit_engines(const std::string& inputs, const Arguments& arguments, Context& context) {
    std::vector<std::pair<std::string, std::string>> files;
    parallel::on_all_ranks(context.communicator, [&] {
        const model::ServeMeasurements measurements = input::read_serve_measurements(inputs, {});
        if (context.communicator.rank() == 0) files = validate::fitted_files(measurements);
    });
    for (const auto& [name, text] : files) {
        const std::string path = arguments.text("fit") + "/" + name.substr(name.rfind('/') + 1);
        write_file(path, text);
        context.out << path << "\n";
    }
    return ExitCode::done;
}

ExitCode print_validation(const study::ValidateAnswer& answer, const Arguments& arguments, Context& context) {
    if (arguments.has("csv")) write_file(arguments.text("csv"), report::validation_csv(answer.rows));
    context.out << (arguments.has("json") ? report::validation_json(answer.rows, answer.families, answer.figures)
                                          : report::validation_text(answer.rows, answer.families, answer.figures));
    return answer.within_limits() ? ExitCode::done : ExitCode::failed;
}

ExitCode validate_operators(const std::string& inputs, const Arguments& arguments, Context& context) {
    std::optional<study::OperatorStudy> study;
    model::Plan plan;
    parallel::on_all_ranks(context.communicator, [&] {
        model::OperatorTables tables =
            input::read_operator_tables(inputs + "/measurements/operators/tables.toml", arguments.texts("rows"));
        plan.files = tables.files;
        study.emplace(std::move(tables));
    });
    return run_planned(*study, arguments, context, plan, [&](const study::OperatorStudy::State& state) {
        return print_validation(study->answer(state), arguments, context);
    });
}

}  // namespace

ExitCode run_validate(const Arguments& arguments, Context& context) {
    const std::string& what = arguments.positional()[0];
    const std::vector<std::string> kinds{"train", "avail", "serve", "ops"};
    if (std::find(kinds.begin(), kinds.end(), what) == kinds.end())
        throw_usage_error(what, "nothing to validate under this name", base::nearest_name(what, kinds));
    const std::string inputs = shipped_inputs();
    const bool own_chains = what == "avail" && arguments.has("rows");  // chains bring all that they need
    if (inputs.empty() && !own_chains)
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    if (arguments.has("fit")) {
        if (what != "serve") throw_usage_error("--fit", "belongs to validate serve", "");
        return fit_engines(inputs, arguments, context);
    }
    if (what == "ops") return validate_operators(inputs, arguments, context);
    std::optional<study::ValidateStudy> study;
    model::Plan plan;  // rows bring their own models and cards
    parallel::on_all_ranks(context.communicator, [&] {
        if (what == "avail") {
            study.emplace(input::read_chains(arguments.has("rows") ? arguments.texts("rows")
                                                                   : std::vector{inputs + "/measurements/avail"}));
        } else if (what == "serve") {
            model::ServeMeasurements measurements = input::read_serve_measurements(inputs, arguments.texts("rows"));
            plan.files = measurements.files;
            study.emplace(std::move(measurements), !arguments.has("rows"));
        } else {
            model::Measurements measurements = input::read_measurements(inputs, arguments.texts("rows"));
            plan.files = measurements.files;
            study.emplace(std::move(measurements));
        }
    });
    return run_planned(*study, arguments, context, plan, [&](const study::ValidateStudy::State& state) {
        return print_validation(study->answer(state), arguments, context);
    });
}

}  // namespace windtunnel::app
