#include "windtunnel/serve/load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "windtunnel/base/variates.hpp"
#include "windtunnel/serve/moment.hpp"

namespace windtunnel::serve {
namespace {

using model::ArrivalKind;
constexpr std::uint32_t purpose_arrivals = 501, purpose_lengths = 502, purpose_sessions = 503, purpose_groups = 504,
                        purpose_classes = 505;
constexpr double most_ns = 9.0e18;
constexpr double most_tokens = 1e8;

std::int64_t to_ns(double seconds) {
    return static_cast<std::int64_t>(std::llround(std::min(seconds * 1e9, most_ns)));
}

double draw_law(base::Draws& draws, const model::Law& law) {
    switch (law.kind) {
        case model::LawKind::exponential:
            return base::exponential(draws, law.scale.value());
        case model::LawKind::weibull:
            return base::weibull(draws, law.shape, law.scale.value());
        case model::LawKind::lognormal:
            return base::lognormal(draws, law.shape, law.scale.value());
        case model::LawKind::gamma:
            return base::gamma(draws, law.shape, law.scale.value());
        case model::LawKind::deterministic:
            break;
    }
    return law.scale.value();
}

}  // namespace

double weibull_shape(double variation) {
    const auto variation_of = [](double shape) {
        const double log_ratio = std::lgamma(1.0 + 2.0 / shape) - 2.0 * std::lgamma(1.0 + 1.0 / shape);
        return std::sqrt(std::max(0.0, std::expm1(log_ratio)));
    };
    double low = 0.05, high = 100.0;
    for (int i = 0; i < 80; ++i) {
        const double middle = std::sqrt(low * high);
        (variation_of(middle) > variation ? low : high) = middle;
    }
    return std::sqrt(low * high);
}

std::int32_t draw_length(base::Draws& draws, const model::LengthLaw& law, double shape) {
    const double variation = law.variation;
    double tokens = law.mean;
    switch (law.kind) {
        case model::LengthKind::fixed:
            break;
        case model::LengthKind::uniform:
            tokens = std::floor(law.least + draws.uniform() * (law.most - law.least + 1.0));
            break;
        case model::LengthKind::lognormal:
            tokens = base::lognormal(draws, std::sqrt(std::log1p(variation * variation)),
                                     law.mean / std::sqrt(1.0 + variation * variation));
            break;
        case model::LengthKind::gamma:
            tokens = base::gamma(draws, 1.0 / (variation * variation), law.mean * variation * variation);
            break;
        case model::LengthKind::weibull:
            tokens = base::weibull(draws, shape, law.mean / std::tgamma(1.0 + 1.0 / shape));
            break;
    }
    tokens = std::clamp(std::round(std::min(tokens, most_tokens)), static_cast<double>(law.least),
                        static_cast<double>(law.most));
    return static_cast<std::int32_t>(tokens);
}

Load::Load(const model::ServeLoad& load, std::uint64_t seed, std::uint64_t trial)
    : load_{&load},
      arrival_draws_{{seed, purpose_arrivals, trial}},
      length_draws_{{seed, purpose_lengths, trial}},
      session_draws_{{seed, purpose_sessions, trial}},
      group_draws_{{seed, purpose_groups, trial}},
      class_draws_{{seed, purpose_classes, trial}} {
    input_shape_ = load.input.kind == model::LengthKind::weibull ? weibull_shape(load.input.variation) : 1.0;
    output_shape_ = load.output.kind == model::LengthKind::weibull ? weibull_shape(load.output.variation) : 1.0;
    const double rate = load.request_rate / load.turns;  // of sessions
    if (load.arrivals == ArrivalKind::gamma) scale_ = 1.0 / (rate * load.burstiness);
    if (load.arrivals == ArrivalKind::weibull) scale_ = 1.0 / (rate * std::tgamma(1.0 + 1.0 / load.burstiness));
    if (load.arrivals == ArrivalKind::mmpp) {
        bursting_ = arrival_draws_.uniform() < load.burst_share;
        const double calm_s = load.burst_length.value() * (1.0 - load.burst_share) / load.burst_share;
        state_ends_s_ = base::exponential(arrival_draws_, bursting_ ? load.burst_length.value() : calm_s);
    }
    if (load.trace && !load.trace->rows.empty()) {
        const auto& rows = load.trace->rows;
        const double last = rows.back().arrival_s, count = static_cast<double>(rows.size());
        trace_span_s_ = rows.size() > 1 ? last * count / (count - 1.0) : 1.0;  // one mean gap behind the last row
        scale_ = load.arrivals == ArrivalKind::trace && load.request_rate > 0.0 && trace_span_s_ > 0.0
                     ? count / trace_span_s_ / load.request_rate
                     : (load.arrivals == ArrivalKind::trace ? 1.0 : scale_);
    }
    double sum = 0.0;
    for (int group = 1; group <= load.prefix_groups; ++group)
        groups_.push_back(sum += std::pow(group, -load.prefix_skew));
    draw_arrival();
}

double Load::mmpp_gap() {
    const double share = load_->burst_share, factor = load_->burst_factor;
    const double calm_rate = load_->request_rate / load_->turns / (1.0 - share + factor * share);
    const double calm_s = load_->burst_length.value() * (1.0 - share) / share;
    double at = now_s_;
    while (true) {
        const double gap = base::exponential(arrival_draws_, 1.0 / (bursting_ ? factor * calm_rate : calm_rate));
        if (at + gap <= state_ends_s_) return at + gap - now_s_;
        at = state_ends_s_;
        bursting_ = !bursting_;
        state_ends_s_ = at + base::exponential(arrival_draws_, bursting_ ? load_->burst_length.value() : calm_s);
    }
}

double Load::diurnal_gap() {
    const double rate = load_->request_rate / load_->turns, amplitude = load_->day_amplitude;
    const double most = rate * (1.0 + amplitude), turn = 2.0 * std::numbers::pi / load_->day_period.value();
    double at = now_s_;
    while (true) {
        at += base::exponential(arrival_draws_, 1.0 / most);
        const double here = rate * (1.0 + amplitude * std::sin(turn * at));
        if (arrival_draws_.uniform() * most <= here) return at - now_s_;
    }
}

void Load::draw_arrival() {
    open_ = arrivals_ < load_->num_requests;
    if (!open_) return;
    const double rate = load_->request_rate / load_->turns;
    switch (load_->arrivals) {
        case ArrivalKind::poisson:
            now_s_ += base::exponential(arrival_draws_, 1.0 / rate);
            break;
        case ArrivalKind::gamma:
            now_s_ += base::gamma(arrival_draws_, load_->burstiness, scale_);
            break;
        case ArrivalKind::weibull:
            now_s_ += base::weibull(arrival_draws_, load_->burstiness, scale_);
            break;
        case ArrivalKind::mmpp:
            now_s_ += mmpp_gap();
            break;
        case ArrivalKind::diurnal:
            now_s_ += diurnal_gap();
            break;
        case ArrivalKind::closed_loop:
            open_ = arrivals_ < load_->concurrency;
            break;
        case ArrivalKind::trace: {
            const auto& rows = load_->trace->rows;
            const auto count = static_cast<std::int64_t>(rows.size());
            now_s_ = scale_ * (static_cast<double>(arrivals_ / count) * trace_span_s_ +
                               rows[static_cast<std::size_t>(arrivals_ % count)].arrival_s);
            break;
        }
    }
    open_ns_ = to_ns(now_s_);
}

std::int64_t Load::next_ns() const noexcept {
    if (given_ >= load_->num_requests) return never;
    const std::int64_t open = open_ ? open_ns_ : never;
    return followups_.empty() ? open : std::min(open, followups_.front().at_ns);
}

void Load::draw_lengths(Request& request) {
    if (load_->lengths_given) {
        request.input = draw_length(length_draws_, load_->input, input_shape_);
        request.output = draw_length(length_draws_, load_->output, output_shape_);
        return;
    }
    const model::Trace& trace = *load_->trace;
    const model::TraceRow& row =
        trace.rows[static_cast<std::size_t>(row_++ % static_cast<std::int64_t>(trace.rows.size()))];
    request.input = row.input_tokens;
    request.output = row.output_tokens;
    if (row.num_blocks > 0) {
        request.content.trace_blocks = trace.blocks.data() + row.first_block;
        request.content.num_trace_blocks = static_cast<std::int32_t>(row.num_blocks);
        request.content.trace_block_tokens = trace.block_tokens;
    }
}

Request Load::take() {
    Request request;
    const std::int64_t at = next_ns();
    if (!followups_.empty() && followups_.front().at_ns == at) {
        std::pop_heap(followups_.begin(), followups_.end(), std::greater<>{});
        request = followups_.back().request;
        followups_.pop_back();
    } else {
        draw_lengths(request);
        if (!groups_.empty()) {
            const double place = group_draws_.uniform() * groups_.back();
            request.content.group = std::lower_bound(groups_.begin(), groups_.end(), place) - groups_.begin();
            request.content.group_tokens = load_->prefix_tokens;
            request.input += load_->prefix_tokens;
        }
        if (load_->turns > 1.0) request.content.session = sessions_++;
        ++arrivals_;
        draw_arrival();
    }
    request.arrival_ns = at;
    request.number = given_++;
    request.urgency = load_->priority_share > 0.0 && class_draws_.uniform() < load_->priority_share ? 0 : 1;
    // Whole requests: of a single one nothing is cut off.
    request.counted =
        static_cast<double>(request.number) >= std::floor(load_->warm_up * static_cast<double>(load_->num_requests));
    return request;
}

void Load::ended(const Request& request, std::int64_t now_ns) {
    if (load_->arrivals == ArrivalKind::closed_loop) {
        if (arrivals_ >= load_->num_requests) return;
        Request next;
        draw_lengths(next);
        if (!groups_.empty()) {
            const double place = group_draws_.uniform() * groups_.back();
            next.content.group = std::lower_bound(groups_.begin(), groups_.end(), place) - groups_.begin();
            next.content.group_tokens = load_->prefix_tokens;
            next.input += load_->prefix_tokens;
        }
        ++arrivals_;
        followups_.push_back({now_ns, num_followups_++, next});
        std::push_heap(followups_.begin(), followups_.end(), std::greater<>{});
        return;
    }
    if (request.content.session < 0 || session_draws_.uniform() * load_->turns < 1.0) return;
    Request next;
    next.content = request.content;
    draw_lengths(next);
    next.content = request.content;
    const double said = static_cast<double>(request.input) + request.output + next.input;
    next.input = static_cast<std::int32_t>(std::min(said, most_tokens));
    const double think_s = std::max(0.0, draw_law(session_draws_, load_->think_time));
    followups_.push_back({now_ns + to_ns(think_s), num_followups_++, next});
    std::push_heap(followups_.begin(), followups_.end(), std::greater<>{});
}

}  // namespace windtunnel::serve
