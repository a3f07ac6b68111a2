#pragma once
/// A request as the load sends it, and what became of it.
#include <cstdint>

namespace windtunnel::serve {

/// Whose tokens a prompt begins with; equal numbers mean equal tokens.
struct Content {
    std::int64_t group = -1;  ///< shared system prompt, -1: none
    std::int32_t group_tokens = 0;
    std::int64_t session = -1;  ///< -1: tokens of its own; a session's next turn begins with all that was said before
    const std::uint32_t* trace_blocks = nullptr;  ///< ids of prompt blocks of a trace, each with all that precedes it
    std::int32_t num_trace_blocks = 0;
    std::int32_t trace_block_tokens = 0;
    std::int32_t trace_tokens = 0;  ///< tokens that the ids name; beyond the prompt: its answer too. 0: the prompt
};

struct Request {
    std::int64_t number = 0;  ///< from 0, in the order of arrival
    std::int64_t arrival_ns = 0;
    std::int32_t input = 1;    ///< tokens of the prompt, all that is repeated included
    std::int32_t output = 1;   ///< tokens of the answer
    std::int32_t urgency = 1;  ///< 0 before 1
    bool counted = true;       ///< false: warm-up
    Content content;
};

/// Times in nanoseconds since the start.
struct Served {
    Request request;
    std::int64_t queued_ns = 0;       ///< the scheduler saw it
    std::int64_t scheduled_ns = 0;    ///< decision that first gave it tokens
    std::int64_t first_token_ns = 0;  ///< end of the step that gave its first token
    std::int64_t last_token_ns = 0;
    std::int64_t hit_tokens = 0;  ///< prompt tokens found in the prefix cache, over all admissions
    std::int32_t preemptions = 0;
    std::int32_t rank = 0;  ///< that gave the last token
    bool refused = false;   ///< queue full, or too long for the rank: never scheduled
};

}  // namespace windtunnel::serve
