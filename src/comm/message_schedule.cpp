#include "windtunnel/comm/message_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel::comm {
namespace {

using enum CollectiveAlgorithm;
using Rounds = std::vector<std::vector<Message>>;

std::vector<int> range(int begin, int end) {
    std::vector<int> values(static_cast<std::size_t>(std::max(0, end - begin)));
    std::iota(values.begin(), values.end(), begin);
    return values;
}

int log2_floor(int n) {
    int bits = 0;
    while ((2 << bits) <= n) ++bits;
    return bits;
}
int log2_ceil(int n) {
    int bits = 0;
    while ((1 << bits) < n) ++bits;
    return bits;
}

/// Doubling among the first 2^k ranks, of blocks that lie as `held` says.
Rounds doubling(int inner, std::vector<std::vector<int>> held) {
    Rounds rounds;
    for (int bit = 1; bit < inner; bit *= 2) {
        std::vector<Message> round;
        for (int r = 0; r < inner; ++r)
            round.push_back({r, r ^ bit, Transfer::copy, held[static_cast<std::size_t>(r)]});
        auto next = held;
        for (const Message& message : round) {
            auto& blocks = next[static_cast<std::size_t>(message.to)];
            blocks.insert(blocks.end(), message.blocks.begin(), message.blocks.end());
        }
        held = std::move(next);
        rounds.push_back(std::move(round));
    }
    return rounds;
}

/// All-gather of block r of rank r.
std::optional<Rounds> gather_rounds(CollectiveAlgorithm algorithm, int n) {
    Rounds rounds;
    if (n == 1) return rounds;
    const auto each = [n](auto message_of) {
        std::vector<Message> round;
        for (int r = 0; r < n; ++r) round.push_back(message_of(r));
        return round;
    };
    if (algorithm == ring) {
        for (int t = 0; t < n - 1; ++t)
            rounds.push_back(each([&](int r) { return Message{r, (r + 1) % n, Transfer::copy, {(r - t + n) % n}}; }));
    } else if (algorithm == pairwise || algorithm == full_mesh) {
        for (int k = 1; k < n; ++k) {
            auto round = each([&](int r) { return Message{r, (r + k) % n, Transfer::copy, {r}}; });
            if (algorithm == pairwise || rounds.empty())
                rounds.push_back(std::move(round));
            else
                std::move(round.begin(), round.end(), std::back_inserter(rounds.front()));
        }
    } else if (algorithm == nb) {
        for (int reach = 1; reach < n; reach *= 2)
            rounds.push_back(each([&](int r) {
                Message message{r, (r - reach + n) % n, Transfer::copy, {}};
                for (int i = 0; i < std::min(reach, n - reach); ++i) message.blocks.push_back((r + i) % n);
                return message;
            }));
    } else if (algorithm == nhr) {
        for (int reach = 1 << (log2_ceil(n) - 1); reach >= 1; reach /= 2)
            rounds.push_back(each([&](int r) {
                Message message{r, (r + reach) % n, Transfer::copy, {}};
                for (int d = 0; d + reach < n; d += 2 * reach) message.blocks.push_back((r - d + n) % n);
                return message;
            }));
    } else if (algorithm == halving_doubling) {
        const int inner = 1 << log2_floor(n);
        std::vector<std::vector<int>> held(static_cast<std::size_t>(n));
        for (int r = 0; r < n; ++r) held[static_cast<std::size_t>(r)] = {r};
        if (inner < n) rounds.emplace_back();
        for (int r = inner; r < n; ++r) {
            rounds.front().push_back({r, r - inner, Transfer::copy, {r}});
            held[static_cast<std::size_t>(r - inner)].push_back(r);
        }
        for (auto& round : doubling(inner, held)) rounds.push_back(std::move(round));
        if (inner < n) rounds.emplace_back();
        for (int r = inner; r < n; ++r) {
            Message message{r - inner, r, Transfer::copy, {}};
            for (int block = 0; block < n; ++block)
                if (block != r) message.blocks.push_back(block);
            rounds.back().push_back(std::move(message));
        }
    } else {
        return std::nullopt;
    }
    return rounds;
}

/// The same way back: where a block spread from its owner, contributions to it run together.
Rounds reversed(Rounds rounds) {
    std::reverse(rounds.begin(), rounds.end());
    for (auto& round : rounds)
        for (Message& message : round) {
            std::swap(message.from, message.to);
            message.transfer = Transfer::reduce;
        }
    return rounds;
}

void append(Rounds& rounds, Rounds more) {
    std::move(more.begin(), more.end(), std::back_inserter(rounds));
}

/// Parent of a position (from 1) in a binary tree whose leaves are the odd positions; 0: the root.
int parent_of(int position, int n) {
    const int low = position & -position;
    if ((position & (position - 1)) == 0 && 2 * position > n) return 0;
    const int up = (position & ~low) | (low << 1);
    return up <= n ? up : position & ~low;
}

/// Half of the blocks over each of two trees, the second shifted by a rank: up, then down.
Rounds two_trees(int n) {
    Rounds rising, falling;
    for (const int shift : {0, 1}) {
        const auto rank_of = [&](int position) { return (position - 1 + shift) % n; };
        for (int position = 1; position <= n; ++position) {
            const int parent = parent_of(position, n);
            if (parent == 0) continue;
            int depth = 0;
            for (int p = parent; p != 0; p = parent_of(p, n)) ++depth;
            const auto level = static_cast<std::size_t>(depth - 1);
            if (falling.size() <= level) {
                falling.resize(level + 1);
                rising.resize(level + 1);
            }
            falling[level].push_back({rank_of(parent), rank_of(position), Transfer::copy, {shift}});
            rising[level].push_back({rank_of(position), rank_of(parent), Transfer::reduce, {shift}});
        }
    }
    std::reverse(rising.begin(), rising.end());
    append(rising, std::move(falling));
    return rising;
}

std::optional<MessageSchedule> all_reduce(CollectiveAlgorithm algorithm, int n) {
    MessageSchedule schedule{n, n, {}};
    if (algorithm == tree) return MessageSchedule{n, 2, two_trees(n)};
    if (algorithm == one_shot) {
        schedule.num_blocks = 1;
        schedule.rounds.emplace_back();
        for (int r = 0; r < n; ++r)
            for (int other = 0; other < n; ++other)
                if (other != r) schedule.rounds.back().push_back({r, other, Transfer::add, {0}});
        return schedule;
    }
    if (algorithm == halving_doubling && (n & (n - 1)) != 0) {
        const int inner = 1 << log2_floor(n);
        std::vector<Message> to_partner, back;
        for (int r = inner; r < n; ++r) {
            to_partner.push_back({r, r - inner, Transfer::reduce, range(0, inner)});
            back.push_back({r - inner, r, Transfer::copy, range(0, inner)});
        }
        std::vector<std::vector<int>> held(static_cast<std::size_t>(inner));
        for (int r = 0; r < inner; ++r) held[static_cast<std::size_t>(r)] = {r};
        const Rounds gather = doubling(inner, held);
        schedule.num_blocks = inner;
        schedule.rounds = {to_partner};
        append(schedule.rounds, reversed(gather));
        append(schedule.rounds, gather);
        schedule.rounds.push_back(back);
        return schedule;
    }
    const auto gather = gather_rounds(algorithm, n);
    if (!gather) return std::nullopt;
    schedule.rounds = reversed(*gather);
    append(schedule.rounds, *gather);
    return schedule;
}

std::optional<MessageSchedule> all_to_all(CollectiveAlgorithm algorithm, int n) {
    MessageSchedule schedule{n, n, {}};
    const auto block = [n](int from, int to) { return from * n + (to % n + n) % n; };
    if (algorithm == pairwise || algorithm == full_mesh) {
        for (int k = 1; k < n; ++k) {
            if (schedule.rounds.empty() || algorithm == pairwise) schedule.rounds.emplace_back();
            for (int r = 0; r < n; ++r)
                schedule.rounds.back().push_back({r, (r + k) % n, Transfer::move, {block(r, r + k)}});
        }
    } else if (algorithm == ring) {  // in round t the block from s to d has moved t places, until it is there
        for (int t = 0; t < n - 1; ++t) {
            schedule.rounds.emplace_back();
            for (int r = 0; r < n; ++r) {
                Message message{r, (r + 1) % n, Transfer::move, {}};
                const int from = (r - t + n) % n;
                for (int distance = t + 1; distance < n; ++distance)
                    message.blocks.push_back(block(from, from + distance));
                schedule.rounds.back().push_back(std::move(message));
            }
        }
    } else if (algorithm == nb) {
        for (int bit = 1; bit < n; bit *= 2) {
            schedule.rounds.emplace_back();
            for (int r = 0; r < n; ++r) {
                Message message{r, (r + bit) % n, Transfer::move, {}};
                for (int distance = 1; distance < n; ++distance)
                    if ((distance & bit) != 0) {  // lower bits have been walked
                        const int from = ((r - (distance & (bit - 1))) % n + n) % n;
                        message.blocks.push_back(block(from, from + distance));
                    }
                schedule.rounds.back().push_back(std::move(message));
            }
        }
    } else {
        return std::nullopt;
    }
    return schedule;
}

/// Halves of halves from rank 0, or straight to all.
Rounds scatter_rounds(int n, bool at_once) {
    Rounds rounds;
    if (at_once) {
        rounds.emplace_back();
        for (int r = 1; r < n; ++r) rounds.back().push_back({0, r, Transfer::move, {r}});
        return rounds;
    }
    std::vector<std::pair<int, int>> holders{{0, n}};
    while (std::any_of(holders.begin(), holders.end(), [](const auto& h) { return h.second - h.first > 1; })) {
        std::vector<std::pair<int, int>> next;
        rounds.emplace_back();
        for (const auto& [begin, end] : holders) {
            const int middle = begin + (end - begin + 1) / 2;
            next.emplace_back(begin, middle);
            if (middle == end) continue;
            next.emplace_back(middle, end);
            rounds.back().push_back({begin, middle, Transfer::move, range(middle, end)});
        }
        holders = std::move(next);
    }
    return rounds;
}

std::optional<MessageSchedule> broadcast(CollectiveAlgorithm algorithm, int n) {
    if (algorithm == pairwise) return std::nullopt;
    if (algorithm == tree) {
        MessageSchedule schedule{n, 1, {}};
        for (int reach = 1; reach < n; reach *= 2) {
            schedule.rounds.emplace_back();
            for (int r = 0; r < reach && r + reach < n; ++r)
                schedule.rounds.back().push_back({r, r + reach, Transfer::copy, {0}});
        }
        return schedule;
    }
    MessageSchedule schedule{n, n, {}};
    if (algorithm == one_shot) {
        schedule.rounds.emplace_back();
        for (int r = 1; r < n; ++r) schedule.rounds.back().push_back({0, r, Transfer::copy, range(0, n)});
        return schedule;
    }
    const auto gather = gather_rounds(algorithm, n);
    if (!gather) return std::nullopt;
    schedule.rounds = scatter_rounds(n, algorithm == full_mesh);
    append(schedule.rounds, *gather);
    return schedule;
}

/// How often each rank's contribution is in a block that a rank holds; empty: it holds nothing.
using Contents = std::vector<int>;

}  // namespace

