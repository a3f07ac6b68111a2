#include "windtunnel/driver/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/driver/signals.hpp"

namespace windtunnel::driver {
namespace {

/// Without a journal at most this many blocks wait in memory for a slow one before them.
constexpr std::uint64_t memory_window = 1024;

void check_round(const study::Round& round) {
    base::expects(round.items_per_block > 0 && round.items_per_slice > 0, "a block and a slice hold items");
    base::expects(round.num_blocks() <= std::uint64_t{1} << 32U, "at most 2^32 blocks in a round");
}

/// One round at rank 0: which blocks are handed out and which is absorbed next.
class RoundWork {
public:
    RoundWork(const AnyStudy& study, const study::Round& round, store::Part part, BlockStore& blocks)
        : study_{study}, round_{round}, part_{part}, blocks_{blocks}, cursor_{part.index} {
        for (std::uint64_t block = part.index; block < round.num_blocks(); block += part.count)
            ++(blocks.contains(key(block)) ? there_ : missing_);
    }
    [[nodiscard]] std::uint64_t there() const noexcept { return there_; }
    [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }
    [[nodiscard]] std::uint64_t handed_out() const noexcept { return handed_out_; }

    [[nodiscard]] std::optional<std::uint64_t> next() {
        if (stop_requested()) return std::nullopt;
        while (cursor_ < round_.num_blocks() && blocks_.contains(key(cursor_))) cursor_ += part_.count;
        if (cursor_ >= round_.num_blocks()) return std::nullopt;
        if (!blocks_.on_disk() && cursor_ - absorbed_ >= memory_window) return std::nullopt;
        ++handed_out_;
        return std::exchange(cursor_, cursor_ + part_.count);
    }
    [[nodiscard]] std::uint64_t remaining() const noexcept { return stop_requested() ? 0 : missing_ - handed_out_; }

    /// A block is finished: into the journal, and when it is its turn into the state, with those after it.
    void done(std::uint64_t block, std::string payload, bool absorbing) {
        if (absorbing && block == absorbed_ && !blocks_.on_disk()) {
            absorb(block, payload);
            ++absorbed_;
        } else if (absorbing && block == absorbed_) {
            blocks_.append(key(block), payload);
            absorb(block, payload);
            ++absorbed_;
        } else {
            blocks_.append(key(block), std::move(payload));
        }
        if (absorbing) absorb_ready();
    }
    /// Every block from the next one on that is there without a gap.
    void absorb_ready() {
        for (; absorbed_ < round_.num_blocks() && blocks_.contains(key(absorbed_)); ++absorbed_) {
            absorb(absorbed_, blocks_.read(key(absorbed_)));
            blocks_.forget(key(absorbed_));
        }
    }
    /// Every block that is there, over gaps.
    void absorb_present() {
        for (; absorbed_ < round_.num_blocks(); ++absorbed_)
            if (blocks_.contains(key(absorbed_))) absorb(absorbed_, blocks_.read(key(absorbed_)));
    }

private:
    [[nodiscard]] store::BlockKey key(std::uint64_t block) const noexcept { return {round_.number, block}; }
    void absorb(std::uint64_t block, std::string_view payload) {
        try {
            study_.absorb(round_, block, payload);
        } catch (const base::PackError& error) {
            throw base::RunError{
                fmt::format("block {} of round {} in the journal cannot be read: {}; start anew with --overwrite",
                            block, round_.number, error.what())};
        }
    }
    const AnyStudy& study_;
    const study::Round& round_;
    store::Part part_;
    BlockStore& blocks_;
    std::uint64_t cursor_;
    std::uint64_t absorbed_ = 0;
    std::uint64_t there_ = 0;
    std::uint64_t missing_ = 0;
    std::uint64_t handed_out_ = 0;
};

/// Computes the missing blocks of a round; false when a signal stopped it before the last one.
bool compute(const AnyStudy& study, RoundWork& work, const study::Round& round, bool absorbing, Crew& crew,
             Progress& progress, RoundsDone& done) {
    if (work.missing() == 0) return true;
    crew.run(round, study.round_context(round),
             {[&] { return work.next(); }, [&] { return work.remaining(); },
              [&](std::uint64_t block, std::string payload) {
                  work.done(block, std::move(payload), absorbing);
                  progress.advance();
              }});
    done.computed += work.handed_out();
    return work.handed_out() == work.missing();
}

}  // namespace

RoundsDone run_rounds(const AnyStudy& study, Missing missing, BlockStore& blocks, Crew& crew, Progress& progress) {
    RoundsDone done;
    while (const auto round = study.next_round()) {
        check_round(*round);
        // A state learns from blocks, so an empty round can come twice: then the study is over.
        if (round->num_items == 0 && !done.rounds.empty() && done.rounds.back().number == round->number) break;
        if (!done.rounds.empty() && round->number <= done.rounds.back().number)
            throw base::RunError{fmt::format("round {} came after round {}: a fault of the program, please report it",
                                             round->number, done.rounds.back().number)};
        RoundWork work{study, *round, {}, blocks};
        done.rounds.push_back(*round);
        done.resumed += work.there();
        const bool computes = missing == Missing::compute || (missing == Missing::compute_later && round->number > 0);
        if (!computes && work.missing() > 0) {
            work.absorb_present();
            done.whole = false;
            return done;
        }
        progress.start_round(round->label, round->num_blocks(), work.there());
        // The context belongs to the state before the round, so it is made before anything of the round is absorbed.
        if (work.missing() == 0) {
            work.absorb_ready();
            continue;
        }
        if (!compute(study, work, *round, true, crew, progress, done)) {
            done.interrupted = true;
            done.whole = false;
            return done;
        }
    }
    return done;
}

RoundsDone run_part(const AnyStudy& study, store::Part part, BlockStore& blocks, Crew& crew, Progress& progress) {
    RoundsDone done;
    const auto round = study.next_round();
    if (!round) return done;
    check_round(*round);
    RoundWork work{study, *round, part, blocks};
    done.rounds.push_back(*round);
    done.resumed = work.there();
    progress.start_round(round->label, work.there() + work.missing(), work.there());
    done.interrupted = !compute(study, work, *round, false, crew, progress, done);
    return done;
}

}  // namespace windtunnel::driver
