#include "windtunnel/avail/time_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "windtunnel/avail/quadrature.hpp"
#include "windtunnel/base/incomplete_gamma.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::avail {
namespace {

using model::TimeLaw;
using enum model::TimeLawKind;
constexpr double largest_erlang = 50.0;

double normal_tail(double x) {
    return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

/// exp(T t) of a phase-type law, row by row: series of the jump chain for t / 2^k, squared k times; no subtractions.
std::vector<double> phase_matrix(const TimeLaw& law, double t) {
    const std::size_t n = law.weight.size();
    std::vector<double> leave(n, 0.0);
    double fastest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) leave[i] += law.time[i * n + j];
        fastest = std::max(fastest, leave[i]);
    }
    int halvings = 0;
    for (double mean = fastest * t; mean > 1.0 && halvings < 60; mean *= 0.5) ++halvings;
    const double part = fastest * std::ldexp(t, -halvings);
    std::vector<double> jump(n * n, 0.0), sum(n * n, 0.0), power(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            jump[i * n + j] = i == j ? 1.0 - leave[i] / fastest : law.time[i * n + j] / fastest;
    const auto product = [n](const std::vector<double>& a, const std::vector<double>& b) {
        std::vector<double> c(n * n, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < n; ++k)
                for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
        return c;
    };
    for (std::size_t i = 0; i < n; ++i) power[i * n + i] = 1.0;
    double weight = std::exp(-part);
    for (int k = 0; k < 30; ++k) {
        for (std::size_t i = 0; i < n * n; ++i) sum[i] += weight * power[i];
        power = product(power, jump);
        weight *= part / (k + 1);
    }
    for (int k = 0; k < halvings; ++k) sum = product(sum, sum);
    return sum;
}

double phase_survival(const TimeLaw& law, double t) {
    const std::vector<double> matrix = phase_matrix(law, t);
    const std::size_t n = law.weight.size();
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) sum += law.weight[i] * matrix[i * n + j];
    return sum;
}

