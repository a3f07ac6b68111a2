#include "windtunnel/driver/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "windtunnel/base/build_info.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/file.hpp"
#include "windtunnel/store/result_reader.hpp"
#include "windtunnel/store/result_writer.hpp"

namespace windtunnel::driver {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string message, std::string expected) {
    throw base::InputError{{{path, 0, 0, "", std::move(message), std::move(expected)}}};
}

void check_place(const std::string& path) {
    const auto kind = store::path_kind(path);
    if (kind == store::PathKind::folder)
        throw base::RunError{
            fmt::format("the output {} is a folder; give a file name, for example {}/run.h5", path, path)};
    if (kind == store::PathKind::other)
        throw base::RunError{fmt::format("the output {} is no ordinary file; give another name", path)};
    const std::string folder = store::folder_of(path);
    if (store::path_kind(folder) != store::PathKind::folder)
        throw base::RunError{
            fmt::format("the folder {} of the output {} does not exist; create it first", folder, path)};
}

}  // namespace

std::string journal_path(const std::string& output) {
    return output + ".journal";
}
std::string lock_path(const std::string& output) {
    return output + ".lock";
}

std::string this_program() {
    const base::BuildInfo build = base::build_info();
    return fmt::format("windtunnel {}, git {}", build.version, build.git_state);
}

Output::Output(const AnyStudy& study, const RunOptions& options, SignalGuard& signals)
    : path_{options.output}, journal_path_{journal_path(path_)}, signals_{signals} {
    check_place(path_);
    lock_ = std::make_unique<store::Lock>(lock_path(path_));
    if (!lock_->stale_owner().empty())
        notes_.push_back(fmt::format("took over the stale lock {} of {}", lock_->path(), lock_->stale_owner()));
    signals_.guard_files({lock_->path(), path_ + ".tmp", journal_path_ + ".new"});
    store::JournalHeader header{
        study.identity, options.seed, options.part.value_or(store::Part{}), options.command, {}};
    std::error_code ignored;
    header.working_folder = std::filesystem::current_path(ignored).string();
    header.divided = options.part.has_value();
    header.program = this_program();
    look_at_result(header, options);
    if (!already_complete_) open_journal(header, options);
}

Output::Output(const RunOptions& options, SignalGuard& signals, const store::JournalHeader& header)
    : path_{options.output}, journal_path_{path_ + ".gather"}, signals_{signals} {
    check_place(path_);
    lock_ = std::make_unique<store::Lock>(lock_path(path_));
    if (!lock_->stale_owner().empty())
        notes_.push_back(fmt::format("took over the stale lock {} of {}", lock_->path(), lock_->stale_owner()));
    if (options.existing != Existing::overwrite && store::path_kind(path_) != store::PathKind::absent) {
        const store::ResultReader result{path_};
        if (result.completeness() == store::Completeness::whole || result.provenance().identity != header.identity)
            refuse(path_, "the result exists already", "another name, or --overwrite");
        notes_.push_back(fmt::format("{} was incomplete and is made again", path_));
    }
    scratch_ = true;
    signals_.guard_files({lock_->path(), path_ + ".tmp", journal_path_, journal_path_ + ".new"});
    journal_ = store::Journal::create(journal_path_, header);
}

Output::~Output() {
    if (!scratch_) return;
    std::error_code ignored;
    std::filesystem::remove(journal_path_, ignored);
}

void Output::look_at_result(const store::JournalHeader& header, const RunOptions& options) {
    if (store::path_kind(path_) == store::PathKind::absent || options.existing == Existing::overwrite) return;
    if (options.existing == Existing::refuse)
        refuse(path_, "the result exists already", "another name, --resume or --overwrite");
    const store::ResultReader result{path_};
    const store::Provenance provenance = result.provenance();
    store::JournalHeader theirs = header;
    theirs.identity = provenance.identity;
    theirs.seed = provenance.seed;
    std::string difference;
    if (theirs.seed != header.seed)
        difference = fmt::format("seed: {} in the result, {} here", theirs.seed, header.seed);
    else if (theirs.identity != header.identity)
        difference = "plan, " + store::first_difference(theirs.identity, header.identity, "the result");
    // A journal beside it was begun with --overwrite, which settled what becomes of the result.
    if (!difference.empty() && store::path_kind(journal_path_) == store::PathKind::file) return;
    if (!difference.empty())
        refuse(path_, "the result belongs to another run: " + difference, "the same plan and options, or --overwrite");
    if (result.completeness() != store::Completeness::whole) return;
    already_complete_ = true;
    store::remove_file(journal_path_);
}

