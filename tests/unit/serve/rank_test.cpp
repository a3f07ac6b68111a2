/// What the scheduler does, event by event: by hand, and against its slow twin.
#include "windtunnel/serve/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "slow_engine.hpp"
#include "windtunnel/base/philox.hpp"

namespace windtunnel::serve {
namespace {

using namespace examples;
using Event = Rank::Event;
using Kind = Event::Kind;

struct Outcome {
    std::vector<Event> events;
    std::vector<Served> served;
};

/// Within a step by kind and request: the two engines note them in another order.
void sort_events(std::vector<Event>& events) {
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tuple{a.step, static_cast<int>(a.kind), a.request} <
               std::tuple{b.step, static_cast<int>(b.kind), b.request};
    });
}

Outcome drive(const RankRules& rules, const LinearCost& cost, const std::vector<Request>& requests, bool jump = true) {
    Outcome outcome;
    Instance instance{rules, 1, step_times(cost)};
    instance.jump = jump;
    instance.rank(0).log = &outcome.events;
    for (std::size_t next = 0;;) {
        const std::int64_t arrival = next < requests.size() ? requests[next].arrival_ns : never;
        const std::int64_t due = instance.due_ns(), now = std::min(arrival, due);
        if (now == never) break;
        for (; next < requests.size() && requests[next].arrival_ns == now; ++next)
            EXPECT_TRUE(instance.enqueue(0, requests[next], now));
        if (due == now || instance.idle_slot()) instance.wake(now, outcome.served);
    }
    EXPECT_EQ(instance.rank(0).pool().free(), instance.rank(0).pool().total());
    sort_events(outcome.events);
    return outcome;
}

std::string text(const std::vector<Event>& events) {
    std::string all;
    for (const Event& event : events) {
        static constexpr std::array names{"admit", "chunk", "preempt", "finish"};
        all += std::to_string(event.step) + ' ' + names[static_cast<std::size_t>(event.kind)] + ' ' +
               std::to_string(event.request) + ' ' + std::to_string(event.tokens) + '\n';
    }
    return all;
}

Request request(std::int64_t number, std::int64_t arrival_ns, std::int32_t input, std::int32_t output,
                std::int64_t group = -1, std::int32_t group_tokens = 0) {
    Request of;
    of.number = number;
    of.arrival_ns = arrival_ns;
    of.input = input;
    of.output = output;
    of.content.group = group;
    of.content.group_tokens = group_tokens;
    return of;
}

/// Twelve requests, blocks of 4 tokens, 13 of them, 4 seats, 16 tokens a step, steps of one second; requests 3, 4, 8
/// and 9 begin with the same 8 tokens.
TEST(Rank, TwelveRequestsByHand) {
    RankRules rules;
    rules.block_size = 4;
    rules.num_blocks = 13;
    rules.max_sequences = 4;
    rules.max_tokens = 16;
    rules.cached = true;
    const std::int64_t second = 1'000'000'000;
    const std::vector<Request> requests{request(0, 0, 10, 6),
                                        request(1, 0, 20, 3),
                                        request(2, 1 * second, 3, 2),
                                        request(3, 2 * second, 12, 4, 7, 8),
                                        request(4, 3 * second, 11, 5, 7, 8),
                                        request(5, 3 * second, 7, 9),
                                        request(6, 5 * second, 5, 8),
                                        request(7, 9 * second, 6, 1),
                                        request(8, 12 * second, 10, 2, 7, 8),
                                        request(9, 20 * second, 9, 1, 7, 8),
                                        request(10, 30 * second, 16, 2),
                                        request(11, 30 * second, 33, 2)};
    const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, requests);
    SlowEngine twin{rules, {1.0, 0.0, 0.0, 0.0}};
    twin.run(requests);
    sort_events(twin.events);
    EXPECT_EQ(text(outcome.events), text(twin.events));
    const std::string expected =
        // prompts share the 16 tokens: 10 of 0, 6 of 1
        "0 admit 0 0\n0 admit 1 0\n0 chunk 0 10\n0 chunk 1 6\n"
        // 0 decodes, 1 takes its other 14, one token is left for 2; 9 blocks
        "1 admit 2 0\n1 chunk 1 14\n1 chunk 2 1\n"
        // two decodes, 2 takes 2, 12 are left for 3: 3 + 6 + 1 + 3 = 13 blocks, none is free
        "2 admit 3 0\n2 chunk 2 2\n2 chunk 3 12\n"
        // 0 goes from 12 to 13 tokens and needs a block: the last one, 3, gives way; nobody is admitted; 0 gets the
        // oldest free block, the third of 3
        "3 preempt 3 12\n3 finish 1 3\n3 finish 2 2\n"
        // 3 finds its first two blocks (8 tokens) and computes 13 - 8; 4 shares them; 5 gets the rest: 1 + 5 + 3 + 7 =
        // 16
        "4 admit 3 8\n4 admit 4 8\n4 admit 5 0\n4 chunk 3 5\n4 chunk 4 3\n4 chunk 5 7\n"
        "5 finish 0 6\n"
        // a seat is free: 6 (came at 5 s)
        "6 admit 6 0\n6 chunk 6 5\n6 finish 3 4\n"
        "8 finish 4 5\n"
        "9 admit 7 0\n9 chunk 7 6\n9 finish 7 1\n"
        // the shared blocks are still there for 8
        "12 admit 8 8\n12 chunk 8 2\n12 finish 5 9\n"
        "13 finish 6 8\n13 finish 8 2\n"
        // 9 tokens: 8 found, one must be computed
        "14 admit 9 8\n14 chunk 9 1\n14 finish 9 1\n"
        // 30 s: 10 has all 16 tokens of the step
        "15 admit 10 0\n15 chunk 10 16\n"
        // 10 decodes, 15 are left for 11
        "16 admit 11 0\n16 chunk 11 15\n16 finish 10 2\n"
        // 11 alone
        "17 chunk 11 16\n"
        "18 chunk 11 2\n"
        "19 finish 11 2\n";
    EXPECT_EQ(text(outcome.events), expected);
}

