#include "windtunnel/serve/closed_loop.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::serve {

Seconds decode_time(const EngineCost& cost, double sequences, double context) {
    FractionalLoad load;
    load.decode_sequences = load.outputs = sequences;
    load.decode_context = sequences * context;
    return cost.step_parts(load).sum();
}

Seconds prefill_time(const EngineCost& cost, double sequences, double prompt, double budget, double decodes,
                     double context) {
    const double tokens = sequences * prompt;
    if (!(tokens > 0.0)) return Seconds{0.0};
    const double room = std::max(1.0, budget - decodes);
    const double steps = std::max(1.0, std::ceil(tokens / room - 1e-9));
    // Chunks of equal size: pairs of a prompt cut into c chunks are those of the whole; what came before is read again.
    const double chunks = std::max(1.0, std::min(steps, std::ceil(prompt / room - 1e-9)));
    FractionalLoad load;
    load.decode_sequences = decodes;
    load.decode_context = decodes * context;
    load.prefill_sequences = std::max(1.0, sequences / steps);
    load.prefill_tokens = tokens / steps;
    load.prefill_pairs = sequences * 0.5 * prompt * (prompt + 1.0) / steps;
    load.prefill_context = sequences * prompt * 0.5 * (chunks - 1.0) / steps;
    load.outputs = decodes + sequences / steps;
    return steps * cost.step_parts(load).sum();
}

ClosedLoopAnswer closed_loop(const EngineCost& cost, const ClosedLoop& loop) {
    const model::EngineEfficiency& e = cost.setup().efficiency;
    const double per_step = std::max(1.0, cost.setup().speculation.tokens_per_step);
    const double n = std::max(1.0, std::min(loop.concurrency, loop.places));
    const double context = loop.prompt + 0.5 * loop.output, output = std::max(1.0, loop.output);
    ClosedLoopAnswer answer;
    Seconds step = decode_time(cost, n, context);
    const double room = std::max(1.0, std::min(loop.token_budget, 1e9) - n);
    Seconds per_token = step / per_step, first{0.0};
    double decoding = n;
    for (int round = 0; round < 12; ++round) {  // decoding sequences and waits depend on each other
        step = decode_time(cost, std::max(1.0, decoding), context);
        const double steps_of_prompt = std::max(1.0, std::ceil(loop.prompt / room - 1e-9));
        const Seconds own =
            prefill_time(cost, 1.0, loop.prompt, loop.token_budget, std::max(0.0, decoding - 1.0), context);
        const Seconds extra = std::max(Seconds{0.0}, own - steps_of_prompt * step);
        const Seconds cycle = first + output * per_token;
        const double busy = std::min(0.95, (n - 1.0) * (own / cycle));
        const Seconds wait = std::min(0.5 * busy / (1.0 - busy), 0.5 * (n - 1.0)) * own;
        first = e.first_token_fixed + 0.5 * std::min(1.0, n - 1.0) * step + wait + own;
        per_token = step / per_step + ((n - 1.0) / n) * n * (extra / cycle) * per_token;
        decoding = std::max(1.0, n * (output * per_token / (first + output * per_token)));
    }
    // Wave: batches of the budget one after the other; the mean request waits for half of them and its own.
    const double at_once = std::max(1.0, std::min(n, std::floor(room / std::max(1.0, loop.prompt))));
    const Seconds batch = prefill_time(cost, at_once, loop.prompt, loop.token_budget, 0.0, 0.0);
    const Seconds wave = e.first_token_fixed + 0.5 * (n / at_once + 1.0) * batch;
    const Seconds wave_token = decode_time(cost, n, context) / per_step + 0.5 * (n / at_once - 1.0) * (batch / output);
    answer.first_token = (1.0 - loop.wave_share) * first + loop.wave_share * wave;
    answer.per_token = (1.0 - loop.wave_share) * per_token + loop.wave_share * wave_token;
    if (loop.concurrency > n) answer.first_token += (loop.concurrency - n) / n * (output * answer.per_token);
    answer.decoding = decoding;
    return answer;
}

Seconds static_batch_time(const EngineCost& cost, double requests, double places, double prompt, double output,
                          double budget) {
    const double batch = std::max(1.0, std::min(requests, places));
    const double per_step = std::max(1.0, cost.setup().speculation.tokens_per_step);
    const Seconds turn = prefill_time(cost, batch, prompt, budget, 0.0, 0.0) +
                         std::max(0.0, output - 1.0) / per_step * decode_time(cost, batch, prompt + 0.5 * output);
    return cost.setup().efficiency.first_token_fixed + std::max(1.0, requests / batch) * turn;
}

}  // namespace windtunnel::serve
