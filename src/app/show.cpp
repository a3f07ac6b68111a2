#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/report/result_file.hpp"
#include "windtunnel/store/result_reader.hpp"

namespace windtunnel::app {

Command show_command() {
    return {"show",
            "Prints a result file: how it was made, and the first rows of each table.",
            "RESULT.h5",
            1,
            1,
            together({{top_option("20"),
                       {"table", "PATH", "only this table, for example search/best", "all", true},
                       {"json", "", "print JSON with exact values"},
                       {"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_show(const Arguments& arguments, Context& context) {
    constexpr std::int64_t most_rows = 1'000'000'000;
    constexpr std::int64_t usual_rows = 20;
    const auto top = static_cast<std::uint64_t>(arguments.integer("top", 1, most_rows).value_or(usual_rows));
    const std::string path = arguments.positional()[0];
    const store::ResultReader reader{path};

    std::vector<std::string> wanted = arguments.texts("table");
    const std::vector<std::string> present = reader.table_paths();
    for (const std::string& name : wanted) {
        if (std::ranges::find(present, name) == present.end())
            throw_usage_error("--table", path + " has no table " + name, fmt::format("{}", fmt::join(present, ", ")));
    }
    if (wanted.empty()) wanted = present;

    report::ResultFile file;
    file.path = path;
    file.whole = reader.completeness() == store::Completeness::whole;
    file.provenance = reader.provenance();
    for (const std::string& name : wanted) {
        file.tables.push_back(reader.read(name, 0, top));
        file.num_rows.push_back(reader.num_rows(name));
    }
    context.out << (arguments.has("json") ? report::json(file) : report::text(file));
    return ExitCode::done;
}

}  // namespace windtunnel::app
