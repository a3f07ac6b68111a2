#pragma once
/// The ranks at work. Rank 0 hands blocks out one by one; a worker has the next block in hand while it computes.
///
/// With several ranks rank 0's main thread only polls and sleeps; its own share is computed by a helper thread. Alone
/// it is a plain loop. Messages are point to point: nobody waits for a rank that has no work, and no collective can
/// hang on unequal numbers of blocks.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "windtunnel/driver/any_study.hpp"
#include "windtunnel/driver/options.hpp"
#include "windtunnel/parallel/communicator.hpp"

namespace windtunnel::driver {

/// Where the blocks of a round come from and go to; called by rank 0's main thread only.
struct BlockFeed {
    std::function<std::optional<std::uint64_t>()> next;  ///< empty: none now
    std::function<std::uint64_t()> remaining;            ///< not handed out yet
    std::function<void(std::uint64_t block, std::string payload)> done;
};

/// Rank 0's side.
class Crew {
public:
    Crew(const AnyStudy& study, parallel::Communicator& communicator, int threads);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// Until next() has none left and every block in hand is done. Throws the first error of any rank.
    void run(const study::Round& round, const std::string& context, const BlockFeed& feed);
    /// Sends the workers home with the outcome: a status, or the error that all ranks shall throw. Waits until they
    /// have answered; after an error at most 10 s, then it ends them with MPI_Abort.
    void dismiss(RunStatus status);
    void dismiss(const std::exception_ptr& error);

private:
    class Helper;
    void send_home(const std::string& bytes, const std::function<void()>& while_waiting);
    void run_alone(const study::Round& round, const std::string& context, const BlockFeed& feed);
    void run_many(const study::Round& round, const std::string& context, const BlockFeed& feed);

    const AnyStudy& study_;
    parallel::Communicator& communicator_;
    base::ForBlocks for_blocks_;
    std::unique_ptr<Helper> helper_;
};

/// Every other rank: computes what it is given until it is sent home. Throws the error that all ranks throw.
[[nodiscard]] RunStatus work(const AnyStudy& study, parallel::Communicator& communicator, int threads);

/// What each rank tells rank 0 first.
struct RankPlace {
    std::string host;
    std::vector<int> cores;
    int threads = 1;
    std::uint64_t identity_hash = 0;
};
/// At rank 0: of all ranks, in their order. Elsewhere: sends, returns nothing.
[[nodiscard]] std::vector<RankPlace> exchange_places(parallel::Communicator& communicator, const RankPlace& mine);

/// "2 ranks x 40 threads; host n1: 80 threads on 40 cores (0-39)".
[[nodiscard]] std::string places_line(const std::vector<RankPlace>& places);
/// A warning for each host or rank with more threads than cores in its affinity mask.
[[nodiscard]] std::vector<std::string> crowded_places(const std::vector<RankPlace>& places);

}  // namespace windtunnel::driver
