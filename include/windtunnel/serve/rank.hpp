#pragma once
/// The scheduler of one attention data-parallel rank: who runs, who waits, which batch comes next.
///
/// Model:   vLLM V1 (as of 0.19): running requests first, in the order of their admission, one decode or the next chunk
///          of a prompt each; then waiting ones while tokens, seats and blocks last. Without blocks the last of the
///          running gives way, loses its cache and goes to the front of the queue; nobody is admitted in such a step.
///          A new request needs the blocks of its first chunk only. SGLang (0.4 to 0.5): a batch of prompts goes before
///          decodes, admission keeps a share of the outstanding answers free. Static: a batch runs to its end.
///          Decodes are kept as sums and as the number of blocks that each coming step needs, so that a step costs the
///          same for one sequence and for a thousand, and steps without any change are done together.
/// Inputs:  requests; numbers of steps. Times are given to it, it makes none.
/// Returns: the load of each step; requests with their times when they end.
/// Limits:  speculation with its mean gain, evenly spread; one prompt at a time is partly computed.
/// Source:  documented behaviour of vLLM V1 and SGLang; checked event by event in the tests.
#include <cstdint>
#include <optional>
#include <vector>

#include "windtunnel/model/serving.hpp"
#include "windtunnel/serve/block_pool.hpp"
#include "windtunnel/serve/moment.hpp"
#include "windtunnel/serve/request.hpp"
#include "windtunnel/serve/step_cost.hpp"
#include "windtunnel/serve/waiting_queue.hpp"

namespace windtunnel::serve {

struct RankRules {
    int max_sequences = 256;
    int max_tokens = 8192;  ///< of a step
    int block_size = 16;
    std::int64_t num_blocks = 0;  ///< usable ones: without the null block
    bool chunked = true;
    bool cached = false;    ///< prefix cache
    int depth = 1;          ///< batches made ahead: 2 with asynchronous scheduling
    int query_tokens = 1;   ///< computed by a decode: 1 + drafts
    int gain = 1, per = 1;  ///< tokens that a decode gives out on average: gain / per
    int max_length = 0;     ///< of prompt and answer; 0: no limit
    std::optional<int> queue_limit;
    model::Batching batching = model::Batching::vllm_v1;
    model::QueueOrder order = model::QueueOrder::first_come;
    bool prefill_only = false;  ///< a request ends with its first token: prefill part of a split deployment
    bool with_cache = false;    ///< requests come with the cache of their prompt and their first token: decode part
};

/// Why a request that waits is not admitted.
enum class Blocked { no, seats, blocks, tokens };

class Rank {
public:
    explicit Rank(const RankRules& rules);

    /// False: refused. `before`: what happened to it in a prefill part, times included.
    [[nodiscard]] bool enqueue(const Request& request, std::int64_t queued_ns, const Served* before = nullptr);

    /// Makes the batch of the next step. `decision_ns`: now; `last_end_ns`: end of the step before. False: nothing to
    /// do.
    bool decide(std::int64_t decision_ns, std::int64_t last_end_ns);
    [[nodiscard]] const StepLoad& load() const noexcept { return load_; }
    /// Context of the decodes before the step that was decided, in 1/per tokens; each further step adds gain x decodes.
    [[nodiscard]] std::int64_t context() const noexcept { return context_; }
    [[nodiscard]] int decodes() const noexcept { return decodes_; }
    /// Decodes and nothing else in the step that was decided, or nothing at all?
    [[nodiscard]] bool quiet() const noexcept { return load_.prefill_sequences == 0 && !preempted_; }
    /// How many more steps after it do the same sequences decode while nothing else happens, whatever the time?
    [[nodiscard]] std::int64_t quiet_steps();
    /// Goes on by `count` such steps; the last of them is then the step that close() ends.
    void skip(std::int64_t count);
    /// The step ends at `end_ns`.
    void close(std::int64_t end_ns);

