#pragma once
/// What a run is asked for, and how it ended.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/store/journal.hpp"
#include "windtunnel/store/provenance.hpp"
#include "windtunnel/store/table.hpp"

namespace windtunnel::driver {

/// What to do with a result or journal that is there already.
enum class Existing {
    refuse,    ///< an error
    resume,    ///< continue the journal; a whole result of the same plan is the answer already
    overwrite  ///< start anew
};

enum class Verbosity { quiet, normal };  ///< quiet: warnings and errors only
enum class ShowProgress { yes, no };

struct RunOptions {
    std::string output;  ///< FILE.h5; empty: no file, no journal, everything in memory
    Existing existing = Existing::refuse;
    std::optional<store::Part> part;  ///< --part I/N
    int threads = 0;                  ///< per rank; 0: choose_threads()
    Verbosity verbosity = Verbosity::normal;
    ShowProgress progress = ShowProgress::yes;

    std::uint64_t seed = 0;
    std::vector<std::string> command;  ///< arguments, for provenance and for `gather`
    std::string plan_text;             ///< resolved plan
    std::string versions;              ///< program, git state, compiler
    std::vector<store::ProvenanceFile> files;
    std::vector<std::string> implicit_defaults;
    std::vector<std::string> assumptions;
};

enum class RunStatus {
    complete,          ///< every block is in the result
    already_complete,  ///< --resume found the whole result; tables were read from it
    part_done,         ///< the journal of this part is whole; no result yet
    interrupted,       ///< SIGUSR1; the journal is kept
    incomplete         ///< gather: blocks are missing, the result says so
};
/// 0, or 75 for interrupted and incomplete. (interrupted without a journal: 1, nothing can be resumed)
[[nodiscard]] int exit_code(RunStatus status, bool has_output) noexcept;

/// At rank 0; the other ranks get the status only.
template <class State>
struct Outcome {
    RunStatus status = RunStatus::complete;
    int code = 0;                      ///< exit code of the status
    std::vector<store::Table> tables;  ///< tables(state); without the bulk tables
    State state;                       ///< after the last round; start() when already_complete or part_done
};

}  // namespace windtunnel::driver
