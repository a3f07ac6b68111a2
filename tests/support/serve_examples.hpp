#pragma once
/// A cost that is worked out by hand, and small systems for the tests of serving.
#include "windtunnel/serve/system.hpp"

namespace windtunnel::serve::examples {

/// fixed + per_sequence x decodes + per_context x cached tokens + per_token x prompt tokens.
struct LinearCost {
    double fixed_s = 0.0, per_sequence_s = 0.0, per_context_s = 0.0, per_token_s = 0.0;
    [[nodiscard]] Seconds step_time(const StepLoad& load) const {
        return Seconds{fixed_s + per_sequence_s * load.decode_sequences + per_context_s * load.decode_context +
                       per_token_s * load.prefill_tokens};
    }
    [[nodiscard]] DecodeLine decode_line(int sequences) const {
        return {Seconds{fixed_s + per_sequence_s * sequences}, Seconds{per_context_s}};
    }
    [[nodiscard]] bool linear_decode() const { return true; }
};

/// 70B class on a node of eight cards: 15 ms to read the weights, 12 ns a cached token, 60 us a prompt token.
inline constexpr LinearCost usual_cost{0.015, 20e-6, 12e-9, 60e-6};

inline RankRules small_rank(int seats, std::int64_t blocks) {
    RankRules rules;
    rules.max_sequences = seats;
    rules.max_tokens = 512;
    rules.num_blocks = blocks;
    return rules;
}

inline SystemSetup one_rank(const RankRules& rules, const LinearCost& cost) {
    SystemSetup setup;
    setup.main.rules = rules;
    setup.main.times = step_times(cost);
    return setup;
}

inline model::ServeLoad poisson(double rate, std::int64_t requests, model::LengthLaw input, model::LengthLaw output) {
    model::ServeLoad load;
    load.request_rate = rate;
    load.num_requests = requests;
    load.input = input;
    load.output = output;
    return load;
}

/// Rows as a trace whose times are kept.
inline model::ServeLoad replay(std::vector<model::TraceRow> rows) {
    model::ServeLoad load;
    load.arrivals = model::ArrivalKind::trace;
    load.lengths_given = false;
    load.num_requests = static_cast<std::int64_t>(rows.size());
    load.trace.emplace();
    load.trace->rows = std::move(rows);
    return load;
}

}  // namespace windtunnel::serve::examples
