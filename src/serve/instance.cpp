#include "windtunnel/serve/instance.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::serve {
namespace {

constexpr double longest_stretch = 4.0e18;  // ticks

double seconds_between(const Moment& from, const Moment& to) {
    constexpr double per_tick = 1e-9 / static_cast<double>(Ticks{1} << tick_bits);
    return static_cast<double>(to.ns - from.ns) * 1e-9 + static_cast<double>(to.fraction - from.fraction) * per_tick;
}

}  // namespace

Instance::Instance(const RankRules& rules, int ranks, const StepTimes& times)
    : ranks_(static_cast<std::size_t>(ranks), Rank{rules}),
      times_{times},
      loads_(static_cast<std::size_t>(ranks)),
      pauses_(static_cast<std::size_t>(ranks)),
      depth_{rules.depth},
      per_{rules.per},
      gain_{rules.gain} {}

const Instance::Line& Instance::line(int sequences) {
    const auto index = static_cast<std::size_t>(sequences);
    if (index >= lines_.size()) lines_.resize(index + 1);
    Line& known = lines_[index];
    if (known.fixed < 0) {
        const DecodeLine of = times_.line(sequences);
        known = {ticks_of(of.fixed), ticks_of(of.per_context_token / static_cast<double>(per_))};
    }
    return known;
}

/// Smallest number of steps of the plan that end at `now_ns` or later.
std::int64_t Instance::steps_until(std::int64_t now_ns) const noexcept {
    if (start_.ceiling() >= now_ns) return 0;
    // fixed m + per_context (context m + growth m (m - 1) / 2) = wanted, then whole numbers decide
    const double wanted = static_cast<double>(now_ns - start_.ns) * static_cast<double>(Ticks{1} << tick_bits);
    const double a = 0.5 * static_cast<double>(per_context_) * static_cast<double>(growth_);
    const double b =
        static_cast<double>(fixed_) + static_cast<double>(per_context_) * static_cast<double>(context_) - a;
    const double root = 2.0 * wanted / (b + std::sqrt(b * b + 4.0 * a * wanted));
    auto steps = static_cast<std::int64_t>(std::clamp(root, 0.0, static_cast<double>(steps_)));
    while (steps > 0 && start_.after(stretch(steps)).ceiling() >= now_ns) --steps;
    while (steps < steps_ && start_.after(stretch(steps)).ceiling() < now_ns) ++steps;
    return steps;
}

/// When the batch behind the first `steps` steps of the plan is made.
Moment Instance::decision_after(std::int64_t steps) const noexcept {
    if (depth_ == 1) return start_.after(stretch(steps));
    return steps > 1 ? start_.after(stretch(steps - 1)) : std::max(decided_, end_);
}

bool Instance::enqueue(int index, const Request& request, std::int64_t now_ns, const Served* before) {
    Rank& rank = ranks_[static_cast<std::size_t>(index)];
    std::int64_t queued_ns = now_ns;
    if (planned_) {
        queued_ns = next_decision_.ceiling();
        if (steps_ > 1 && now_ns < queued_ns) {
            const std::int64_t ended = steps_until(now_ns);
            const std::int64_t steps = std::clamp<std::int64_t>(depth_ == 1 ? ended : ended + 1, 1, steps_);
            queued_ns = decision_after(steps).ceiling();
            if (rank.takes_arrivals() && steps < steps_) {
                steps_ = steps;
                next_decision_ = decision_after(steps);
            }
        }
    }
    return rank.enqueue(request, queued_ns, before);
}

std::int64_t Instance::due_ns() const noexcept {
    return std::min(planned_ ? next_decision_.ceiling() : never, next_release_ns_);
}

void Instance::plan_line() {
    std::int64_t steps = never;
    const bool alone = !jump;
    for (Rank& rank : ranks_) steps = std::min(steps, rank.quiet_steps());
    steps = alone || steps == never ? 1 : steps + 1;
    const auto longest_at = [&](std::int64_t step) {  // rank with the longest step, the first of equals
        std::size_t best = 0;
        Ticks most = -1;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            const int sequences = ranks_[i].load().decode_sequences;
            if (sequences == 0) continue;
            const Line& of = line(sequences);
            const Ticks time =
                of.fixed + of.per_context * (ranks_[i].context() + step * std::int64_t{gain_} * sequences);
            if (time > most) most = time, best = i;
        }
        return best;
    };
    std::size_t longest = 0;
    if (ranks_.size() > 1) {  // lines that are above the others at both ends of a stretch are above in between
        longest = longest_at(0);
        while (steps > 1 && longest_at(steps - 1) != longest) steps = (steps + 1) / 2 == steps ? 1 : (steps + 1) / 2;
    }
    const int sequences = ranks_[longest].load().decode_sequences;
    const Line& of = line(sequences);
    fixed_ = of.fixed;
    per_context_ = of.per_context;
    context_ = ranks_[longest].context();
    growth_ = std::int64_t{gain_} * sequences;
    const auto too_long = [&](std::int64_t count) {
        const auto n = static_cast<double>(count);
        return n * (static_cast<double>(fixed_) +
                    static_cast<double>(per_context_) *
                        (static_cast<double>(context_) + static_cast<double>(growth_) * n)) >
               longest_stretch;
    };
    while (steps > 1 && too_long(steps)) steps /= 2;
    steps_ = steps;
}

