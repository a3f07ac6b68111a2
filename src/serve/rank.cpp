#include "windtunnel/serve/rank.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "windtunnel/base/contracts.hpp"

namespace windtunnel::serve {
namespace {

// SGLang: share of the outstanding answers that admission keeps free, and how it falls from step to step.
constexpr double first_reserve = 0.7, least_reserve = 0.14 * first_reserve;
constexpr double reserve_fall = (first_reserve - least_reserve) / 600.0;
constexpr std::int32_t endless = std::numeric_limits<std::int32_t>::max();
enum class Kind : std::uint64_t { group = 1, session = 2, trace = 3 };

std::uint64_t key_of(Kind kind, std::uint64_t number) {
    return (static_cast<std::uint64_t>(kind) << 60U) | number;
}

}  // namespace

Rank::Rank(const RankRules& rules)
    : rules_{rules}, pool_{rules.num_blocks, rules.cached}, waiting_{rules.order}, reserve_{first_reserve} {
    base::expects(rules.block_size > 0 && rules.gain >= rules.per && rules.per > 0 && rules.max_sequences > 0,
                  "rules of a rank");
    period_ = std::int64_t{rules.block_size} * rules.per;
    crossings_.assign(static_cast<std::size_t>(period_), 0);
}

bool Rank::enqueue(const Request& request, std::int64_t queued_ns, const Served* before) {
    const std::int64_t tokens = std::int64_t{request.input} + (rules_.prefill_only ? 1 : request.output);
    const bool too_long = (rules_.max_length > 0 && tokens > rules_.max_length) ||
                          blocks_for(tokens + rules_.gain / rules_.per) > pool_.total() ||
                          (!rules_.chunked && request.input > rules_.max_tokens);
    const bool full = rules_.queue_limit && waiting() >= *rules_.queue_limit;
    if (too_long || full) {
        ++counters_.refused;
        return false;
    }
    std::int32_t slot = none;
    if (free_runs_.empty()) {
        slot = static_cast<std::int32_t>(runs_.size());
        runs_.emplace_back();
    } else {
        slot = free_runs_.back();
        free_runs_.pop_back();
    }
    Run& of = run(slot);
    of.served = before != nullptr ? *before : Served{};
    of.served.request = request;
    if (before == nullptr) of.served.queued_ns = queued_ns;
    of.state = State::waiting;
    of.admitted = false;
    of.has_cache = rules_.with_cache;
    of.emitted = rules_.with_cache ? 1 : 0;
    of.target = request.input;
    of.computed = of.held = 0;
    of.finish = none;
    of.last_emit_ns = none;
    of.named = 0;
    of.pieces.clear();
    of.ids.clear();
    waiting_.push(slot, request.number, request.urgency, request.input);
    return true;
}

void Rank::add_crossings(const Run& of, int sign) {
    if (rules_.gain == rules_.per) {
        const std::int64_t first = (rules_.block_size - of.computed % rules_.block_size) % rules_.block_size;
        crossings_[static_cast<std::size_t>((of.start + first) % period_)] += sign;
        return;
    }
    // Step i computes tokens up to computed + gained(i + 1): block k begins in the first step that goes past k x size.
    const std::int64_t first = blocks_for(of.computed);
    for (std::int64_t k = first; k < first + rules_.gain; ++k) {
        const std::int64_t past = k * rules_.block_size + 1 - of.computed;
        const std::int64_t i = (past * rules_.per + rules_.gain - 1) / rules_.gain - 1;
        crossings_[static_cast<std::size_t>((of.start + i) % period_)] += sign;
    }
}

void Rank::begin_decode(std::int32_t slot) {
    Run& of = run(slot);
    of.state = State::decode;
    of.start = beat_;
    const std::int64_t left = of.served.request.output - of.emitted;
    of.finish = beat_ + (left * rules_.per + rules_.gain - 1) / rules_.gain - 1;
    finishing_.push_back({of.finish, of.admission, slot});
    std::push_heap(finishing_.begin(), finishing_.end(), std::greater<>{});
    ++decodes_;
    context_ += std::int64_t{of.computed} * rules_.per;
    sum_finish_ += of.finish;
    add_crossings(of, 1);
}

/// Takes it out of the sums; what it has computed in its decode steps so far becomes part of `computed`.
void Rank::end_decode(Run& of) {
    const std::int64_t steps = beat_ - of.start;
    add_crossings(of, -1);
    --decodes_;
    context_ -= std::int64_t{of.computed} * rules_.per + rules_.gain * steps;
    sum_finish_ -= of.finish;
    const std::int64_t tokens = of.computed + gained(steps);
    of.emitted =
        static_cast<std::int32_t>(std::min<std::int64_t>(of.emitted + gained(steps), of.served.request.output));
    of.computed = static_cast<std::int32_t>(tokens);
    of.held = blocks_for(tokens);
    of.finish = none;
}

void Rank::append(std::int32_t slot) {
    Run& of = run(slot);
    of.before = last_;
    of.after = none;
    if (last_ != none)
        run(last_).after = slot;
    else
        first_ = slot;
    last_ = slot;
    ++running_;
}

void Rank::unlink(std::int32_t slot) {
    const Run& of = run(slot);
    if (of.before != none)
        run(of.before).after = of.after;
    else
        first_ = of.after;
    if (of.after != none)
        run(of.after).before = of.before;
    else
        last_ = of.before;
    --running_;
}

std::int32_t Rank::victim() const {
    if (rules_.batching == model::Batching::sglang) {  // the shortest answer so far, of equals the longest prompt
        std::int32_t best = none;
        std::int64_t best_out = 0;
        for (std::int32_t slot = first_; slot != none; slot = run(slot).after) {
            const Run& of = run(slot);
            if (of.state != State::decode) continue;
            const std::int64_t out = of.emitted + gained(beat_ - of.start);
            if (best == none || out < best_out ||
                (out == best_out && of.served.request.input > run(best).served.request.input))
                best = slot, best_out = out;
        }
        return best;
    }
    std::int32_t slot = last_, worst = none;
    for (; slot != none; slot = run(slot).before) {
        if (run(slot).state == State::done) continue;
        if (rules_.order != model::QueueOrder::priority) return slot;
        const Request &request = run(slot).served.request,
                      *least = worst == none ? nullptr : &run(worst).served.request;
        if (least == nullptr || request.urgency > least->urgency ||
            (request.urgency == least->urgency && request.number > least->number))
            worst = slot;
    }
    return worst;
}

void Rank::preempt(std::int32_t slot, std::int64_t last_end_ns) {
    Run& of = run(slot);
    if (of.state == State::decode) {
        end_decode(of);
        of.last_emit_ns = last_end_ns;
    } else if (slot == partial_) {
        partial_ = none;
    }
    note(Event::Kind::preempt, of, of.computed);
    counters_.recomputed_tokens += of.computed;
    ++counters_.preemptions;
    ++of.served.preemptions;
    if (rules_.cached) hold(of, of.held);
    if (rules_.cached) publish(of, 0, of.computed / rules_.block_size, true);
    free_blocks(of);
    of.computed = 0;
    of.has_cache = false;
    of.state = State::waiting;
    of.target = of.served.request.input + of.emitted;
    unlink(slot);
    waiting_.push_front(slot, of.served.request.number, of.served.request.urgency, of.served.request.input);
    preempted_ = true;
    if (rules_.batching == model::Batching::sglang) reserve_ = first_reserve;
}

/// Blocks for the decodes of the step. Going through the running ones in order, each shortage takes the last one out;
/// as that one comes last, the outcome is the shortest tail whose going leaves enough for all the others.
void Rank::make_room(std::int64_t last_end_ns) {
    while (new_blocks(beat_) > pool_.free()) {
        const std::int32_t out = victim();
        base::ensures(out != none, "decodes that need blocks are running");
        preempt(out, last_end_ns);
    }
    pool_.take(new_blocks(beat_));
}

void Rank::open_pieces(Run& of) {
    if (!of.pieces.empty()) return;
    const Content& content = of.served.request.content;
    const std::int32_t size = rules_.block_size;
    if (content.group >= 0 && content.group_tokens >= size)
        of.pieces.push_back({pool_.open(key_of(Kind::group, static_cast<std::uint64_t>(content.group))), 0,
                             content.group_tokens / size});
    if (content.num_trace_blocks > 0 && content.trace_block_tokens % size == 0) {
        const std::int32_t per_block = content.trace_block_tokens / size;
        std::int32_t whole = (content.trace_tokens > 0 ? content.trace_tokens : of.served.request.input) / size;
        for (std::int32_t i = 0; i < content.num_trace_blocks && whole > 0; ++i) {
            const std::int32_t count = std::min(per_block, whole);
            of.pieces.push_back({pool_.open(key_of(Kind::trace, content.trace_blocks[i])), 0, count});
            whole -= count;
        }
    }
    of.pieces.push_back({content.session >= 0
                             ? pool_.open(key_of(Kind::session, static_cast<std::uint64_t>(content.session)))
                             : pool_.open_private(),
                         0, endless});
}

/// Whole blocks from the beginning that are there; one token at least is always computed.
std::int32_t Rank::hits(const Run& of, std::vector<std::int32_t>& blocks) const {
    blocks.clear();
    const auto most = static_cast<std::size_t>((of.target - 1) / rules_.block_size);
    for (const Piece& piece : of.pieces) {
        for (std::int32_t i = 0; i < piece.count; ++i) {
            const std::int32_t block = blocks.size() < most ? pool_.at(piece.segment, i) : none;
            if (block == none) return static_cast<std::int32_t>(blocks.size());
            blocks.push_back(block);
        }
    }
    return static_cast<std::int32_t>(blocks.size());
}

std::int32_t Rank::cached_blocks(const Request& request) const {
    if (!rules_.cached) return 0;
    const Content& content = request.content;
    const std::int32_t size = rules_.block_size, most = (request.input - 1) / size;
    std::int32_t found = 0;
    const auto walk = [&](Kind kind, std::uint64_t number, std::int32_t count) {
        const BlockPool::Segment segment = pool_.find(key_of(kind, number));
        if (segment == BlockPool::none) return false;
        std::int32_t i = 0;
        while (i < count && found < most && pool_.at(segment, i) != none) ++i, ++found;
        return i == count;
    };
    if (content.group >= 0 && content.group_tokens >= size &&
        !walk(Kind::group, static_cast<std::uint64_t>(content.group), content.group_tokens / size))
        return found;
    if (content.trace_block_tokens > 0 && content.trace_block_tokens % size == 0)
        for (std::int32_t i = 0; i < content.num_trace_blocks; ++i)
            if (!walk(Kind::trace, content.trace_blocks[i], content.trace_block_tokens / size)) return found;
    if (content.session >= 0) (void)walk(Kind::session, static_cast<std::uint64_t>(content.session), endless);
    return found;
}

/// Gives numbers to blocks that were taken, until the sequence has `count` with a number.
void Rank::hold(Run& of, std::int32_t count) {
    while (static_cast<std::int32_t>(of.ids.size()) < count) of.ids.push_back(pool_.claim());
}

/// The whole blocks [from, to) of the sequence can be found from now on; `own`: also those of its own segment.
void Rank::publish(Run& of, std::int32_t from, std::int32_t to, bool own) {
    std::int32_t begin = 0;
    for (const Piece& piece : of.pieces) {
        const std::int32_t end = piece.count == endless ? to : std::min(to, begin + piece.count);
        if (piece.count != endless || own)
            for (std::int32_t i = std::max(begin, from); i < end; ++i)
                pool_.publish(of.ids[static_cast<std::size_t>(i)], piece.segment, i - begin);
        if (piece.count != endless || own) of.named = std::max(of.named, end);
        begin = end;
        if (begin >= to) return;
    }
}

void Rank::free_blocks(Run& of) {
    if (!rules_.cached) {
        pool_.give_back(of.held);
    } else {
        for (std::size_t i = of.ids.size(); i-- > 0;) pool_.release(of.ids[i], i < static_cast<std::size_t>(of.named));
        of.ids.clear();
        of.named = 0;
    }
    of.held = 0;
}

void Rank::note(Event::Kind kind, const Run& of, std::int64_t tokens) {
    if (log != nullptr)
        log->push_back({kind, counters_.steps - (kind == Event::Kind::finish ? 1 : 0), of.served.request.number,
                        static_cast<std::int32_t>(tokens)});
}

/// Blocks are there already. The chunk is part of the step; the prompt may end with it.
void Rank::compute_chunk(std::int32_t slot, std::int32_t chunk) {
    Run& of = run(slot);
    const double tokens = chunk, context = of.computed;
    ++load_.prefill_sequences;
    load_.prefill_tokens += tokens;
    load_.prefill_context += context;
    load_.prefill_pairs += tokens * (context + 0.5 * (tokens + 1.0));
    counters_.prefill_tokens += chunk;
    const std::int32_t before = of.computed / rules_.block_size;
    of.computed += chunk;
    of.held = blocks_for(of.computed);
    if (rules_.cached) {
        hold(of, of.held);
        publish(of, before, of.computed / rules_.block_size, false);
    }
    note(Event::Kind::chunk, of, chunk);
    of.state = State::prefill;
    if (of.computed < of.target) {
        partial_ = slot;
    } else {
        completing_.push_back(slot);
        if (slot == partial_) partial_ = none;
    }
}

void Rank::continue_partial(int& budget, std::int64_t last_end_ns) {
    if (partial_ == none || budget <= 0) return;
    const std::int32_t slot = partial_;
    Run& of = run(slot);
    const std::int32_t chunk = std::min(of.target - of.computed, budget);
    const std::int64_t need = blocks_for(of.computed + chunk) - of.held;
    if (need > pool_.free()) return preempt(slot, last_end_ns);
    pool_.take(need);
    compute_chunk(slot, chunk);
    budget -= chunk;
}

/// SGLang: what is free must hold the request to its end, beside a share of what the running ones have still to say.
bool Rank::keeps_reserve(const Run& of) const noexcept {
    const double outstanding = static_cast<double>(sum_finish_ - std::int64_t{decodes_} * (beat_ - 1)) * rules_.gain /
                               static_cast<double>(rules_.per);
    const double wanted = of.target + of.served.request.output - of.emitted;
    return wanted + reserve_ * outstanding <= static_cast<double>(pool_.free()) * rules_.block_size || running_ == 0;
}

Blocked Rank::admit_one(std::int32_t slot, std::int64_t decision_ns, int& budget) {
    Run& of = run(slot);
    of.admission = counters_.admissions;
    if (of.has_cache) {  // its first decode belongs to this step
        of.computed = of.target;
        const std::int64_t prompt = blocks_for(of.computed), first = new_blocks_of(of, 0);
        if (budget < rules_.query_tokens) return Blocked::tokens;
        if (prompt + first > pool_.free()) {
            of.computed = 0;
            return Blocked::blocks;
        }
        pool_.take(prompt + first);
        budget -= rules_.query_tokens;
        of.held = static_cast<std::int32_t>(prompt);
        of.has_cache = false;
        joined_ns.push_back(of.served.first_token_ns);
        begin_decode(slot);
    } else {
        if (rules_.batching == model::Batching::sglang && !keeps_reserve(of)) return Blocked::blocks;
        std::int32_t found = 0;
        if (rules_.cached) {
            open_pieces(of);
            found = hits(of, hit_blocks_);
        }
        const std::int32_t there = found * rules_.block_size, missing = of.target - there;
        if (!rules_.chunked && missing > budget && budget < rules_.max_tokens) return Blocked::tokens;
        const std::int32_t chunk = rules_.chunked ? std::min(missing, budget) : missing;
        std::int64_t need = blocks_for(there + chunk) - found;
        std::int64_t free_hits = 0;
        for (std::int32_t i = 0; i < found; ++i)
            free_hits += pool_.is_free(hit_blocks_[static_cast<std::size_t>(i)]) ? 1 : 0;
        if (need + free_hits > pool_.free()) return Blocked::blocks;
        for (std::int32_t i = 0; i < found; ++i) {
            pool_.reuse(hit_blocks_[static_cast<std::size_t>(i)]);
            of.ids.push_back(hit_blocks_[static_cast<std::size_t>(i)]);
        }
        of.named = found;
        pool_.take(need);
        of.computed = there;
        of.held = found;
        of.served.hit_tokens += there;
        counters_.hit_tokens += there;
        note(Event::Kind::admit, of, there);
        compute_chunk(slot, chunk);
        budget -= chunk;
    }
    if (!of.admitted) {
        of.admitted = true;
        of.served.scheduled_ns = rules_.with_cache ? of.served.scheduled_ns : decision_ns;
    }
    ++counters_.admissions;
    append(slot);
    return Blocked::no;
}

void Rank::admit(std::int64_t decision_ns, int& budget) {
    blocked_ = Blocked::no;
    if (preempted_) return;
    if (rules_.batching == model::Batching::fixed && running_ > 0) {
        if (!waiting_.empty()) blocked_ = Blocked::seats;
        return;
    }
    while (!waiting_.empty() && blocked_ == Blocked::no) {
        if (budget <= 0) {
            blocked_ = Blocked::tokens;
        } else if (running_ >= rules_.max_sequences) {
            blocked_ = Blocked::seats;
        } else {
            blocked_ = admit_one(waiting_.front(), decision_ns, budget);
            if (blocked_ == Blocked::no) waiting_.pop();
        }
    }
}

bool Rank::decide(std::int64_t decision_ns, std::int64_t last_end_ns) {
    load_ = {};
    preempted_ = decoding_ = false;
    completing_.clear();
    joined_ns.clear();
    int budget = rules_.max_tokens;
    if (rules_.batching == model::Batching::sglang) {  // prompts go before decodes
        continue_partial(budget, last_end_ns);
        admit(decision_ns, budget);
        decoding_ = load_.prefill_sequences == 0 && decodes_ > 0;
        if (decoding_) make_room(last_end_ns);
    } else {
        make_room(last_end_ns);
        budget -= decodes_ * rules_.query_tokens;
        continue_partial(budget, last_end_ns);
        admit(decision_ns, budget);
        decoding_ = true;
    }
    decoding_ = decoding_ && decodes_ > 0;
    if (decoding_) {
        load_.decode_sequences = decodes_;
        load_.decode_context = static_cast<double>(context_) / rules_.per;
    }
    load_.outputs = (decoding_ ? decodes_ : 0) + static_cast<int>(completing_.size());
    counters_.peak_blocks = std::max(counters_.peak_blocks, pool_.total() - pool_.free());
    const bool work = load_.decode_sequences > 0 || load_.prefill_sequences > 0;
    if (!work) return false;
    ++counters_.steps;
    ++(load_.prefill_sequences > 0 ? counters_.mixed_steps : counters_.decode_steps);
    return true;
}

void Rank::drop_stale() {
    while (!finishing_.empty() && run(finishing_.front().run).finish != finishing_.front().at) {
        std::pop_heap(finishing_.begin(), finishing_.end(), std::greater<>{});
        finishing_.pop_back();
    }
}

std::int64_t Rank::quiet_steps() {
    if (!decoding_) return waiting_.empty() ? never : 0;
    if (!waiting_.empty() && (takes_arrivals() || !leaving_.empty() || rules_.batching == model::Batching::sglang))
        return 0;
    drop_stale();
    std::int64_t most = finishing_.front().at - beat_;
    std::int64_t free = pool_.free();
    if (most == 0 || decodes_ * most * (rules_.gain / rules_.per + 1) <= free) return most;
    if ((most / period_ + 1) * (std::int64_t{decodes_} * rules_.gain) <= free) return most;
    for (std::int64_t i = 1; i <= most; ++i) {
        free -= new_blocks(beat_ + i);
        if (free < 0) return i - 1;
    }
    return most;
}

void Rank::skip(std::int64_t count) {
    if (count == 0 || !decoding_) return;
    std::int64_t blocks = 0;
    const std::int64_t rounds = count / period_;
    if (rounds > 0) blocks += rounds * std::int64_t{decodes_} * rules_.gain;
    for (std::int64_t i = 1; i <= count - rounds * period_; ++i) blocks += new_blocks(beat_ + i);
    pool_.take(blocks);
    beat_ += count;
    context_ += count * rules_.gain * decodes_;
    counters_.steps += count;
    counters_.decode_steps += count;
    counters_.emitted += count * decodes_;
    counters_.peak_blocks = std::max(counters_.peak_blocks, pool_.total() - pool_.free());
    if (rules_.batching == model::Batching::sglang)
        reserve_ = std::max(least_reserve, reserve_ - reserve_fall * static_cast<double>(count));
}

void Rank::finish(std::int32_t slot, std::int64_t end_ns) {
    Run& of = run(slot);
    of.state = State::done;
    of.served.last_token_ns = end_ns;
    note(Event::Kind::finish, of, of.emitted);
    leaving_.push_back({end_ns, of.admission, slot});
    std::push_heap(leaving_.begin(), leaving_.end(), std::greater<>{});
}

void Rank::close(std::int64_t end_ns) {
    if (decoding_) {
        context_ += std::int64_t{rules_.gain} * decodes_;
        counters_.emitted += decodes_;
        ++beat_;
        if (rules_.batching == model::Batching::sglang) reserve_ = std::max(least_reserve, reserve_ - reserve_fall);
        for (drop_stale(); !finishing_.empty() && finishing_.front().at < beat_; drop_stale()) {
            const std::int32_t slot = finishing_.front().run;
            std::pop_heap(finishing_.begin(), finishing_.end(), std::greater<>{});
            finishing_.pop_back();
            end_decode(run(slot));
            finish(slot, end_ns);
        }
        decoding_ = false;
    }
    for (const std::int32_t slot : completing_) {
        Run& of = run(slot);
        if (of.emitted == 0)
            of.served.first_token_ns = end_ns;
        else
            gaps_ns.push_back(end_ns - of.last_emit_ns);
        ++of.emitted;
        ++counters_.emitted;
        of.last_emit_ns = end_ns;
        if (of.emitted >= of.served.request.output || rules_.prefill_only)
            finish(slot, end_ns);
        else
            begin_decode(slot);
    }
    completing_.clear();
}

void Rank::release(std::int64_t now_ns, std::vector<Served>& served) {
    while (!leaving_.empty() && leaving_.front().at <= now_ns) {
        const std::int32_t slot = leaving_.front().run;
        std::pop_heap(leaving_.begin(), leaving_.end(), std::greater<>{});
        leaving_.pop_back();
        Run& of = run(slot);
        unlink(slot);
        if (rules_.cached) {
            hold(of, of.held);
            // A session's next turn finds all of it; nobody else asks for what is the request's own.
            const bool session = of.served.request.content.session >= 0;
            if (session || of.pieces.size() > 1) publish(of, 0, of.computed / rules_.block_size, session);
        }
        free_blocks(of);
        for (const Piece& piece : of.pieces) pool_.close(piece.segment);
        of.pieces.clear();
        counters_.prompt_tokens += of.served.request.input;
        served.push_back(of.served);
        free_runs_.push_back(slot);
    }
}

}  // namespace windtunnel::serve
