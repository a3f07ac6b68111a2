#include "windtunnel/driver/dry_run.hpp"

#include <algorithm>
#include <queue>
#include <vector>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/variates.hpp"
#include "windtunnel/driver/hand_out.hpp"

namespace windtunnel::driver {
namespace {

constexpr std::uint64_t dry_run_purpose = 0x6472;

/// A bundle that is back at rank 0.
struct Arrival {
    Seconds at;
    std::uint64_t number = 0;  ///< ties in the order of sending
    int rank = 0;
    std::uint64_t blocks = 0;
    Seconds worked;
    friend bool operator>(const Arrival& a, const Arrival& b) noexcept {
        return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
};

class VirtualCrew {
public:
    VirtualCrew(const DryRunLoad& load, const DryRunCosts& costs)
        : load_{load}, costs_{costs}, hand_out_{load.ranks - 1}, free_at_(static_cast<std::size_t>(load.ranks - 1)) {}

    DryRun run() {
        serve();
        while (!arrivals_.empty()) {
            const Arrival arrival = arrivals_.top();
            arrivals_.pop();
            now_ = std::max(now_, arrival.at);
            work(costs_.per_message + costs_.per_block * static_cast<double>(arrival.blocks));
            hand_out_.done(arrival.rank, arrival.blocks, arrival.worked);
            ++result_.messages;
            serve();
        }
        result_.wall = now_;
        result_.efficiency = total_work_ / (now_ * static_cast<double>(load_.ranks - 1));
        result_.root_busy = busy_ / now_;
        return result_;
    }

private:
    void work(Seconds time) {
        now_ += time;
        busy_ += time;
    }
    void serve() {
        while (const auto gift = hand_out_.next(load_.blocks - handed_out_)) {
            const std::uint64_t blocks = std::min(gift->blocks, load_.blocks - handed_out_);
            hand_out_.given(gift->rank, blocks);
            work(costs_.per_message);
            Seconds needed;
            for (std::uint64_t i = 0; i < blocks; ++i) needed += block_time(handed_out_++);
            total_work_ += needed;
            Seconds& free_at = free_at_[static_cast<std::size_t>(gift->rank)];
            free_at = std::max(free_at, now_ + costs_.latency) + needed;
            arrivals_.push({free_at + costs_.latency, sent_++, gift->rank, blocks, needed});
        }
    }
    [[nodiscard]] Seconds block_time(std::uint64_t block) const {
        base::Draws draws{base::RandomStream{0, dry_run_purpose, block}};
        return load_.block_time * (1.0 + load_.spread * (2.0 * draws.uniform() - 1.0));
    }

    const DryRunLoad& load_;
    const DryRunCosts& costs_;
    HandOut hand_out_;
    std::vector<Seconds> free_at_;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    Seconds now_, busy_, total_work_;
    std::uint64_t handed_out_ = 0, sent_ = 0;
    DryRun result_;
};

}  // namespace

DryRun dry_run(const DryRunLoad& load, const DryRunCosts& costs) {
    base::expects(load.ranks >= 2 && load.blocks >= 1, "a dry run has a worker and a block");
    return VirtualCrew{load, costs}.run();
}

double most_useful_ranks(Seconds block_time, double bundle, const DryRunCosts& costs) noexcept {
    return block_time * bundle / (costs.per_message * 2.0 + costs.per_block * bundle);
}

}  // namespace windtunnel::driver
