#include "windtunnel/app/calibrate.hpp"

#include <filesystem>
#include <optional>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/common_options.hpp"
#include "windtunnel/app/running.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/parallel/first_error.hpp"
#include "windtunnel/report/calibration.hpp"
#include "windtunnel/store/result_reader.hpp"
#include "windtunnel/study/calibrate_study.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::app {
namespace {

constexpr int most_files = 1000;

std::uint64_t number_of(const Arguments& arguments, const char* name, std::int64_t least, std::int64_t most,
                        std::int64_t usual) {
    return static_cast<std::uint64_t>(arguments.integer(name, least, most).value_or(usual));
}

/// The versions of an earlier result file, columns in the order of the schema.
store::Table history_of(const std::string& path) {
    store::Table history = store::empty_table(study::calibrate_versions_schema());
    const store::ResultReader reader{path};
    for (const std::string& table : reader.table_paths()) {
        if (table != history.schema.path) continue;
        const store::Table read = reader.read(table);
        std::size_t found = 0;
        for (std::size_t to = 0; to < history.columns.size(); ++to)
            for (std::size_t from = 0; from < read.columns.size(); ++from)
                if (read.schema.columns[from].name == history.schema.columns[to].name &&
                    read.columns[from].index() == history.columns[to].index()) {
                    history.columns[to] = read.columns[from];
                    ++found;
                }
        if (found == history.columns.size()) return history;
    }
    throw_usage_error("--history", path + " has no table " + history.schema.path, "a result file of calibrate");
}

study::CalibrateOptions options_of(const Arguments& arguments, const model::Measurements& measurements) {
    study::CalibrateOptions options;
    options.sets = arguments.texts("set");
    options.starts = number_of(arguments, "starts", 1, 1000, 6);
    options.folds = number_of(arguments, "folds", 2, 100, 5);
    options.resamples = number_of(arguments, "resamples", 20, 100'000, 100);
    options.seed = number_of(arguments, "seed", 0, 1'000'000'000, 1);
    options.leave_one_source_out = arguments.has("leave-one-source-out");
    options.all_rows = arguments.has("all-rows");
    if (arguments.has("history")) options.history = history_of(arguments.text("history"));
    if (arguments.has("name") != arguments.has("parent"))
        throw_usage_error(arguments.has("name") ? "--name" : "--parent", "given alone", "--name NEW --parent SET");
    if (!arguments.has("name")) return options;
    if (!options.sets.empty()) throw_usage_error("--set", "given together with --name", "one of the two");
    for (const model::FitSet& spec : measurements.fit_sets)
        if (spec.name == arguments.text("parent")) options.own_set = spec;
    if (!options.own_set) {
        std::string list;
        for (const model::FitSet& spec : measurements.fit_sets) list += (list.empty() ? "" : ", ") + spec.name;
        throw_usage_error("--parent", "\"" + arguments.text("parent") + "\" is no set", "one of " + list);
    }
    options.own_set->parent = options.own_set->name;
    options.own_set->name = arguments.text("name");
    options.own_set->about = "Rows of the user";
    options.own_set->gemm_prior_ratio.reset();
    return options;
}

void write_sets(const std::string& folder, const study::CalibrateAnswer& answer, Context& context) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw base::RunError{"cannot make the folder " + folder + ": " + error.message()};
    for (const study::SetAnswer& set : answer.sets)
        write_file((std::filesystem::path{folder} / (set.spec.name + ".toml")).string(), report::calibration_toml(set));
    context.log.info(folder + ": one file a set written");
}

}  // namespace

Command calibrate_command() {
    return {"calibrate",
            "Fits efficiencies of cards and software to measured steps, with hold-out, intervals and drift.",
            "[DATA.json...]",
            0,
            most_files,
            together({{{"set", "NAME", "only this set of inputs/measurements/train/fit.toml", "all", true},
                       {"name", "NAME", "one new set of this name from all rows of DATA, with --parent", "none"},
                       {"parent", "SET", "set whose values are the priors of the new one", "none"},
                       {"all-rows", "", "fit to every row, not only to those whose hash is below 4 modulo 10"},
                       {"starts", "N", "starting points of each set", "6"},
                       {"folds", "N", "parts of the rows that are held out in turn", "5"},
                       {"resamples", "N", "bootstrap resamples behind the intervals", "100"},
                       {"seed", "N", "seed of starts and resamples", "1"},
                       {"leave-one-source-out", "FILE.toml", "fit again without each source; write what it says there",
                        "none"},
                       {"history", "FILE.h5", "carry on the versions of this result file", "none"},
                       {"write", "FOLDER", "write FOLDER/NAME.toml for each set, for [calibration] file", "none"}},
                      run_options_without_dry_run(),
                      print_options()})};
}

ExitCode run_calibrate(const Arguments& arguments, Context& context) {
    const std::string inputs = shipped_inputs();
    if (inputs.empty())
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    std::optional<study::CalibrateStudy> study;
    model::Plan plan;  // rows bring their own models and cards
    parallel::on_all_ranks(context.communicator, [&] {
        const model::Measurements measurements = input::read_measurements(inputs, arguments.positional());
        plan.files = measurements.files;
        study.emplace(measurements, options_of(arguments, measurements));
    });
    return run_planned(*study, arguments, context, plan, [&](const study::CalibrateStudy::State& state) {
        const study::CalibrateAnswer answer = study->answer(state);
        if (arguments.has("write")) write_sets(arguments.text("write"), answer, context);
        if (arguments.has("leave-one-source-out"))
            write_file(arguments.text("leave-one-source-out"), report::left_out_toml(answer));
        context.out << (arguments.has("json") ? report::calibration_json(answer) : report::calibration_text(answer));
        return ExitCode::done;
    });
}

}  // namespace windtunnel::app
