#pragma once
/// An engine instance: its ranks step together; the time of a step is that of the slowest one.
///
/// Model:   decisions are made when a step ends (depth 1) or when the step before the last ends (depth 2, asynchronous
///          scheduling); a free slot is used at once. While nobody comes or goes, decodes are a line in the context, so
///          a stretch of steps is one product in integers, and gives the same times as one step after the other.
/// Inputs:  requests with the rank they go to; times in nanoseconds; the cost model.
/// Returns: requests that ended, when their last token is out.
/// Limits:  a rank without work adds no time (it computes an empty batch).
/// Source:  derived here; vLLM 0.19 for asynchronous scheduling.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "windtunnel/serve/histogram.hpp"
#include "windtunnel/serve/moment.hpp"
#include "windtunnel/serve/rank.hpp"
#include "windtunnel/serve/step_cost.hpp"

namespace windtunnel::serve {

/// A cost model behind functions, so that the event loop is compiled once.
struct StepTimes {
    std::function<Seconds(const StepLoad&)> step;
    std::function<DecodeLine(int)> line;
    bool linear = true;
    /// Time of a step of all ranks together, where it is no maximum over ranks; may be empty.
    std::function<Seconds(std::span<const StepLoad>)> group{};
};

template <StepCost C>
[[nodiscard]] StepTimes step_times(const C& cost) {
    return {[cost](const StepLoad& load) { return cost.step_time(load); },
            [cost](int sequences) { return cost.decode_line(sequences); },
            cost.linear_decode(),
            {}};
}

class Instance {
public:
    Instance(const RankRules& rules, int ranks, const StepTimes& times);

    /// False: refused. Call wake(now) afterwards when it says so.
    [[nodiscard]] bool enqueue(int rank, const Request& request, std::int64_t now_ns, const Served* before = nullptr);
    [[nodiscard]] bool idle_slot() const noexcept { return !planned_; }
    /// Does all that is due by `now_ns`; appends requests that ended.
    void wake(std::int64_t now_ns, std::vector<Served>& served);
    /// When to wake it next.
    [[nodiscard]] std::int64_t due_ns() const noexcept;

    [[nodiscard]] const Rank& rank(int index) const noexcept { return ranks_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] Rank& rank(int index) noexcept { return ranks_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] int num_ranks() const noexcept { return static_cast<int>(ranks_.size()); }

    struct Counters {
        std::int64_t busy_ns = 0;
        std::int64_t steps = 0, stretches = 0;
        double block_seconds = 0.0;               ///< used blocks x time, all ranks
        std::array<double, 4> waiting_seconds{};  ///< waiting requests x time, by Blocked
    };
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
    Histogram inter_token;  ///< gaps between tokens of one request, seconds
    bool jump = true;       ///< false: every step by itself, for the twin in the tests

private:
    struct Line {
        Ticks fixed = -1, per_context = 0;  ///< of 1/per tokens
    };
    struct Pause {  ///< SGLang: sequences whose last token came out at `since`
        Moment since;
        int count = 0;
    };
    [[nodiscard]] const Line& line(int sequences);
    [[nodiscard]] Ticks stretch(std::int64_t steps) const noexcept {
        return steps * fixed_ + per_context_ * (steps * context_ + growth_ * (steps * (steps - 1) / 2));
    }
    [[nodiscard]] std::int64_t steps_until(std::int64_t now_ns) const noexcept;
    [[nodiscard]] Moment decision_after(std::int64_t steps) const noexcept;
    bool decide(Moment now);
    void plan_line();
    void plan_step();
    void commit();
    void count_gaps(Rank& rank, const Moment& end);

    std::vector<Rank> ranks_;
    StepTimes times_;
    std::vector<Line> lines_;
    std::vector<StepLoad> loads_;
    std::vector<std::vector<Pause>> pauses_;  ///< of each rank
    int depth_, per_, gain_;

    Moment end_{};  ///< of the last step before the plan
    bool planned_ = false, by_line_ = false;
    Moment decided_{}, start_{}, next_decision_{};
    std::int64_t steps_ = 0, next_release_ns_ = never;
    Ticks fixed_ = 0, per_context_ = 0;
    std::int64_t context_ = 0, growth_ = 0;
    Counters counters_;
};

}  // namespace windtunnel::serve
