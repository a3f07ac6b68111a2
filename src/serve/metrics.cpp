#include "windtunnel/serve/metrics.hpp"

#include <algorithm>

#include "windtunnel/serve/moment.hpp"

namespace windtunnel::serve {

std::string to_text(Latency latency) {
    switch (latency) {
        case Latency::ttft:
            return "TTFT";
        case Latency::tpot:
            return "TPOT";
        case Latency::itl:
            return "ITL";
        case Latency::e2e:
            return "E2E";
        case Latency::ttft_queued:
            return "TTFT from queued";
        case Latency::wait:
            return "wait";
        case Latency::transfer:
            break;
    }
    return "transfer";
}

std::string to_text(Layer layer) {
    switch (layer) {
        case Layer::load:
            return "load";
        case Layer::scheduler:
            return "scheduler";
        case Layer::engine:
            return "engine";
        case Layer::memory:
            return "memory";
        case Layer::link:
            break;
    }
    return "link";
}

void add_request(RunMetrics& metrics, const Served& served, const model::Slo& slo) {
    const Request& request = served.request;
    ++metrics.all_requests;
    if (served.refused) ++metrics.all_refused;
    if (!served.refused) metrics.all_output_tokens += request.output, metrics.all_input_tokens += request.input;
    if (!request.counted) return;
    ++metrics.requests;
    if (served.refused) {
        ++metrics.refused;
        return;
    }
    const double ttft = seconds_of(served.first_token_ns - request.arrival_ns);
    const double e2e = seconds_of(served.last_token_ns - request.arrival_ns);
    const double tpot =
        request.output > 1 ? seconds_of(served.last_token_ns - served.first_token_ns) / (request.output - 1) : 0.0;
    const auto at = [&](Latency latency) -> Histogram& { return metrics.latency[static_cast<std::size_t>(latency)]; };
    at(Latency::ttft).add(ttft);
    if (request.output > 1) at(Latency::tpot).add(tpot);
    at(Latency::e2e).add(e2e);
    at(Latency::ttft_queued).add(seconds_of(served.first_token_ns - served.queued_ns));
    at(Latency::wait).add(seconds_of(std::max<std::int64_t>(0, served.scheduled_ns - served.queued_ns)));
    metrics.input_tokens += request.input;
    metrics.output_tokens += request.output;
    const bool good = (!slo.ttft || ttft <= slo.ttft->value()) && (!slo.tpot || tpot <= slo.tpot->value()) &&
                      (!slo.e2e || e2e <= slo.e2e->value());
    metrics.good += good ? 1 : 0;
}

}  // namespace windtunnel::serve