std::optional<MessageSchedule> message_schedule(Operation operation, CollectiveAlgorithm algorithm, int n) {
    if (algorithm == in_network || algorithm == automatic) return std::nullopt;
    if (n <= 1) return MessageSchedule{};
    if (operation == Operation::all_reduce) return all_reduce(algorithm, n);
    if (operation == Operation::all_to_all) return all_to_all(algorithm, n);
    if (operation == Operation::broadcast) return broadcast(algorithm, n);
    auto rounds = gather_rounds(algorithm, n);
    if (!rounds) return std::nullopt;
    return MessageSchedule{n, n, operation == Operation::all_gather ? *rounds : reversed(*rounds)};
}

std::optional<MessageSchedule> hierarchical_all_reduce(int g, int d, CollectiveAlgorithm inside,
                                                       CollectiveAlgorithm outside) {
    const auto gather = gather_rounds(inside, g);
    const auto between = message_schedule(Operation::all_reduce, outside, d);
    if (!gather || !between || between->num_blocks > d) return std::nullopt;
    MessageSchedule whole{g * d, g * between->num_blocks, {}};
    const int parts = between->num_blocks;
    const auto inside_all_groups = [&](const Rounds& rounds) {
        for (const auto& round : rounds) {
            whole.rounds.emplace_back();
            for (int group = 0; group < d; ++group)
                for (const Message& message : round) {
                    Message copy{group * g + message.from, group * g + message.to, message.transfer, {}};
                    for (const int block : message.blocks)
                        for (int part = 0; part < parts; ++part) copy.blocks.push_back(block * parts + part);
                    whole.rounds.back().push_back(std::move(copy));
                }
        }
    };
    inside_all_groups(reversed(*gather));
    for (const auto& round : between->rounds) {
        whole.rounds.emplace_back();
        for (int member = 0; member < g; ++member)
            for (const Message& message : round) {
                Message copy{message.from * g + member, message.to * g + member, message.transfer, {}};
                for (const int part : message.blocks) copy.blocks.push_back(member * parts + part);
                whole.rounds.back().push_back(std::move(copy));
            }
    }
    inside_all_groups(*gather);
    return whole;
}

