#pragma once
/// A slow twin of a rank: the published loop of the vLLM V1 scheduler, request by request and block by block, with a
/// table of hashes. One step costs time in its sequences; nothing is summed, nothing is skipped.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "serve_examples.hpp"
#include "windtunnel/serve/rank.hpp"

namespace windtunnel::serve::examples {

class SlowEngine {
public:
    SlowEngine(const RankRules& rules, const LinearCost& cost) : rules_{rules}, cost_{cost} {
        blocks_.resize(static_cast<std::size_t>(rules.num_blocks));
        for (std::size_t i = 0; i < blocks_.size(); ++i) free_.push_back(i);
    }

    struct Sequence {
        Request request;
        std::int64_t computed = 0;  ///< tokens in the cache
        std::int64_t tokens = 0;    ///< prompt and answer so far
        std::int64_t first_ns = -1, last_ns = -1;
        bool prefilling = true;  ///< since it was admitted, or admitted again
        std::vector<std::size_t> blocks;
    };

    std::vector<Rank::Event> events;
    std::vector<Sequence> done;

    /// Requests in the order of arrival; one batch at a time, each step after the one before.
    void run(std::vector<Request> requests) {
        std::size_t next = 0;
        std::int64_t now = 0;
        while (next < requests.size() || !waiting_.empty() || !running_.empty()) {
            if (waiting_.empty() && running_.empty()) now = std::max(now, requests[next].arrival_ns);
            for (; next < requests.size() && requests[next].arrival_ns <= now; ++next) {
                Sequence sequence;
                sequence.request = requests[next];
                sequence.tokens = requests[next].input;
                waiting_.push_back(sequence);
            }
            now = step(now);
        }
    }

private:
    /// Name of the first `count` blocks of a sequence: everything that determines their tokens.
    [[nodiscard]] std::string content(const Sequence& sequence, std::int64_t block) const {
        const Content& of = sequence.request.content;
        const std::int64_t group = of.group >= 0 ? of.group_tokens / rules_.block_size : 0;
        const std::string owner =
            of.session >= 0 ? "s" + std::to_string(of.session) : "r" + std::to_string(sequence.request.number);
        return block < group ? "g" + std::to_string(of.group) + "/" + std::to_string(block)
                             : owner + "/" + std::to_string(block - group);
    }

    bool take(Sequence& sequence, std::int64_t tokens) {
        const std::int64_t need =
            (tokens + rules_.block_size - 1) / rules_.block_size - static_cast<std::int64_t>(sequence.blocks.size());
        if (need > static_cast<std::int64_t>(free_.size())) return false;
        for (std::int64_t i = 0; i < need; ++i) {
            const std::size_t block = free_.front();  // the oldest: what it held is gone
            free_.pop_front();
            auto& same = table_[blocks_[block].name];
            same.erase(std::remove(same.begin(), same.end(), block), same.end());
            blocks_[block] = {"", 1};
            sequence.blocks.push_back(block);
        }
        return true;
    }
    void name_full_blocks(Sequence& sequence, std::int64_t tokens) {
        if (!rules_.cached) return;
        for (std::int64_t b = 0; b < tokens / rules_.block_size; ++b) {
            const std::size_t block = sequence.blocks[static_cast<std::size_t>(b)];
            if (!blocks_[block].name.empty()) continue;
            blocks_[block].name = content(sequence, b);
            table_[blocks_[block].name].push_back(block);
        }
    }
    void give_back(Sequence& sequence) {
        name_full_blocks(sequence, sequence.computed);
        for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block)
            if (--blocks_[*block].users == 0) free_.push_back(*block);
        sequence.blocks.clear();
    }
    [[nodiscard]] std::vector<std::size_t> hits(const Sequence& sequence) {
        std::vector<std::size_t> found;
        if (!rules_.cached) return found;
        for (std::int64_t b = 0; b < (sequence.tokens - 1) / rules_.block_size; ++b) {
            const auto& same = table_[content(sequence, b)];
            if (same.empty()) break;
            found.push_back(same.front());
        }
        return found;
    }