/// Random loads, with and without a cache, small pools: the same events and the same times to the nanosecond.
TEST(Rank, DoesWhatItsSlowTwinDoes) {
    int preemptions = 0;
    std::int64_t hits = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        base::Draws draws{{seed, 9, 0}};
        const auto draw = [&](int least, int most) {
            return least + static_cast<int>(draws.uniform() * (most - least + 1));
        };
        RankRules rules;
        rules.block_size = seed % 3 == 0 ? 16 : 4;
        rules.num_blocks = draw(30, 60);
        rules.max_sequences = draw(2, 12);
        rules.max_tokens = draw(12, 64);
        rules.cached = seed % 2 == 0;
        const LinearCost cost{0.01, 1.37e-4, 1.13e-5, 3.1e-4};
        std::vector<Request> requests;
        double at_s = 0.0;
        for (int i = 0; i < 80; ++i) {
            at_s += draws.uniform() * 0.2;
            const bool shared = draw(0, 2) == 0;
            requests.push_back(request(i, static_cast<std::int64_t>(at_s * 1e9), draw(1, 60) + (shared ? 24 : 0),
                                       draw(1, 30), shared ? draw(0, 2) : -1, shared ? 24 : 0));
        }
        SlowEngine twin{rules, cost};
        twin.run(requests);
        sort_events(twin.events);
        for (const bool jump : {true, false}) {
            const Outcome outcome = drive(rules, cost, requests, jump);
            ASSERT_EQ(text(outcome.events), text(twin.events)) << "seed " << seed;
            ASSERT_EQ(outcome.served.size(), twin.done.size());
            std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> fast, slow;
            for (const Served& served : outcome.served) {
                fast.emplace_back(served.request.number, served.first_token_ns, served.last_token_ns);
                preemptions += served.preemptions;
                hits += served.hit_tokens;
            }
            for (const auto& of : twin.done) slow.emplace_back(of.request.number, of.first_ns, of.last_ns);
            std::sort(fast.begin(), fast.end());
            std::sort(slow.begin(), slow.end());
            ASSERT_EQ(fast, slow) << "seed " << seed;
        }
    }
    EXPECT_GT(preemptions, 30) << "the loads must be tight";
    EXPECT_GT(hits, 300);
}

/// Asynchronous scheduling: steps of 1 s. A comes at 0 and computes its prompt in step 0, its decode of step 1 is made
/// at once. B comes at 0.5 s while both slots are taken, is seen when step 0 ends (1 s), computes in step 2 and has its
/// first token at 3 s. With one batch at a time it would have it at 2 s.
TEST(Rank, WithTwoBatchesARequestWaitsOutTheOneThatIsMade) {
    RankRules rules;
    rules.num_blocks = 100;
    const std::vector<Request> requests{request(0, 0, 10, 6), request(1, 500'000'000, 10, 2)};
    const auto first_token = [&](int depth) {
        rules.depth = depth;
        const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, requests);
        for (const Served& served : outcome.served)
            if (served.request.number == 1) return std::pair{served.queued_ns, served.first_token_ns};
        return std::pair<std::int64_t, std::int64_t>{};
    };
    EXPECT_EQ(first_token(1), (std::pair<std::int64_t, std::int64_t>{1'000'000'000, 2'000'000'000}));
    EXPECT_EQ(first_token(2), (std::pair<std::int64_t, std::int64_t>{1'000'000'000, 3'000'000'000}));
}

