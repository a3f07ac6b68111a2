#pragma once
/// Random times from model::Law: drawn, as quantiles of the cumulative hazard, and as Laplace transforms.
/// Model:   inversion of the cumulative hazard for exponential, Weibull, lognormal, gamma and deterministic times.
#include <optional>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/failures.hpp"

namespace windtunnel::avail {

/// One random time; deterministic laws take no draw.
[[nodiscard]] Seconds sample(const model::Law& law, base::Draws& draws) noexcept;

/// The time at which the cumulative hazard reaches `hazard` (>= 0): the survival function is exp(-hazard) there.
/// With an exponential variate of mean 1 for `hazard` this is inversion.
[[nodiscard]] Seconds time_at_hazard(const model::Law& law, double hazard) noexcept;

/// The same for what is left of the life of a member of a fleet that has been renewed for long: its distribution
/// function is the integral of the survival function over the mean. Model:   closed form for exponential, Weibull and
/// deterministic lives; else bisection. Source:  any text on renewal theory (equilibrium distribution).
[[nodiscard]] Seconds residual_time_at_hazard(const model::Law& law, double hazard) noexcept;

/// E[exp(-rate x time)]: probability that no event of a Poisson process of this rate falls into the time.
/// Empty for laws without a closed form (Weibull other than shape 1, lognormal).
[[nodiscard]] std::optional<double> laplace_transform(const model::Law& law, PerSecond rate) noexcept;

}  // namespace windtunnel::avail
