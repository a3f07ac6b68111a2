#pragma once
/// The files of a run at rank 0: lock, journal, result.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/driver/any_study.hpp"
#include "windtunnel/driver/block_store.hpp"
#include "windtunnel/driver/options.hpp"
#include "windtunnel/driver/rounds.hpp"
#include "windtunnel/driver/signals.hpp"
#include "windtunnel/store/lock.hpp"

namespace windtunnel::driver {

[[nodiscard]] std::string journal_path(const std::string& output);
[[nodiscard]] std::string lock_path(const std::string& output);
/// Version and git state, as a journal notes it.
[[nodiscard]] std::string this_program();

/// Lock and journal of `options.output`, as `options.existing` says.
class Output {
public:
    /// Throws base::InputError when something is there that must not be touched or belongs to another run.
    Output(const AnyStudy& study, const RunOptions& options, SignalGuard& signals);
    /// The output of `gather`: a scratch journal for the rounds that it computes; `sources` are not touched. An
    /// incomplete result of the same study is replaced.
    Output(const RunOptions& options, SignalGuard& signals, const store::JournalHeader& header);
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output();

    /// --resume found the whole result of this plan.
    [[nodiscard]] bool already_complete() const noexcept { return already_complete_; }
    /// What happened to old files, for people.
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
    [[nodiscard]] std::optional<store::Journal> take_journal();
    /// The result is on disk: the journal has done its work. The BlockStore must have let go of it.
    void remove_journal();

private:
    void open_journal(const store::JournalHeader& header, const RunOptions& options);
    void look_at_result(const store::JournalHeader& header, const RunOptions& options);

    std::string path_;
    std::string journal_path_;
    SignalGuard& signals_;
    std::unique_ptr<store::Lock> lock_;
    std::optional<store::Journal> journal_;
    bool already_complete_ = false;
    bool scratch_ = false;  ///< the journal is of no use to anybody once this ends
    std::vector<std::string> notes_;
};

/// Writes the result of the rounds that were done.
void write_result(const std::string& path, const AnyStudy& study, const std::vector<store::Table>& tables,
                  const RoundsDone& done, const BlockStore& blocks, const store::Provenance& provenance);

/// The tables of a result file, without those that are read in pieces.
[[nodiscard]] std::vector<store::Table> read_tables(const std::string& path,
                                                    const std::vector<store::TableSchema>& without);

}  // namespace windtunnel::driver
