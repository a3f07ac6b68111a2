#pragma once
/// What people ask about a served load, in sums that merge.
///
/// Definitions (those of the serving benchmark of vLLM): TTFT from arrival to the first token; TPOT = (last token -
/// first token) / (output tokens - 1), requests with one token have none; ITL: the gap between two tokens of a request
/// that follow each other; E2E from arrival to the last token. Beside them TTFT from the moment that the scheduler saw
/// the request (queued), and the time from there to its first batch (wait).
#include <array>
#include <cstdint>
#include <string>

#include "windtunnel/base/moments.hpp"
#include "windtunnel/model/serving.hpp"
#include "windtunnel/serve/histogram.hpp"
#include "windtunnel/serve/request.hpp"

namespace windtunnel::serve {

enum class Latency { ttft, tpot, itl, e2e, ttft_queued, wait, transfer };
inline constexpr int num_latencies = 7;
[[nodiscard]] std::string to_text(Latency latency);

/// Where a request's time goes, and what limits the deployment.
enum class Layer { load, scheduler, engine, memory, link };
inline constexpr int num_layers_of_serving = 5;
[[nodiscard]] std::string to_text(Layer layer);

/// One run: requests that count (after the warm-up), and the whole system.
struct RunMetrics {
    std::array<Histogram, num_latencies> latency;
    std::int64_t requests = 0, refused = 0, good = 0;  ///< good: kept every limit that is given
    std::int64_t all_requests = 0, all_refused = 0;    ///< with the warm-up
    double input_tokens = 0.0, output_tokens = 0.0;    ///< of the requests that count
    double all_output_tokens = 0.0, all_input_tokens = 0.0;
    double first_arrival_s = 0.0, last_arrival_s = 0.0, end_s = 0.0;  ///< of the requests that count
    double in_system = 0.0;                                           ///< requests in the system, mean over time
    double busy_share = 0.0;                                          ///< of the instances' time
    double block_share = 0.0;  ///< KV blocks in use, mean over the time and ranks
    double peak_block_share = 0.0;
    double waiting = 0.0;                     ///< requests that wait at a rank, mean over time
    std::array<double, 4> waiting_seconds{};  ///< by serve::Blocked
    double transfer_seconds = 0.0, transfer_wait_seconds = 0.0;
    double hit_tokens = 0.0, prefill_tokens = 0.0, recomputed_tokens = 0.0;
    std::int64_t preemptions = 0, steps = 0, stretches = 0;
    double instance_seconds = 0.0;  ///< instances that were on, main part
    bool saturated = false;
    Layer limit = Layer::load;

    /// From the first arrival that counts to the end.
    [[nodiscard]] double duration_s() const noexcept { return end_s - first_arrival_s; }
};

/// Adds a request that ended. `slo`: the limits of a good one.
void add_request(RunMetrics& metrics, const Served& served, const model::Slo& slo);

}  // namespace windtunnel::serve
