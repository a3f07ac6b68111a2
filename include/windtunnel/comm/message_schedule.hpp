#pragma once
/// Collectives message by message: who sends which blocks to whom in which round. The slow twin of algorithms.hpp.
#include <optional>
#include <vector>

#include "windtunnel/comm/algorithms.hpp"

namespace windtunnel::comm {

enum class Transfer {
    copy,    ///< the sender keeps the blocks
    move,    ///< the sender gives them away
    reduce,  ///< the receiver adds them to its own, the sender gives them away
    add      ///< the receiver adds them to its own, the sender keeps them
};

struct Message {
    int from = 0, to = 0;
    Transfer transfer = Transfer::copy;
    std::vector<int> blocks;
};

/// Messages of a round leave at once, with what their senders held when it began.
struct MessageSchedule {
    int num_ranks = 1;
    int num_blocks = 1;  ///< of the message; all_to_all: num_ranks of each rank, block from x num_ranks + to
    std::vector<std::vector<Message>> rounds;
};

/// Model:   the algorithms of algorithms.hpp spelled out; `tree` in one piece (no pipelining), one level a round.
/// Inputs:  n >= 1. Returns: empty for in_network, automatic and what algorithms.hpp leaves empty.
/// Source:  as algorithms.hpp.
[[nodiscard]] std::optional<MessageSchedule> message_schedule(Operation operation, CollectiveAlgorithm algorithm,
                                                              int n);

/// All-reduce of d groups of g: reduce-scatter inside, all-reduce between counterparts, all-gather inside.
[[nodiscard]] std::optional<MessageSchedule> hierarchical_all_reduce(int g, int d, CollectiveAlgorithm inside,
                                                                     CollectiveAlgorithm outside);

/// What came of it.
struct Delivery {
    bool exact = true;  ///< every rank ends with what the operation promises, each contribution counted once
    int rounds = 0;
    double volume = 0.0;     ///< sum over rounds of the most that one rank sends or receives, over the message
    double port_load = 0.0;  ///< the most that one rank sends or receives in all, over the message
};
[[nodiscard]] Delivery deliver(Operation operation, const MessageSchedule& schedule);

}  // namespace windtunnel::comm