    /// Requests whose last token is out by `now_ns` leave: seats and blocks are free again.
    void release(std::int64_t now_ns, std::vector<Served>& served);
    [[nodiscard]] std::int64_t next_release_ns() const noexcept {
        return leaving_.empty() ? never : leaving_.front().at;
    }

    /// Would a request that comes now change the next batch?
    [[nodiscard]] bool takes_arrivals() const noexcept {
        return blocked_ == Blocked::no || rules_.order != model::QueueOrder::first_come;
    }
    [[nodiscard]] bool has_work() const noexcept { return decodes_ > 0 || partial_ != none || !waiting_.empty(); }
    [[nodiscard]] Blocked blocked() const noexcept { return blocked_; }
    [[nodiscard]] int waiting() const noexcept { return static_cast<int>(waiting_.size()); }
    [[nodiscard]] int running() const noexcept { return running_; }
    [[nodiscard]] int unfinished() const noexcept { return running_ + static_cast<int>(waiting_.size()); }
    [[nodiscard]] const BlockPool& pool() const noexcept { return pool_; }
    /// Blocks of the prompt that the prefix cache holds now.
    [[nodiscard]] std::int32_t cached_blocks(const Request& request) const;
    [[nodiscard]] const RankRules& rules() const noexcept { return rules_; }

    struct Counters {
        std::int64_t steps = 0, decode_steps = 0, mixed_steps = 0;
        std::int64_t prefill_tokens = 0;  ///< computed, again after preemptions
        std::int64_t hit_tokens = 0;      ///< found
        std::int64_t prompt_tokens = 0;   ///< asked for by requests that ended, at their first admission
        std::int64_t recomputed_tokens = 0;
        std::int64_t emitted = 0;  ///< counted step by step; with a fractional gain the last step gives what is left
        std::int64_t preemptions = 0, admissions = 0, refused = 0;
        std::int64_t peak_blocks = 0;
    };
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
    /// Gaps of resumed requests: from the last token before to the first one after a preemption.
    std::vector<std::int64_t> gaps_ns;
    /// First tokens of requests that came with their cache and decode for the first time in the step that was decided.
    std::vector<std::int64_t> joined_ns;
    /// What decide() did, for tests and logs; filled only when asked for.
    struct Event {
        enum class Kind { admit, chunk, preempt, finish } kind = Kind::admit;
        std::int64_t step = 0;  ///< of the rank, from 0
        std::int64_t request = 0;
        std::int32_t tokens = 0;  ///< chunk: computed in the step; admit: found in the cache; preempt: lost
        friend bool operator==(const Event&, const Event&) = default;
    };
    std::vector<Event>* log = nullptr;

private:
    static constexpr std::int32_t none = -1;
    enum class State : std::uint8_t { waiting, prefill, decode, done };
    struct Piece {
        BlockPool::Segment segment = BlockPool::none;
        std::int32_t first = 0, count = 0;  ///< places in the segment
    };
    struct Run {
        Served served;
        State state = State::waiting;
        bool has_cache = false;      ///< the cache of the prompt comes with it
        bool admitted = false;       ///< once
        std::int64_t admission = 0;  ///< number of its last one
        std::int32_t emitted = 0;    ///< tokens given out before `start`
        std::int32_t target = 0;     ///< tokens in the cache before the next one comes out
        std::int32_t computed = 0;   ///< tokens in the cache; decode: when it began
        std::int32_t held = 0;       ///< blocks while prefilling; decode: when it began
        std::int64_t start = 0;      ///< beat of the first decode step
        std::int64_t finish = none;  ///< beat of the last one
        std::int64_t last_emit_ns = none;
        std::int32_t before = none, after = none;  ///< running order
        std::vector<Piece> pieces;
        std::vector<std::int32_t> ids;  ///< blocks with a number
        std::int32_t named = 0;         ///< of them, from the first on: those that can be found
    };
    struct Due {
        std::int64_t at = 0;
        std::int64_t admitted = 0;  ///< of equals the one that was admitted first
        std::int32_t run = none;
        friend bool operator>(const Due& a, const Due& b) noexcept {
            return a.at != b.at ? a.at > b.at : a.admitted > b.admitted;
        }
    };

