#include "windtunnel/app/running.hpp"

#include <fmt/format.h>

#include "windtunnel/app/build_info.hpp"
#include "windtunnel/app/plan_facts.hpp"
#include "windtunnel/report/plan_summary.hpp"
#include "windtunnel/report/result_file.hpp"

namespace windtunnel::app {
namespace {

constexpr std::int64_t most_threads = 4096;
constexpr std::int64_t most_parts = 1'000'000'000;

driver::Existing existing_of(const Arguments& arguments) {
    if (arguments.has("resume") && arguments.has("overwrite"))
        throw_usage_error("--resume", "given together with --overwrite", "one of the two");
    if (arguments.has("resume")) return driver::Existing::resume;
    return arguments.has("overwrite") ? driver::Existing::overwrite : driver::Existing::refuse;
}

std::optional<store::Part> part_of(const Arguments& arguments) {
    if (!arguments.has("part")) return std::nullopt;
    const std::string text = arguments.text("part");
    const auto slash = text.find('/');
    const auto index = to_integer(text.substr(0, slash));
    const auto count = slash == std::string::npos ? std::nullopt : to_integer(text.substr(slash + 1));
    if (!index || !count || *count < 1 || *count > most_parts || *index < 0 || *index >= *count)
        throw_usage_error("--part", fmt::format("\"{}\" is no part", text), "I/N with 0 <= I < N, for example 0/4");
    return store::Part{static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*count)};
}

void need_output(const Arguments& arguments) {
    for (const char* name : {"resume", "overwrite", "part"}) {
        if (arguments.has(name) && !arguments.has("output"))
            throw_usage_error(std::string{"--"} + name, "needs a result file", "-o FILE.h5");
    }
}

}  // namespace

driver::RunOptions run_options_of(const Arguments& arguments, const Context& context, const model::Plan& plan) {
    driver::RunOptions options;
    options.existing = existing_of(arguments);
    options.part = part_of(arguments);
    need_output(arguments);
    if (arguments.has("output") && arguments.text("output").empty())
        throw_usage_error("--output", "the name is empty", "FILE.h5");
    options.output = context.gather ? context.gather->output : arguments.text("output");
    if (context.gather) {
        options.existing = context.gather->existing;
        options.part = std::nullopt;
    }
    options.threads = static_cast<int>(arguments.integer("threads", 1, most_threads).value_or(0));
    options.verbosity = context.log.level() >= LogLevel::info ? driver::Verbosity::normal : driver::Verbosity::quiet;
    options.progress = context.progress_allowed ? driver::ShowProgress::yes : driver::ShowProgress::no;
    options.seed = plan.seed;
    options.command = context.words;
    options.plan_text = plan.resolved_text;
    options.versions = version_text();
    for (const model::InputFile& file : plan.files)
        options.files.push_back({file.role, file.path, file.text, file.hash});
    options.implicit_defaults = plan.implicit_defaults;
    options.assumptions = plan.assumptions;
    return options;
}

ExitCode print_dry_run(const Arguments& arguments, Context& context, const model::Plan& plan) {
    if (!context.communicator.is_root()) return ExitCode::done;
    (void)run_options_of(arguments, context, plan);  // options that contradict each other
    const report::PlanFacts facts = plan_facts(plan);
    context.out << (arguments.has("json") ? report::plan_json(plan, facts) : report::plan_text(plan, facts));
    return ExitCode::done;
}

void print_outcome(const Arguments& arguments, Context& context, const driver::RunOptions& options,
                   driver::RunStatus status, const std::vector<store::Table>& tables) {
    using driver::RunStatus;
    const std::string journal = options.output + ".journal";
    switch (status) {
        case RunStatus::complete:
            return;
        case RunStatus::part_done:
            context.log.info(
                fmt::format("this part is done: {}; merge with windtunnel gather JOURNAL... -o FILE.h5", journal));
            return;
        case RunStatus::interrupted:
            context.log.warning(options.output.empty() ? "interrupted; without -o nothing can be resumed"
                                                       : fmt::format("interrupted; --resume goes on from {}", journal));
            return;
        case RunStatus::incomplete:
            context.log.warning(fmt::format("blocks are missing: {} is marked incomplete", options.output));
            break;
        case RunStatus::already_complete:
            context.log.info(fmt::format("{} is whole and from this plan: nothing to do", options.output));
            break;
    }
    report::ResultFile file;
    file.path = options.output;
    file.whole = status == RunStatus::already_complete;
    file.tables = tables;
    for (const store::Table& table : tables) file.num_rows.push_back(table.num_rows());
    if (arguments.has("json")) {
        context.out << report::json(file);
        return;
    }
    for (const store::Table& table : tables)
        context.out << fmt::format("{}: {}\n", table.schema.path, table.schema.long_name) << report::text(table);
}

}  // namespace windtunnel::app