Delivery deliver(Operation operation, const MessageSchedule& schedule) {
    const int n = schedule.num_ranks, blocks = schedule.num_blocks;
    const bool exchange = operation == Operation::all_to_all;
    const int ids = exchange ? n * n : blocks;
    const auto at = [ids](int rank, int block) { return static_cast<std::size_t>(rank * ids + block); };
    std::vector<Contents> held(static_cast<std::size_t>(n * ids));
    const auto contribution = [n](int rank) {
        Contents contents(static_cast<std::size_t>(n), 0);
        contents[static_cast<std::size_t>(rank)] = 1;
        return contents;
    };
    for (int r = 0; r < n; ++r)
        for (int b = 0; b < ids; ++b) {
            const bool owns = operation == Operation::all_gather  ? b == r
                              : exchange                          ? b / n == r
                              : operation == Operation::broadcast ? r == 0
                                                                  : true;
            if (owns) held[at(r, b)] = contribution(operation == Operation::broadcast ? 0 : r);
        }
    Delivery delivery;
    std::vector<double> sent_in_all(static_cast<std::size_t>(n), 0.0), received_in_all = sent_in_all;
    for (const auto& round : schedule.rounds) {
        const std::vector<Contents> before = held;
        std::vector<double> sent(static_cast<std::size_t>(n), 0.0), received = sent;
        for (const Message& message : round)  // what is given away goes first
            if (message.transfer == Transfer::move || message.transfer == Transfer::reduce)
                for (const int block : message.blocks) held[at(message.from, block)].clear();
        for (const Message& message : round) {
            const auto size = static_cast<double>(message.blocks.size());
            sent[static_cast<std::size_t>(message.from)] += size;
            received[static_cast<std::size_t>(message.to)] += size;
            for (const int block : message.blocks) {
                const Contents& contents = before[at(message.from, block)];
                Contents& target = held[at(message.to, block)];
                delivery.exact = delivery.exact && !contents.empty();  // nobody sends what it does not have
                if (message.transfer == Transfer::copy || message.transfer == Transfer::move) {
                    delivery.exact = delivery.exact && target.empty();  // nothing comes twice
                    target = contents;
                } else {
                    target.resize(static_cast<std::size_t>(n), 0);
                    for (std::size_t i = 0; i < contents.size(); ++i) target[i] += contents[i];
                }
            }
        }
        double most = 0.0;
        for (std::size_t r = 0; r < sent.size(); ++r) {
            most = std::max({most, sent[r], received[r]});
            sent_in_all[r] += sent[r];
            received_in_all[r] += received[r];
        }
        delivery.volume += most / blocks;
        ++delivery.rounds;
    }
    for (std::size_t r = 0; r < sent_in_all.size(); ++r)
        delivery.port_load = std::max({delivery.port_load, sent_in_all[r] / blocks, received_in_all[r] / blocks});
    const bool reduces = operation == Operation::all_reduce || operation == Operation::reduce_scatter;
    const Contents everyone(static_cast<std::size_t>(n), 1);
    for (int r = 0; r < n; ++r)
        for (int b = 0; b < ids; ++b) {
            const Contents& contents = held[at(r, b)];
            const bool wanted = operation == Operation::reduce_scatter ? b == r : !exchange || b % n == r;
            if (!wanted) continue;
            const Contents expected = reduces                             ? everyone
                                      : exchange                          ? contribution(b / n)
                                      : operation == Operation::broadcast ? contribution(0)
                                                                          : contribution(b);
            delivery.exact = delivery.exact && contents == expected;
        }
    return delivery;
}

}  // namespace windtunnel::comm
