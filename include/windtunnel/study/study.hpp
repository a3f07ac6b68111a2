#pragma once
/// What the driver asks of a study. A study is a pure function of an index: every function is const, deterministic and
/// free of MPI, files, threads and globals, so the bits do not depend on ranks, threads, order or restarts.
///
///   state = start()
///   while (round = next_round(state)):                 rules that look at results see whole rounds only
///       context = round_context(state, round)          bytes that every rank gets
///       for each block of the round, anywhere:         items cut into blocks, blocks into slices, both fixed by the
///       round
///           partial = merge(evaluate(slice 0), evaluate(slice 1), ...)    in item order
///           journal <- pack(partial)
///       for each block in order: absorb(state, round, block, partial)
///   tables(state); then, streamed in block order, bulk_rows(...) into bulk_tables()
///
/// A partial result (`gather` of an unfinished run) absorbs the blocks that are there, in order, and leaves the others
/// out; tables(state) must cope with that.
///
/// Optional member: `std::string part_refusal() const`. Empty: `--part I/N` may compute every N-th block of round 0 and
/// `gather` computes the later rounds itself. Not empty: why the study cannot be cut into parts. Without the member it
/// cannot.
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windtunnel/store/table.hpp"

namespace windtunnel::study {

/// A fixed amount of work, decided by the plan and by whole earlier rounds, never by speed, ranks or threads.
struct Round {
    std::uint32_t phase = 0;   ///< 0-based; a study numbers its phases (search closed form, search executor, trials)
    std::uint32_t number = 0;  ///< 0-based within the study, over all phases; unique
    std::uint64_t first_item = 0;       ///< items are numbered over the phase
    std::uint64_t num_items = 0;        ///< may be 0: nothing to do, the round is over at once
    std::uint64_t items_per_block = 1;  ///< aim at 1 ms or more; at most 2^32 blocks a round
    std::uint64_t items_per_slice = 1;  ///< what one thread takes at a time; divides items_per_block
    std::string label;                  ///< for progress lines: "search: closed form"

    [[nodiscard]] std::uint64_t num_blocks() const noexcept {
        return num_items == 0 ? 0 : (num_items - 1) / items_per_block + 1;
    }
    friend bool operator==(const Round&, const Round&) = default;
};

/// Half-open range of item numbers of a phase.
struct ItemRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

template <class S>
concept Study = requires(const S& study, typename S::State& state, const typename S::State& seen,
                         typename S::Partial& partial, const typename S::Partial& other, const Round& round,
                         ItemRange items, std::uint64_t block, std::string_view bytes) {
    { study.identity() } -> std::convertible_to<std::string>;  // canonical text; equal texts may share a journal
    { study.start() } -> std::same_as<typename S::State>;
    { study.next_round(seen) } -> std::same_as<std::optional<Round>>;  // empty: finished
    { study.round_context(seen, round) } -> std::convertible_to<std::string>;
    { study.evaluate(round, items, bytes) } -> std::same_as<typename S::Partial>;  // bytes = round context
    {study.merge(partial, other)};                                                 // partial <- partial then other
    { study.pack(other) } -> std::convertible_to<std::string>;
    { study.unpack(bytes) } -> std::same_as<typename S::Partial>;  // throws base::PackError
    {study.absorb(state, round, block, other)};
    { study.tables(seen) } -> std::same_as<std::vector<store::Table>>;
    { study.bulk_tables() } -> std::same_as<std::vector<store::TableSchema>>;  // may be empty
    {
        study.bulk_rows(round, other)
        } -> std::same_as<std::vector<store::Table>>;  // same order as bulk_tables(); rows of one block
};

}  // namespace windtunnel::study