/// x = (s I - T)^-1 b for the sub-generator T of a phase-type law. Elimination with row pivots.
std::vector<double> phase_solve(const TimeLaw& law, double s, std::vector<double> b) {
    const std::size_t n = law.weight.size();
    std::vector<double> a(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        a[i * n + i] = s;
        for (std::size_t j = 0; j < n; ++j) {
            a[i * n + i] += law.time[i * n + j];
            if (i != j) a[i * n + j] -= law.time[i * n + j];
        }
    }
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
        std::swap(b[k], b[best]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double share = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= share * a[k * n + j];
            b[i] -= share * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
    return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

double survival(const TimeLaw& law, double t) noexcept {
    if (t < 0.0) return 1.0;
    const double ratio = t / law.scale;
    double sum = 0.0;
    switch (law.kind) {
        case exponential:
            return std::exp(-ratio);
        case weibull:
            return std::exp(-std::pow(ratio, law.shape));
        case lognormal:
            return t == 0.0 ? 1.0 : normal_tail(std::log(ratio) / law.shape);
        case gamma:
            return 1.0 - base::gamma_p(law.shape, ratio);
        case deterministic:
            return t < law.scale ? 1.0 : 0.0;
        case uniform:
            return std::clamp((law.scale - t) / (law.scale - law.shape), 0.0, 1.0);
        case hyperexponential:
            for (std::size_t i = 0; i < law.time.size(); ++i) sum += law.weight[i] * std::exp(-t / law.time[i]);
            return sum;
        case phase_type:
            return phase_survival(law, t);
        case empirical:
            for (std::size_t i = 0; i < law.time.size(); ++i) sum += law.time[i] > t ? law.weight[i] : 0.0;
            return sum;
    }
    return 0.0;
}

double distribution(const TimeLaw& law, double t) noexcept {
    if (t < 0.0) return 0.0;
    double sum = 0.0;
    switch (law.kind) {
        case exponential:
            return -std::expm1(-t / law.scale);
        case weibull:
            return -std::expm1(-std::pow(t / law.scale, law.shape));
        case lognormal:
            return t == 0.0 ? 0.0 : normal_tail(-std::log(t / law.scale) / law.shape);
        case gamma:
            return base::gamma_p(law.shape, t / law.scale);
        case hyperexponential:
            for (std::size_t i = 0; i < law.time.size(); ++i) sum -= law.weight[i] * std::expm1(-t / law.time[i]);
            return sum;
        case deterministic:
        case uniform:
        case phase_type:
        case empirical:
            break;
    }
    return 1.0 - survival(law, t);
}

double mean(const TimeLaw& law) noexcept {
    switch (law.kind) {
        case exponential:
        case deterministic:
            return law.scale;
        case weibull:
            return law.scale * std::tgamma(1.0 + 1.0 / law.shape);
        case lognormal:
            return law.scale * std::exp(0.5 * law.shape * law.shape);
        case gamma:
            return law.shape * law.scale;
        case uniform:
            return 0.5 * (law.shape + law.scale);
        case hyperexponential:
        case empirical:
            return dot(law.weight, law.time);
        case phase_type:
            return dot(law.weight, phase_solve(law, 0.0, std::vector<double>(law.weight.size(), 1.0)));
    }
    return 0.0;
}

double second_moment(const TimeLaw& law) noexcept {
    const double square = law.scale * law.scale;
    double sum = 0.0;
    switch (law.kind) {
        case exponential:
            return 2.0 * square;
        case deterministic:
            return square;
        case weibull:
            return square * std::tgamma(1.0 + 2.0 / law.shape);
        case lognormal:
            return square * std::exp(2.0 * law.shape * law.shape);
        case gamma:
            return law.shape * (law.shape + 1.0) * square;
        case uniform:
            return (square + law.shape * law.scale + law.shape * law.shape) / 3.0;
        case hyperexponential:
            for (std::size_t i = 0; i < law.time.size(); ++i) sum += 2.0 * law.weight[i] * law.time[i] * law.time[i];
            return sum;
        case empirical:
            for (std::size_t i = 0; i < law.time.size(); ++i) sum += law.weight[i] * law.time[i] * law.time[i];
            return sum;
        case phase_type: {
            const std::vector<double> once = phase_solve(law, 0.0, std::vector<double>(law.weight.size(), 1.0));
            return 2.0 * dot(law.weight, phase_solve(law, 0.0, once));
        }
    }
    return 0.0;
}

Transform transform(const TimeLaw& law, double rate) {
    if (rate == 0.0) return {1.0, mean(law)};
    const double product = rate * law.scale;
    Transform sum{0.0, 0.0};
    switch (law.kind) {
        case exponential:
            return {1.0 / (1.0 + product), law.scale / ((1.0 + product) * (1.0 + product))};
        case gamma: {
            const double value = std::pow(1.0 + product, -law.shape);
            return {value, law.shape * law.scale * value / (1.0 + product)};
        }
        case deterministic:
            return {std::exp(-product), law.scale * std::exp(-product)};
        case uniform: {
            const auto f = [&](double t) { return std::exp(-rate * t); };
            const auto g = [&](double t) { return t * std::exp(-rate * t); };
            const double width = law.scale - law.shape;
            return {integral(f, law.shape, law.scale) / width, integral(g, law.shape, law.scale) / width};
        }
        case hyperexponential:
            for (std::size_t i = 0; i < law.time.size(); ++i) {
                const double inner = 1.0 + rate * law.time[i];
                sum.value += law.weight[i] / inner;
                sum.weighted += law.weight[i] * law.time[i] / (inner * inner);
            }
            return sum;
        case empirical:
            for (std::size_t i = 0; i < law.time.size(); ++i) {
                sum.value += law.weight[i] * std::exp(-rate * law.time[i]);
                sum.weighted += law.weight[i] * law.time[i] * std::exp(-rate * law.time[i]);
            }
            return sum;
        case phase_type: {
            const std::size_t n = law.weight.size();
            std::vector<double> exit(n);
            for (std::size_t i = 0; i < n; ++i) exit[i] = law.time[i * n + i];
            const std::vector<double> once = phase_solve(law, rate, exit);
            return {dot(law.weight, once), dot(law.weight, phase_solve(law, rate, once))};
        }
        case weibull:
        case lognormal:
            break;
    }
    // E exp(-rT) = r x integral of exp(-rt) F(t); E T exp(-rT) = integral of (rt - 1) exp(-rt) F(t).
    const double scale = std::min(law.scale, 1.0 / rate);
    const auto f = [&](double t) { return rate * std::exp(-rate * t) * distribution(law, t); };
    const auto g = [&](double t) { return (rate * t - 1.0) * std::exp(-rate * t) * distribution(law, t); };
    return {integral_to_infinity(f, 0.0, scale), integral_to_infinity(g, 0.0, scale)};
}

std::vector<double> atoms(const TimeLaw& law) {
    if (law.kind == deterministic) return {law.scale};
    if (law.kind != empirical) return {};
    std::vector<double> times = law.time;
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

bool is_discrete(const TimeLaw& law) noexcept {
    return law.kind == deterministic || law.kind == empirical;
}

std::optional<Phases> phases(const TimeLaw& law) {
    if (law.kind == phase_type) return Phases{law.weight, law.time};
    std::size_t n = 1;
    if (law.kind == gamma && law.shape == std::floor(law.shape) && law.shape <= largest_erlang)
        n = static_cast<std::size_t>(law.shape);
    else if (law.kind == hyperexponential)
        n = law.time.size();
    else if (law.kind != exponential && !(law.kind == weibull && law.shape == 1.0))
        return std::nullopt;
    Phases result{std::vector<double>(n, 0.0), std::vector<double>(n * n, 0.0)};
    if (law.kind == hyperexponential) {
        result.start = law.weight;
        for (std::size_t i = 0; i < n; ++i) result.rate[i * n + i] = 1.0 / law.time[i];
        return result;
    }
    result.start[0] = 1.0;
    for (std::size_t i = 0; i < n; ++i) result.rate[i * n + std::min(i + 1, n - 1)] = 1.0 / law.scale;
    return result;
}

double sample(const TimeLaw& law, base::Draws& draws) noexcept {
    const auto one_of = [&](const std::vector<double>& weight) {
        double left = draws.uniform();
        std::size_t i = 0;
        while (i + 1 < weight.size() && left > weight[i]) left -= weight[i++];
        return i;
    };
    switch (law.kind) {
        case exponential:
            return base::exponential(draws, law.scale);
        case weibull:
            return base::weibull(draws, law.shape, law.scale);
        case lognormal:
            return base::lognormal(draws, law.shape, law.scale);
        case gamma:
            return base::gamma(draws, law.shape, law.scale);
        case deterministic:
            return law.scale;
        case uniform:
            return law.shape + (law.scale - law.shape) * draws.uniform();
        case hyperexponential:
            return base::exponential(draws, law.time[one_of(law.weight)]);
        case empirical:
            return law.time[one_of(law.weight)];
        case phase_type:
            break;
    }
    const std::size_t n = law.weight.size();
    std::size_t phase = one_of(law.weight);
    for (double time = 0.0;;) {
        double leave = 0.0;
        for (std::size_t j = 0; j < n; ++j) leave += law.time[phase * n + j];
        time += base::exponential(draws, 1.0 / leave);
        double left = draws.uniform() * leave;
        std::size_t next = 0;
        while (next + 1 < n && left > law.time[phase * n + next]) left -= law.time[phase * n + next++];
        if (next == phase) return time;
        phase = next;
    }
}

}  // namespace windtunnel::avail
