#pragma once
/// Distribution of a time law: functions, moments, transforms, draws.
#include <optional>
#include <vector>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/time_law.hpp"

namespace windtunnel::avail {

/// P(time > t). Source: any text on probability, as for all functions of this header.
[[nodiscard]] double survival(const model::TimeLaw& law, double t) noexcept;

/// P(time <= t), without cancellation for small t.
[[nodiscard]] double distribution(const model::TimeLaw& law, double t) noexcept;

[[nodiscard]] double mean(const model::TimeLaw& law) noexcept;
[[nodiscard]] double second_moment(const model::TimeLaw& law) noexcept;

/// P(an exponential time of this rate is longer): E exp(-rate T); and E T exp(-rate T).
struct Transform {
    double value = 1.0;
    double weighted = 0.0;
};
/// Model:   closed forms; Weibull and lognormal: rate x integral of exp(-rate t) F(t) by quadrature.
/// Limits:  relative error of the quadrature about 1e-12.
[[nodiscard]] Transform transform(const model::TimeLaw& law, double rate);

/// Times with a probability of their own, ascending; empty for a law with a density.
[[nodiscard]] std::vector<double> atoms(const model::TimeLaw& law);

/// No time but one or several fixed ones?
[[nodiscard]] bool is_discrete(const model::TimeLaw& law) noexcept;

/// The same law in phases: exponential, Erlang (gamma of whole shape up to 50), hyperexponential, phase-type.
struct Phases {
    std::vector<double> start;  ///< by phase, sums to 1
    std::vector<double> rate;   ///< [i * n + j]: from phase i to j; [i * n + i]: to the end
    [[nodiscard]] std::size_t size() const noexcept { return start.size(); }
};
[[nodiscard]] std::optional<Phases> phases(const model::TimeLaw& law);

/// One draw.
[[nodiscard]] double sample(const model::TimeLaw& law, base::Draws& draws) noexcept;

}  // namespace windtunnel::avail
