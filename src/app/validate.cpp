#include <algorithm>
#include <optional>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/chains.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/parallel/first_error.hpp"
#include "windtunnel/report/validation.hpp"
#include "windtunnel/study/validate_study.hpp"

namespace windtunnel::app {

Command validate_command() {
    return {"validate",
            "Published measurements against the model, a line each; code 1 when a family is outside its limit.",
            "train|avail",
            1,
            1,
            together({{{"rows", "FILE|FOLDER", "only the rows of this record file (JSON), or of these chain files",
                        "those that are shipped", true},
                       {"csv", "FILE.csv", "write the table as CSV", "none"}},
                      run_options_without_dry_run(),
                      print_options()})};
}

ExitCode run_validate(const Arguments& arguments, Context& context) {
    const std::string& what = arguments.positional()[0];
    const std::vector<std::string> kinds{"train", "avail"};
    if (std::find(kinds.begin(), kinds.end(), what) == kinds.end())
        throw_usage_error(what, "nothing to validate under this name", base::nearest_name(what, kinds));
    const std::string inputs = shipped_inputs();
    const bool own_chains = what == "avail" && arguments.has("rows");  // chains bring all that they need
    if (inputs.empty() && !own_chains)
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    std::optional<study::ValidateStudy> study;
    model::Plan plan;  // rows bring their own models and cards
    parallel::on_all_ranks(context.communicator, [&] {
        if (what == "avail") {
            study.emplace(input::read_chains(arguments.has("rows") ? arguments.texts("rows")
                                                                   : std::vector{inputs + "/measurements/avail"}));
        } else {
            model::Measurements measurements = input::read_measurements(inputs, arguments.texts("rows"));
            plan.files = measurements.files;
            study.emplace(std::move(measurements));
        }
    });
    return run_planned(*study, arguments, context, plan, [&](const study::ValidateStudy::State& state) {
        const study::ValidateAnswer answer = study->answer(state);
        if (arguments.has("csv")) write_file(arguments.text("csv"), report::validation_csv(answer.rows));
        context.out << (arguments.has("json") ? report::validation_json(answer.rows, answer.families, answer.figures)
                                              : report::validation_text(answer.rows, answer.families, answer.figures));
        return answer.within_limits() ? ExitCode::done : ExitCode::failed;
    });
}

}  // namespace windtunnel::app
