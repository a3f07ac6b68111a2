#include "windtunnel/avail/law.hpp"

#include <cmath>
#include <limits>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/incomplete_gamma.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::avail {

using model::LawKind;

Seconds sample(const model::Law& law, base::Draws& draws) noexcept {
    const double scale = law.scale.value();
    switch (law.kind) {
        case LawKind::exponential:
            return Seconds{base::exponential(draws, scale)};
        case LawKind::weibull:
            return Seconds{base::weibull(draws, law.shape, scale)};
        case LawKind::lognormal:
            return Seconds{base::lognormal(draws, law.shape, scale)};
        case LawKind::gamma:
            return Seconds{base::gamma(draws, law.shape, scale)};
        case LawKind::deterministic:
            return law.scale;
    }
    return law.scale;
}

Seconds time_at_hazard(const model::Law& law, double hazard) noexcept {
    base::expects(hazard >= 0.0, "a cumulative hazard");
    if (hazard == 0.0 && law.kind != LawKind::deterministic) return Seconds{0.0};
    const double failed = -std::expm1(-hazard);  // distribution function
    switch (law.kind) {
        case LawKind::exponential:
            return law.scale * hazard;
        case LawKind::weibull:
            return law.scale * std::pow(hazard, 1.0 / law.shape);
        case LawKind::lognormal:
            // Where 1 - F underflows beside F the upper tail is at more than 8 standard deviations: no member lasts so
            // long.
            if (failed >= 1.0) return Seconds{std::numeric_limits<double>::infinity()};
            return law.scale * std::exp(law.shape * base::normal_quantile(failed));
        case LawKind::gamma:
            return law.scale * base::gamma_p_inverse(law.shape, failed);
        case LawKind::deterministic:
            return law.scale;
    }
    return law.scale;
}

namespace {

/// Distribution function of the residual life.
double residual_distribution(const model::Law& law, double t) noexcept {
    const double scale = law.scale.value(), mean = model::mean(law).value();
    if (law.kind == LawKind::gamma)
        return (t * (1.0 - base::gamma_p(law.shape, t / scale)) + mean * base::gamma_p(law.shape + 1.0, t / scale)) /
               mean;
    const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    const double z = std::log(t / scale) / law.shape;  // lognormal
    return t * below(-z) / mean + below(z - law.shape);
}

}  // namespace

Seconds residual_time_at_hazard(const model::Law& law, double hazard) noexcept {
    base::expects(hazard >= 0.0, "a cumulative hazard");
    const double failed = -std::expm1(-hazard), scale = law.scale.value();
    switch (law.kind) {
        case LawKind::exponential:
            return law.scale * hazard;
        case LawKind::weibull:
            return law.scale * std::pow(base::gamma_p_inverse(1.0 / law.shape, failed), 1.0 / law.shape);
        case LawKind::deterministic:
            return law.scale * failed;
        case LawKind::lognormal:
            if (law.shape == 0.0) return law.scale * failed;
            break;
        case LawKind::gamma:
            break;
    }
    if (failed <= 0.0) return Seconds{0.0};
    double low = 0.0, high = scale;
    while (residual_distribution(law, high) < failed && high < 1e300) low = high, high *= 2.0;
    for (int step = 0; step < 200 && high - low > 1e-13 * high; ++step) {
        const double middle = low > 0.0 && high > 4.0 * low ? std::sqrt(low * high) : 0.5 * (low + high);
        (residual_distribution(law, middle) < failed ? low : high) = middle;
    }
    return Seconds{high};
}

std::optional<double> laplace_transform(const model::Law& law, PerSecond rate) noexcept {
    const double product = rate * law.scale;
    switch (law.kind) {
        case LawKind::exponential:
            return 1.0 / (1.0 + product);
        case LawKind::gamma:
            return std::pow(1.0 + product, -law.shape);
        case LawKind::deterministic:
            return std::exp(-product);
        case LawKind::weibull:
            if (law.shape == 1.0) return 1.0 / (1.0 + product);
            return std::nullopt;
        case LawKind::lognormal:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace windtunnel::avail