    [[nodiscard]] Run& run(std::int32_t slot) noexcept { return runs_[static_cast<std::size_t>(slot)]; }
    [[nodiscard]] const Run& run(std::int32_t slot) const noexcept { return runs_[static_cast<std::size_t>(slot)]; }
    [[nodiscard]] std::int32_t blocks_for(std::int64_t tokens) const noexcept {
        return static_cast<std::int32_t>((tokens + rules_.block_size - 1) / rules_.block_size);
    }
    [[nodiscard]] std::int64_t gained(std::int64_t steps) const noexcept { return rules_.gain * steps / rules_.per; }
    /// New blocks that a decode needs in its step `i`, counted from its first one.
    [[nodiscard]] std::int64_t new_blocks_of(const Run& of, std::int64_t i) const noexcept {
        return blocks_for(of.computed + gained(i + 1)) - blocks_for(of.computed + gained(i));
    }
    [[nodiscard]] std::int64_t new_blocks(std::int64_t beat) const noexcept {
        return crossings_[static_cast<std::size_t>(beat % period_)];
    }
    void add_crossings(const Run& of, int sign);
    void begin_decode(std::int32_t slot);
    void end_decode(Run& of);
    void append(std::int32_t slot);
    void unlink(std::int32_t slot);
    void preempt(std::int32_t slot, std::int64_t last_end_ns);
    void make_room(std::int64_t last_end_ns);
    [[nodiscard]] std::int32_t victim() const;
    void continue_partial(int& budget, std::int64_t last_end_ns);
    void compute_chunk(std::int32_t slot, std::int32_t chunk);
    void admit(std::int64_t decision_ns, int& budget);
    [[nodiscard]] Blocked admit_one(std::int32_t slot, std::int64_t decision_ns, int& budget);
    [[nodiscard]] bool keeps_reserve(const Run& of) const noexcept;
    void open_pieces(Run& of);
    [[nodiscard]] std::int32_t hits(const Run& of, std::vector<std::int32_t>& blocks) const;
    void hold(Run& of, std::int32_t count);
    void publish(Run& of, std::int32_t from, std::int32_t to, bool own);
    void free_blocks(Run& of);
    void finish(std::int32_t slot, std::int64_t end_ns);
    void note(Event::Kind kind, const Run& of, std::int64_t tokens);
    void drop_stale();

    RankRules rules_;
    BlockPool pool_;
    std::vector<Run> runs_;
    std::vector<std::int32_t> free_runs_;
    WaitingQueue waiting_;
    std::int32_t first_ = none, last_ = none;  ///< running, in the order of admission
    int running_ = 0;
    std::int32_t partial_ = none;  ///< whose prompt is partly computed
    int decodes_ = 0;
    std::int64_t context_ = 0;              ///< of the decodes before their next step, in 1/per tokens
    std::int64_t sum_finish_ = 0;           ///< last steps of the decodes, summed
    std::int64_t period_ = 1;               ///< steps after which block needs repeat
    std::vector<std::int64_t> crossings_;   ///< new blocks of the decodes by step modulo period
    std::vector<Due> finishing_;            ///< heap by last step
    std::vector<Due> leaving_;              ///< heap by time
    std::vector<std::int32_t> completing_;  ///< prompts that end in the step that was decided
    StepLoad load_;
    Blocked blocked_ = Blocked::no;
    bool preempted_ = false, decoding_ = false;
    std::int64_t beat_ = 0;  ///< number of the next step in which the decodes compute
    std::vector<std::int32_t> hit_blocks_;
    double reserve_ = 0.7;  ///< SGLang: share of outstanding answers that stays free
    Counters counters_;
};

}  // namespace windtunnel::serve