/// With two batches a seat is free one step later: the answer of A ends in step 1 (2 s); the batch of step 2 is made at
/// 1 s, so B, that waits for the only seat, is in step 3 and not in step 2.
TEST(Rank, WithTwoBatchesASeatIsFreeOneStepLater) {
    RankRules rules;
    rules.num_blocks = 100;
    rules.max_sequences = 1;
    const std::vector<Request> requests{request(0, 0, 10, 2), request(1, 0, 10, 1)};
    for (const int depth : {1, 2}) {
        rules.depth = depth;
        const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, requests);
        ASSERT_EQ(outcome.served.size(), 2u);
        EXPECT_EQ(outcome.served[1].first_token_ns, 3'000'000'000) << depth;
    }
}

TEST(Rank, RefusesWhatCanNeverFit) {
    RankRules rules;
    rules.num_blocks = 10;  // 160 tokens
    rules.queue_limit = 1;
    Rank rank{rules};
    EXPECT_FALSE(rank.enqueue(request(0, 0, 150, 20), 0));
    EXPECT_TRUE(rank.enqueue(request(1, 0, 100, 20), 0));
    EXPECT_FALSE(rank.enqueue(request(2, 0, 10, 2), 0)) << "one waits already";
    EXPECT_EQ(rank.counters().refused, 2);
}

/// 1.7 tokens a step: 18 more tokens take ceil(18 / 1.7) = 11 steps, 2 take 2.
TEST(Rank, SpeculationEndsSooner) {
    RankRules rules;
    rules.num_blocks = 100;
    rules.gain = 17;
    rules.per = 10;
    rules.query_tokens = 2;
    const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, {request(0, 0, 10, 19), request(1, 0, 10, 3)});
    ASSERT_EQ(outcome.served.size(), 2u);
    EXPECT_EQ(outcome.served[0].last_token_ns, 3'000'000'000);
    EXPECT_EQ(outcome.served[1].last_token_ns, 12'000'000'000);
}

/// SGLang: prompts go before decodes, so a running answer waits while prompts are computed.
TEST(Rank, SglangComputesPromptsBeforeDecodes) {
    RankRules rules;
    rules.num_blocks = 100;
    rules.batching = model::Batching::sglang;
    const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, {request(0, 0, 10, 3), request(1, 500'000'000, 10, 2)});
    // 0: prompt of 0; 1: prompt of 1; 2: both decode, 1 ends; 3: 0 ends
    ASSERT_EQ(outcome.served.size(), 2u);
    EXPECT_EQ(outcome.served[0].request.number, 1);
    EXPECT_EQ(outcome.served[0].last_token_ns, 3'000'000'000);
    EXPECT_EQ(outcome.served[1].last_token_ns, 4'000'000'000);
}

TEST(Rank, ShortestPromptsAndUrgentRequestsGoFirst) {
    RankRules rules;
    rules.num_blocks = 100;
    rules.max_sequences = 1;
    for (const auto order : {model::QueueOrder::shortest_first, model::QueueOrder::priority}) {
        rules.order = order;
        std::vector<Request> requests{request(0, 0, 50, 1), request(1, 1, 40, 1), request(2, 2, 10, 1)};
        requests[1].urgency = order == model::QueueOrder::priority ? 0 : 1;
        const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, requests);
        ASSERT_EQ(outcome.served.size(), 3u);
        EXPECT_EQ(outcome.served[1].request.number, order == model::QueueOrder::priority ? 1 : 2);
    }
}

/// A session's second turn finds all whole blocks of the first: prompt 40 and answer 9 leave 48 tokens in the cache
/// (the last token is never computed), 3 blocks of 16.
TEST(Rank, ASessionFindsWhatWasSaidBefore) {
    RankRules rules;
    rules.num_blocks = 100;
    rules.cached = true;
    Request first = request(0, 0, 40, 9), second = request(1, 100'000'000'000, 70, 2);
    first.content.session = second.content.session = 5;
    const Outcome outcome = drive(rules, {1.0, 0.0, 0.0, 0.0}, {first, second});
    ASSERT_EQ(outcome.served.size(), 2u);
    EXPECT_EQ(outcome.served[1].hit_tokens, 48);
}

}  // namespace
}  // namespace windtunnel::serve