void Output::open_journal(const store::JournalHeader& header, const RunOptions& options) {
    const bool there = store::path_kind(journal_path_) != store::PathKind::absent;
    if (there && options.existing == Existing::refuse)
        refuse(journal_path_, "the journal of an unfinished run exists already",
               "--resume, --overwrite or another name");
    if (there && options.existing == Existing::resume) {
        journal_ = store::Journal::resume(journal_path_, header);
        notes_.push_back(fmt::format("resumed {}: {} finished blocks", journal_path_, journal_->num_blocks()));
        if (journal_->damaged_bytes() > 0)
            notes_.push_back(
                fmt::format("the last {} bytes of {} were torn or damaged and are cut; their blocks are "
                            "computed again",
                            journal_->damaged_bytes(), journal_path_));
    } else {
        if (options.existing == Existing::resume)
            notes_.push_back(fmt::format("there is no journal {}; starting from the beginning", journal_path_));
        journal_ = store::Journal::create(journal_path_, header);
    }
    signals_.guard_journal(journal_->descriptor());
}

std::optional<store::Journal> Output::take_journal() {
    return std::exchange(journal_, std::nullopt);
}

void Output::remove_journal() {
    signals_.release_journal();
    store::remove_file(journal_path_);
}

void write_result(const std::string& path, const AnyStudy& study, const std::vector<store::Table>& tables,
                  const RoundsDone& done, const BlockStore& blocks, const store::Provenance& provenance) {
    store::ResultWriter writer{path};
    for (const store::Table& table : tables) writer.write(table);

    // Bulk tables: rows of each block, in block order. Twice, because HDF5 wants the width of texts first.
    const auto for_each_block = [&](const auto& use) {
        for (const study::Round& round : done.rounds)
            for (std::uint64_t block = 0; block < round.num_blocks(); ++block)
                if (const store::BlockKey key{round.number, block}; blocks.contains(key))
                    use(study.bulk_rows(round, blocks.read(key)));
    };
    const std::size_t count = study.bulk_tables.size();
    std::vector<store::TextWidths> widths;
    bool has_text = false;
    for (const store::TableSchema& schema : study.bulk_tables) {
        widths.push_back(store::no_widths(schema));
        has_text = has_text || std::ranges::any_of(schema.columns, [](const store::ColumnSchema& column) {
                       return column.type == store::ColumnType::text;
                   });
    }
    if (has_text)
        for_each_block([&](const std::vector<store::Table>& rows) {
            for (std::size_t table = 0; table < count; ++table) store::widen(widths[table], rows[table]);
        });
    std::vector<std::size_t> numbers;
    for (std::size_t table = 0; table < count; ++table)
        numbers.push_back(writer.begin(study.bulk_tables[table], widths[table]));
    if (count > 0)
        for_each_block([&](const std::vector<store::Table>& rows) {
            for (std::size_t table = 0; table < count; ++table) writer.append(numbers[table], rows[table]);
        });
    writer.finish(provenance, done.whole ? store::Completeness::whole : store::Completeness::partial);
}

std::vector<store::Table> read_tables(const std::string& path, const std::vector<store::TableSchema>& without) {
    const store::ResultReader result{path};
    std::vector<store::Table> tables;
    for (const std::string& table : result.table_paths())
        if (std::ranges::none_of(without, [&](const store::TableSchema& schema) { return schema.path == table; }))
            tables.push_back(result.read(table));
    return tables;
}

}  // namespace windtunnel::driver
