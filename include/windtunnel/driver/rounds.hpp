#pragma once
/// Round after round: what is missing is computed, everything is absorbed in block order.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/driver/any_study.hpp"
#include "windtunnel/driver/block_store.hpp"
#include "windtunnel/driver/crew.hpp"
#include "windtunnel/driver/progress.hpp"

namespace windtunnel::driver {

enum class Missing {
    compute,        ///< a run
    compute_later,  ///< gather of parts: round 0 must be there, later rounds are computed
    leave           ///< gather of an unfinished run
};

struct RoundsDone {
    bool interrupted = false;    ///< SIGUSR1
    bool whole = true;           ///< every block of every round was absorbed
    std::uint64_t resumed = 0;   ///< blocks that were there before
    std::uint64_t computed = 0;  ///< blocks of this start
    std::vector<study::Round> rounds;
};

/// All rounds of the study.
[[nodiscard]] RoundsDone run_rounds(const AnyStudy& study, Missing missing, BlockStore& blocks, Crew& crew,
                                    Progress& progress);
/// Every part.count-th block of round 0 from part.index on, into the journal; nothing is absorbed.
[[nodiscard]] RoundsDone run_part(const AnyStudy& study, store::Part part, BlockStore& blocks, Crew& crew,
                                  Progress& progress);

}  // namespace windtunnel::driver
