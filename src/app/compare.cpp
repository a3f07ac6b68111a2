#include "windtunnel/app/commands.hpp"
#include "windtunnel/report/comparison.hpp"
#include "windtunnel/store/result_reader.hpp"

namespace windtunnel::app {
namespace {

report::ResultFile whole_file(const std::string& path, std::uint64_t most_rows) {
    const store::ResultReader reader{path};
    report::ResultFile file;
    file.path = path;
    file.whole = reader.completeness() == store::Completeness::whole;
    file.provenance = reader.provenance();
    for (const std::string& name : reader.table_paths()) {
        file.tables.push_back(reader.read(name, 0, most_rows));
        file.num_rows.push_back(reader.num_rows(name));
    }
    return file;
}

}  // namespace

Command compare_command() {
    constexpr int most_files = 1000;
    return {"compare",
            "Differences of result files to the first one: inputs, and numbers with their intervals.",
            "A.h5 B.h5...",
            2,
            most_files,
            together({{{"top", "N", "rows of each table that are compared", "100000"},
                       {"json", "", "print JSON; an array of comparisons for more than two files"},
                       {"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_compare(const Arguments& arguments, Context& context) {
    constexpr std::int64_t most_rows = 1'000'000'000;
    constexpr std::int64_t usual_rows = 100'000;
    const auto rows = static_cast<std::uint64_t>(arguments.integer("top", 1, most_rows).value_or(usual_rows));
    const auto& paths = arguments.positional();
    const report::ResultFile first = whole_file(paths[0], rows);
    const bool json = arguments.has("json"), array = json && paths.size() > 2;
    for (std::size_t i = 1; i < paths.size(); ++i) {
        const report::ResultFile other = whole_file(paths[i], rows);
        if (array) context.out << (i == 1 ? "[\n" : ",\n");
        context.out << (json ? report::comparison_json(first, other) : report::comparison_text(first, other));
    }
    if (array) context.out << "]\n";
    return ExitCode::done;
}

}  // namespace windtunnel::app
