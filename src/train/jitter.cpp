#include "windtunnel/train/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace windtunnel::train {
namespace {

/// Probability that a card takes longer than x times its mean.
double tail(const model::Jitter& jitter, double x) {
    if (jitter.law == model::JitterLaw::normal)
        return 0.5 * std::erfc((x - 1.0) / (jitter.sigma * std::numbers::sqrt2));
    if (!(x > 0.0)) return 1.0;
    // Mean 1 and standard deviation sigma: log-variance log(1 + sigma^2), log-mean -half of it.
    const double variance = std::log1p(jitter.sigma * jitter.sigma);
    return 0.5 * std::erfc((std::log(x) + 0.5 * variance) / std::sqrt(2.0 * variance));
}

/// A quantile of one card's time so far out that nothing lies beyond it.
double far_out(const model::Jitter& jitter, double deviations) {
    if (jitter.law == model::JitterLaw::normal) return 1.0 + deviations * jitter.sigma;
    const double variance = std::log1p(jitter.sigma * jitter.sigma);
    return std::exp(deviations * std::sqrt(variance) - 0.5 * variance);
}

}  // namespace

double slowest_of(const model::Jitter& jitter, double cards) {
    const double slow = jitter.slow_share, stretch = 1.0 / jitter.slow_speed;
    if (cards <= 1.0) return 1.0 - slow + slow * stretch;
    if (!(jitter.sigma > 0.0)) {
        const double none_slow = slow < 1.0 ? std::exp(cards * std::log1p(-slow)) : 0.0;
        return none_slow + (1.0 - none_slow) * stretch;
    }
    constexpr double deviations = 10.0;
    const double low = far_out(jitter, -deviations), high = far_out(jitter, deviations) * stretch;
    // Simpson's rule, steps of at most a 40th of a standard deviation.
    constexpr double most_intervals = 100'000.0;
    const double intervals = 2.0 * std::ceil(0.5 * std::min(most_intervals, (high - low) / (jitter.sigma / 40.0)));
    const double step = (high - low) / intervals;
    const auto exceeded = [&](double x) {
        const double longer = (1.0 - slow) * tail(jitter, x) + slow * tail(jitter, x / stretch);
        return longer < 1.0 ? -std::expm1(cards * std::log1p(-longer)) : 1.0;
    };
    double sum = exceeded(low) + exceeded(high);
    for (double i = 1.0; i < intervals; i += 1.0)
        sum += (std::fmod(i, 2.0) == 1.0 ? 4.0 : 2.0) * exceeded(low + i * step);
    return low + sum * step / 3.0;
}

Seconds waiting_for_slowest(const model::Jitter& jitter, double cards, Seconds work) {
    if (!(jitter.sigma > 0.0 || jitter.slow_share > 0.0)) return Seconds{0.0};
    return work * (slowest_of(jitter, cards) - 1.0);
}

}  // namespace windtunnel::train