void Instance::plan_step() {
    Ticks longest = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        loads_[i] = ranks_[i].load();
        const StepLoad& load = loads_[i];
        if (times_.group || (load.decode_sequences == 0 && load.prefill_sequences == 0)) continue;
        longest = std::max(longest, ticks_of(times_.step(load)));
    }
    if (times_.group) longest = ticks_of(times_.group(loads_));
    fixed_ = longest;
    per_context_ = context_ = growth_ = 0;
    steps_ = 1;
}

bool Instance::decide(Moment now) {
    bool work = false, quiet = true;
    for (Rank& rank : ranks_) {
        work = rank.decide(now.ceiling(), end_.ceiling()) || work;
        quiet = quiet && rank.quiet();
    }
    if (!work) return false;
    planned_ = true;
    decided_ = now;
    start_ = std::max(end_, now);
    by_line_ = quiet && times_.linear && !times_.group;
    if (by_line_)
        plan_line();
    else
        plan_step();
    next_decision_ = decision_after(steps_);
    return true;
}

/// Gaps of the step that was decided, where decodes may have paused while prompts were computed.
void Instance::count_gaps(Rank& rank, const Moment& end) {
    std::vector<Pause>& pauses = pauses_[static_cast<std::size_t>(&rank - ranks_.data())];
    const int decodes = rank.load().decode_sequences;
    if (decodes > 0) {
        int left = decodes;
        for (const Pause& pause : pauses) {
            const int count = std::min(left, pause.count);
            if (count > 0) inter_token.add(seconds_between(pause.since, end), static_cast<std::uint64_t>(count));
            left -= count;
        }
        pauses.clear();
    }
}

void Instance::commit() {
    const Moment end = start_.after(stretch(steps_));
    const double time = seconds_between(start_, end);
    const bool pausing = ranks_.front().rules().batching == model::Batching::sglang;
    const double first = seconds_between(end_, start_.after(stretch(1)));  // from the last token before
    std::uint64_t all_decodes = 0, joined = 0;
    const std::int64_t first_end_ns = start_.after(stretch(1)).ceiling();
    const double further = steps_ > 1 ? seconds_between(start_.after(stretch(1)), start_.after(stretch(2))) : 0.0;
    const double slope = static_cast<double>(per_context_ * growth_) / ticks_per_second;
    for (Rank& rank : ranks_) {
        const auto decodes = static_cast<std::uint64_t>(rank.load().decode_sequences);
        all_decodes += decodes;
        if (pausing) count_gaps(rank, start_.after(stretch(1)));
        for (const std::int64_t token_ns : rank.joined_ns) inter_token.add(seconds_of(first_end_ns - token_ns));
        joined += rank.joined_ns.size();
        const auto used = [&] { return static_cast<double>(rank.pool().total() - rank.pool().free()); };
        const double before = used();
        rank.skip(steps_ - 1);
        counters_.block_seconds += 0.5 * (before + used()) * time;
        counters_.waiting_seconds[static_cast<std::size_t>(rank.blocked())] += rank.waiting() * time;
        const int decoding = rank.decodes();
        rank.close(end.ceiling());
        for (const std::int64_t gap : rank.gaps_ns) inter_token.add(seconds_of(gap), 1);
        rank.gaps_ns.clear();
        if (pausing && rank.decodes() > 0) {
            std::vector<Pause>& pauses = pauses_[static_cast<std::size_t>(&rank - ranks_.data())];
            if (decodes > 0)
                pauses.push_back({end, rank.decodes()});
            else
                pauses.push_back({end, std::max(0, rank.decodes() - decoding)});
        }
        next_release_ns_ = std::min(next_release_ns_, rank.next_release_ns());
    }
    // Every sequence that decodes has the same gaps; the first one reaches back to the end of the step before.
    if (!pausing) inter_token.add(first, all_decodes - joined);
    inter_token.add_line(further, slope, static_cast<std::uint64_t>(steps_ - 1), all_decodes);
    counters_.busy_ns += end.ceiling() - start_.ceiling();
    counters_.steps += steps_;
    ++counters_.stretches;
    end_ = end;
    planned_ = false;
}

void Instance::wake(std::int64_t now_ns, std::vector<Served>& served) {
    while (true) {
        Moment now{now_ns, 0};
        if (planned_ && next_decision_.ceiling() <= now_ns) {
            now = next_decision_;
            commit();
        }
        if (next_release_ns_ <= now_ns) {
            next_release_ns_ = never;
            for (std::size_t i = 0; i < ranks_.size(); ++i) {
                const std::size_t before = served.size();
                ranks_[i].release(now_ns, served);
                for (std::size_t k = before; k < served.size(); ++k) served[k].rank = static_cast<std::int32_t>(i);
                next_release_ns_ = std::min(next_release_ns_, ranks_[i].next_release_ns());
            }
        }
        if (planned_ || !decide(now) || next_decision_.ceiling() > now_ns) return;
    }
}

}  // namespace windtunnel::serve
