#pragma once
/// Where a result comes from: everything that is not a result but is needed to make it again.
#include <cstdint>
#include <string>
#include <vector>

#include "windtunnel/store/table.hpp"

namespace windtunnel::store {

/// A file that the run read.
struct ProvenanceFile {
    std::string role;  ///< plan, model, cluster, ...
    std::string path;
    std::string text;
    std::uint64_t hash = 0;  ///< FNV-1a, 64 bit, of the text
};

struct Provenance {
    std::string identity;  ///< canonical text of the study: what was computed
    std::string plan;      ///< resolved plan as text
    std::string command;   ///< command line
    std::uint64_t seed = 0;
    std::int64_t ranks = 1;
    std::int64_t threads = 1;         ///< per rank
    std::string host;                 ///< of rank 0
    std::string versions;             ///< program, git state, compiler, MPI, HDF5; one a line
    std::string start;                ///< UTC, ISO 8601
    std::string end;                  ///< UTC, ISO 8601
    double elapsed_s = 0.0;           ///< wall clock of this part of the run
    std::string exit_state;           ///< done, or incomplete
    std::int64_t blocks = 0;          ///< in the result
    std::int64_t blocks_resumed = 0;  ///< of them, read from a journal
    std::vector<ProvenanceFile> files;
    std::vector<std::string> implicit_defaults;  ///< values that nobody wrote
    std::vector<std::string> assumptions;        ///< values without a source
};

/// One scalar dataset of /provenance: text, or one of the three members when they are set.
struct ProvenanceField {
    std::string name;
    std::string units;
    std::string long_name;
    std::string Provenance::*text = nullptr;
    std::int64_t Provenance::*integer = nullptr;
    double Provenance::*real = nullptr;
};

/// The scalars, in the order of the file; the seed (64 bits, unsigned) stands beside them.
[[nodiscard]] const std::vector<ProvenanceField>& provenance_fields();

/// The tables /provenance/inputs, /provenance/implicit_defaults and /provenance/assumptions.
[[nodiscard]] std::vector<TableSchema> provenance_schemas();
[[nodiscard]] std::vector<Table> provenance_tables(const Provenance& provenance);
/// The way back. Tables as provenance_schemas() orders them.
void take_provenance_tables(const std::vector<Table>& tables, Provenance& provenance);

/// FNV-1a, 64 bit.
[[nodiscard]] std::uint64_t text_hash(std::string_view text) noexcept;

/// Time now: UTC, ISO 8601, seconds.
[[nodiscard]] std::string utc_now();

/// Name of this host.
[[nodiscard]] std::string host_name();

/// Version of the HDF5 library that is linked.
[[nodiscard]] std::string hdf5_version();

/// "line 3: `a = 1` in the journal, `a = 2` here"; empty when equal.
[[nodiscard]] std::string first_difference(std::string_view theirs, std::string_view ours, std::string_view where);

}  // namespace windtunnel::store
