#include <filesystem>
#include <fstream>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/import_trace.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/input/records.hpp"
#include "windtunnel/report/model_file.hpp"
#include "windtunnel/report/row_files.hpp"

namespace windtunnel::app {
namespace {

void refuse_existing(const Arguments& arguments, const std::string& path) {
    if (!arguments.has("overwrite") && std::ifstream{path}.good())
        throw_usage_error("--output", path + " exists", "another name, or --overwrite");
}

ExitCode import_model(const Arguments& arguments, Context& context) {
    if (arguments.has("id")) throw_usage_error("--id", "belongs to import record", "no --id");
    const std::string& path = arguments.positional()[1];
    const std::string text = report::model_toml(input::read_model(path), path + " (Hugging Face configuration)");
    if (!arguments.has("output")) {
        context.out << text;
        return ExitCode::done;
    }
    refuse_existing(arguments, arguments.text("output"));
    write_file(arguments.text("output"), text);
    context.log.info(arguments.text("output") + " written");
    return ExitCode::done;
}

const model::PublishedRow& row_of(const model::Measurements& measurements, const std::string& id) {
    std::vector<std::string> ids;
    for (const model::PublishedRow& row : measurements.rows) {
        if (row.id == id) return row;
        ids.push_back(row.id);
    }
    throw_usage_error("--id", "\"" + id + "\" is no record of the file", base::nearest_name(id, ids));
}

[[noreturn]] void refuse_row(const std::string& path, const model::PublishedRow& row, const std::string& reason) {
    throw base::InputError{{{path, row.line, 0, row.id, "the row cannot be simulated: " + reason, {}}}};
}

/// Texts of the card and of the calibration behind a row.
std::string card_text(const model::Measurements& measurements, const std::string& id) {
    for (const model::InputFile& file : measurements.files)
        if (file.role == "accelerator" && input::read_accelerator(file.path).id == id) return file.text;
    throw base::RunError{"the shipped file of the accelerator " + id + " was not found again"};
}

std::string calibration_text(const model::Measurements& measurements, const model::PublishedRow& row,
                             const std::string& inputs) {
    const model::CalibrationRule* rule = validate::calibration_of(row, measurements);
    if (rule == nullptr) return {};
    const auto folder = std::filesystem::path{inputs} / "measurements" / "train";
    const std::string path = (folder / rule->name).lexically_normal().string();
    for (const model::InputFile& file : measurements.files)
        if (file.role == "calibration" && file.path == path) return file.text;
    throw base::RunError{"the calibration " + path + " was not found again"};
}

/// Plans have ranges of their own: what a row prints may lie outside.
void check_plan(const std::string& path, const model::PublishedRow& row, const std::vector<report::NamedText>& files) {
    const input::FileProvider texts = [&files](const std::string& name) {
        for (const report::NamedText& file : files)
            if (file.name == name) return input::FileText{file.text, {}};
        return input::FileText{{}, "is missing"};
    };
    try {
        (void)input::read_plan("plan.toml", {}, texts);
    } catch (const base::InputError& error) {
        refuse_row(path, row, "as a plan it breaks a rule: " + error.findings().front().text());
    }
}

ExitCode import_record(const Arguments& arguments, Context& context) {
    const std::string& path = arguments.positional()[1];
    for (const char* name : {"id", "output"})
        if (!arguments.has(name))
            throw_usage_error(std::string{"--"} + name, "is missing", "import record FILE --id ID -o FOLDER");
    const std::string inputs = shipped_inputs();
    if (inputs.empty())
        throw base::RunError{
            "no folder of shipped inputs beside this program; name one with the environment variable "
            "WINDTUNNEL_INPUTS"};
    const model::Measurements measurements = input::read_measurements(inputs, {path});
    const model::PublishedRow& row = row_of(measurements, arguments.text("id"));
    const validate::RowJob job = validate::row_job(row, measurements);
    if (!job.problem.empty()) refuse_row(path, row, job.problem);
    const auto files = report::row_files(row, job, card_text(measurements, job.job.cluster.accelerator.id),
                                         calibration_text(measurements, row, inputs));
    check_plan(path, row, files);
    const std::filesystem::path folder{arguments.text("output")};
    for (const report::NamedText& file : files) refuse_existing(arguments, (folder / file.name).string());
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw base::RunError{"cannot make the folder " + folder.string() + ": " + error.message()};
    for (const report::NamedText& file : files) write_file((folder / file.name).string(), file.text);
    context.log.info((folder / "plan.toml").string() + " written, and what it names");
    return ExitCode::done;
}

}  // namespace

Command import_command() {
    return {"import",
            "Turns a Hugging Face config.json (the file or its folder) into a model file, or one record of a file of "
            "published measurements into a plan with all that it names, or a request trace into rows and fitted laws.",
            "hf|record|trace FILE",
            2,
            2,
            together({{{"output", "FILE.toml|FOLDER", "write here", "hf: standard output", false, 'o'},
                       {"id", "ID", "which record"},
                       {"overwrite", "", "replace existing files"},
                       {"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_import(const Arguments& arguments, Context& context) {
    const std::vector<std::string> kinds{"hf", "record", "trace"};
    const std::string& kind = arguments.positional()[0];
    if (kind == "hf") return import_model(arguments, context);
    if (kind == "record") return import_record(arguments, context);
    if (kind == "trace") return import_trace(arguments, context);
    throw_usage_error(kind, "unknown kind of import", base::nearest_name(kind, kinds));
}

}  // namespace windtunnel::app