    std::int64_t step(std::int64_t now) {
        std::int64_t budget = rules_.max_tokens;
        bool preempted = false;
        StepLoad load;
        std::vector<Sequence*> batch;
        std::vector<std::int64_t> chunks;
        for (std::size_t i = 0; i < running_.size() && budget > 0;) {
            const auto at = [&]() -> Sequence& { return *std::next(running_.begin(), static_cast<std::ptrdiff_t>(i)); };
            const std::int64_t fresh = std::min(at().tokens - at().computed, budget);
            bool gone = false;
            while (!gone && !take(at(), at().computed + fresh)) {
                Sequence victim = running_.back();
                gone = i + 1 == running_.size();
                running_.pop_back();
                events.push_back({Rank::Event::Kind::preempt, steps_, victim.request.number,
                                  static_cast<std::int32_t>(victim.computed)});
                give_back(victim);
                victim.computed = 0;
                victim.prefilling = true;
                waiting_.push_front(victim);
                preempted = true;
            }
            if (gone) break;
            batch.push_back(&at());
            name_full_blocks(at(), at().computed + fresh);  // as soon as they are planned
            chunks.push_back(fresh);
            budget -= fresh;
            ++i;
        }
        while (!preempted && !waiting_.empty() && budget > 0 &&
               static_cast<int>(running_.size()) < rules_.max_sequences) {
            Sequence& head = waiting_.front();
            const std::vector<std::size_t> same = hits(head);
            const auto found = static_cast<std::int64_t>(same.size()), there = found * rules_.block_size;
            const std::int64_t from_free =
                std::count_if(same.begin(), same.end(), [&](std::size_t block) { return blocks_[block].users == 0; });
            const std::int64_t fresh = std::min(head.tokens - there, budget);
            const std::int64_t need = (there + fresh + rules_.block_size - 1) / rules_.block_size - found;
            if (need + from_free > static_cast<std::int64_t>(free_.size())) break;
            for (const std::size_t block : same) {
                if (blocks_[block].users++ == 0) free_.remove(block);
                head.blocks.push_back(block);
            }
            head.computed = there;
            (void)take(head, there + fresh);
            name_full_blocks(head, there + fresh);
            events.push_back({Rank::Event::Kind::admit, steps_, head.request.number, static_cast<std::int32_t>(there)});
            running_.push_back(head);
            waiting_.pop_front();
            batch.push_back(&running_.back());
            chunks.push_back(fresh);
            budget -= fresh;
        }
        for (std::size_t i = 0; i < batch.size(); ++i) {
            Sequence& of = *batch[i];
            if (!of.prefilling) {
                ++load.decode_sequences;
                load.decode_context += static_cast<double>(of.computed);
            } else {
                load.prefill_tokens += static_cast<double>(chunks[i]);
                ++load.prefill_sequences;
                events.push_back(
                    {Rank::Event::Kind::chunk, steps_, of.request.number, static_cast<std::int32_t>(chunks[i])});
            }
            of.computed += chunks[i];
        }
        const bool quiet = load.prefill_sequences == 0 && !preempted;
        const DecodeLine line = cost_.decode_line(load.decode_sequences);
        const Ticks time = quiet ? ticks_of(line.fixed) +
                                       ticks_of(line.per_context_token) * static_cast<std::int64_t>(load.decode_context)
                                 : ticks_of(cost_.step_time(load));
        clock_ = std::max(clock_, Moment{now, 0}).after(time);
        const std::int64_t end = clock_.ceiling();
        for (Sequence* of : batch) {
            if (of->computed < of->tokens) continue;
            of->prefilling = false;
            ++of->tokens;
            if (of->first_ns < 0) of->first_ns = end;
            of->last_ns = end;
        }
        for (auto place = running_.begin(); place != running_.end();) {
            if (place->tokens - place->request.input < place->request.output) {
                ++place;
                continue;
            }
            events.push_back({Rank::Event::Kind::finish, steps_, place->request.number, place->request.output});
            Sequence last = *place;
            place = running_.erase(place);
            give_back(last);
            done.push_back(last);
        }
        ++steps_;
        return end;
    }

    RankRules rules_;
    LinearCost cost_;
    struct Block {
        std::string name;  ///< of what it holds, "" where it is not full
        int users = 0;
    };
    std::vector<Block> blocks_;
    std::list<std::size_t> free_;  ///< the oldest in front
    std::map<std::string, std::vector<std::size_t>> table_;
    std::list<Sequence> running_;
    std::deque<Sequence> waiting_;
    Moment clock_{};
    std::int64_t steps_ = 0;
};

}  // namespace windtunnel::serve::examples
