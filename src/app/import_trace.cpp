#include "windtunnel/app/import_trace.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/input/traces.hpp"
#include "windtunnel/report/trace_fit.hpp"

namespace windtunnel::app {
namespace {

namespace fs = std::filesystem;

/// The rows go to a file beside the wanted one, which takes its place when all of them are good.
class RowsFile {
public:
    explicit RowsFile(const fs::path& path) : path_{path}, part_{path.string() + ".part"} {
        file_.open(part_, std::ios::binary | std::ios::trunc);
    }
    ~RowsFile() {
        std::error_code ignored;
        fs::remove(part_, ignored);
    }
    RowsFile(const RowsFile&) = delete;
    RowsFile& operator=(const RowsFile&) = delete;

    void write(const std::string& text) { file_ << text; }
    void keep() {
        file_.close();
        std::error_code error;
        if (file_) fs::rename(part_, path_, error);
        if (!file_ || error) throw base::RunError{path_.string() + ": cannot be written; choose another folder"};
    }

private:
    fs::path path_, part_;
    std::ofstream file_;
};

}  // namespace

ExitCode import_trace(const Arguments& arguments, Context& context) {
    if (arguments.has("id")) throw_usage_error("--id", "belongs to import record", "no --id");
    if (!arguments.has("output") || arguments.text("output").empty())
        throw_usage_error("--output", "is missing", "import trace FILE -o FOLDER");
    const std::string& path = arguments.positional()[1];
    const fs::path folder{arguments.text("output")};
    for (const char* name : {"requests.csv", "load.toml"})
        if (!arguments.has("overwrite") && std::ifstream{folder / name}.good())
            throw_usage_error("--output", (folder / name).string() + " exists", "another folder, or --overwrite");
    std::ifstream file{path, std::ios::binary};
    if (!file || fs::is_directory(path))
        throw base::InputError{{{path, 0, 0, {}, "cannot be read", "a request trace"}}};
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw base::RunError{"cannot make the folder " + folder.string() + ": " + error.message()};

    std::vector<base::Finding> findings;
    input::TraceReader reader{path, findings};
    serve::TraceStatistics statistics;
    RowsFile rows{folder / "requests.csv"};
    model::TraceRow row;
    std::vector<std::uint32_t> blocks;
    std::string line;
    bool headed = false;
    while (!reader.hopeless() && std::getline(file, line)) {
        if (!reader.line(line, row, blocks)) continue;
        if (!headed) rows.write(report::trace_heading(reader.block_tokens() > 0));
        headed = true;
        statistics.add(row);
        rows.write(report::trace_line(row, blocks, reader.block_tokens() > 0));
    }
    reader.finish();
    if (!findings.empty()) throw base::InputError{std::move(findings)};
    rows.keep();
    const serve::TraceFit fit = statistics.fit();
    write_file((folder / "load.toml").string(), report::trace_fit_toml(fit, fs::path{path}.filename().string()));
    context.out << report::trace_fit_text(fit, reader.format());
    context.log.info(
        fmt::format("{} and {} written", (folder / "requests.csv").string(), (folder / "load.toml").string()));
    return ExitCode::done;
}

}  // namespace windtunnel::app
