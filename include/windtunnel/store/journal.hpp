#pragma once
/// The journal of a run: finished blocks, append-only, until the result file is whole.
///
/// File: a prelude (8 bytes magic, format version, CRC-32), a header record (JournalHeader), then one record per block.
/// Record: magic, round, block, payload size, CRC-32 of these; payload; CRC-32 of all before it. One write(2) each.
/// A thread calls fdatasync(2) every second while there is something new. Reading stops at the first record that is
/// not whole: everything before it is good. No length is believed before its CRC and the size of the file agree.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "windtunnel/store/file.hpp"

namespace windtunnel::store {

/// Share of the work: every `count`-th block from `index` on.
struct Part {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
    friend bool operator==(const Part&, const Part&) = default;
};

struct JournalHeader {
    std::string identity;  ///< canonical text of the study; equal texts may share a journal
    std::uint64_t seed = 0;
    Part part;
    std::vector<std::string> command;  ///< arguments of the run, for `gather`; not compared
    std::string working_folder;        ///< where the command was given; not compared
    bool divided = false;              ///< made with --part, also 0/1: `gather` computes the later rounds; not compared
    std::string program{};             ///< version and git state: another one may cut the work, or compute, otherwise
};

struct BlockKey {
    std::uint32_t round = 0;
    std::uint64_t block = 0;
    friend auto operator<=>(const BlockKey&, const BlockKey&) = default;
};

/// "seed: 1 in the journal, 2 here", the first line of the identity that differs, ...; empty: they fit.
[[nodiscard]] std::string header_difference(const JournalHeader& journal, const JournalHeader& ours);

class Journal {
public:
    /// A new journal; replaces an old one at once (written aside, then renamed).
    [[nodiscard]] static Journal create(const std::string& path, const JournalHeader& header);
    /// Opens to continue: cuts a torn or damaged tail. Throws base::InputError when it belongs to something else (the
    /// first difference is named) and base::RunError when the header cannot be read.
    [[nodiscard]] static Journal resume(const std::string& path, const JournalHeader& header);
    /// Opens to read only; the tail is left as it is.
    [[nodiscard]] static Journal open(const std::string& path);

    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const JournalHeader& header() const noexcept { return header_; }
    [[nodiscard]] std::uint64_t num_blocks() const noexcept { return num_blocks_; }
    /// Bytes after the last good record that were found when it was opened: cut by resume(), ignored by open().
    [[nodiscard]] std::uint64_t damaged_bytes() const noexcept { return damaged_bytes_; }
    [[nodiscard]] bool contains(BlockKey key) const;
    /// The payload of a block that is there, read from disk and checked again.
    [[nodiscard]] std::string read(BlockKey key) const;
    /// One write; a failed one is taken back and throws base::RunError. A block that is there already is left out.
    void append(BlockKey key, std::string_view payload);
    /// fdatasync now.
    void sync();
    /// For a signal handler; -1 when opened to read only.
    [[nodiscard]] int descriptor() const noexcept { return file_.descriptor(); }

private:
    struct Place {
        std::uint64_t offset = 0;  ///< of the payload
        std::uint64_t size = 0;
    };
    class Syncer;

    explicit Journal(std::string path);
    void read_header();
    void scan();
    void start_syncing();

    std::string path_;
    File file_;
    JournalHeader header_;
    std::uint64_t end_ = 0;  ///< offset after the last good record
    std::uint64_t num_blocks_ = 0;
    std::uint64_t damaged_bytes_ = 0;
    std::map<std::uint32_t, std::unordered_map<std::uint64_t, Place>> places_;
    std::unique_ptr<Syncer> syncer_;
};

}  // namespace windtunnel::store
