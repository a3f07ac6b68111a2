#include "windtunnel/avail/derivatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace windtunnel::avail {
namespace {

constexpr std::size_t most_dense = 1200;
constexpr int most_sweeps = 20'000;

/// Q h = g - r without the row of state 0, h[0] = 0.
std::optional<std::vector<double>> dense_bias(const SparseChain& chain, const std::vector<double>& reward, double g) {
    const std::size_t n = chain.num_states();
    std::vector<double> a(n * n, 0.0), b(n, 0.0);
    a[0] = 1.0;
    for (std::size_t i = 1; i < n; ++i) {
        b[i] = g - reward[i];
        for (std::uint64_t at = chain.first[i]; at < chain.first[i + 1]; ++at) {
            a[i * n + chain.target[at]] += chain.rate[at];
            a[i * n + i] -= chain.rate[at];
        }
    }
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
        if (a[best * n + k] == 0.0) return std::nullopt;
        if (best != k) {
            for (std::size_t j = k; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
            std::swap(b[k], b[best]);
        }
        for (std::size_t i = k + 1; i < n; ++i) {
            const double share = a[i * n + k] / a[k * n + k];
            if (share == 0.0) continue;
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

}  // namespace

double five_point(double minus2, double minus1, double plus1, double plus2, double h) noexcept {
    return (8.0 * (plus1 - minus1) - (plus2 - minus2)) / (12.0 * h);
}

double difference_step(double x) noexcept {
    const double h = x == 0.0 ? 1e-3 : 1e-3 * std::abs(x);
    return std::abs((x + h) - x);  // what the sum really moves
}

std::optional<std::vector<double>> bias(const SparseChain& chain, const std::vector<double>& reward, double g) {
    const std::size_t n = chain.num_states();
    if (n <= most_dense) return dense_bias(chain, reward, g);
    std::vector<double> h(n, 0.0);
    double scale = 1e-300;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double change = 0.0;
        for (std::size_t i = 1; i < n; ++i) {
            double sum = reward[i] - g, leaving = 0.0;
            for (std::uint64_t at = chain.first[i]; at < chain.first[i + 1]; ++at) {
                sum += chain.rate[at] * h[chain.target[at]];
                leaving += chain.rate[at];
            }
            const double now = sum / leaving;
            change = std::max(change, std::abs(now - h[i]));
            scale = std::max(scale, std::abs(now));
            h[i] = now;
        }
        if (change <= 1e-12 * scale) return h;
    }
    return std::nullopt;
}

LongRunDerivatives::LongRunDerivatives(const model::Chain& chain, std::size_t measure)
    : chain_{chain}, reward_{*chain.measures[measure].reward}, space_{explore(chain)} {
    if (!space_.findings.empty()) return;
    const Classes classes = closed_classes(space_.chain);
    if (classes.num_closed != 1 || classes.sizes[0] != space_.chain.num_states()) return;
    const Stationary found = long_run(space_.chain, classes);
    if (!found.converged) return;
    share_ = found.share;
    for (std::size_t i = 0; i < share_.size(); ++i) value_ += share_[i] * space_.rewards[reward_][i];
    bias_ = bias(space_.chain, space_.rewards[reward_], value_);
}

std::optional<double> LongRunDerivatives::by(std::size_t constant) const {
    std::vector<double> values;
    for (const model::ChainConstant& one : chain_.constants) values.push_back(one.value);
    const double x = values[constant], h = difference_step(x);
    std::array<StateSpace, 4> near{StateSpace{{}, PackedStates{chain_.variables}, {}, {}, {}, {}},
                                   StateSpace{{}, PackedStates{chain_.variables}, {}, {}, {}, {}},
                                   StateSpace{{}, PackedStates{chain_.variables}, {}, {}, {}, {}},
                                   StateSpace{{}, PackedStates{chain_.variables}, {}, {}, {}, {}}};
    const std::array<double, 4> steps{-2.0, -1.0, 1.0, 2.0};
    for (std::size_t k = 0; k < 4; ++k) {
        values[constant] = x + steps[k] * h;
        const std::optional<model::Chain> changed = chain_.with_constants(values);
        if (!changed || changed->has_clocks()) return std::nullopt;
        near[k] = explore(*changed);
        if (!near[k].findings.empty() || near[k].chain.first != space_.chain.first ||
            near[k].chain.target != space_.chain.target || near[k].rewards.size() != space_.rewards.size())
            return std::nullopt;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < share_.size(); ++i) {
        const auto reward = [&](std::size_t k) { return near[k].rewards[reward_][i]; };
        double inner = five_point(reward(0), reward(1), reward(2), reward(3), h);
        for (std::uint64_t at = space_.chain.first[i]; at < space_.chain.first[i + 1]; ++at) {
            const auto rate = [&](std::size_t k) { return near[k].chain.rate[at]; };
            inner +=
                five_point(rate(0), rate(1), rate(2), rate(3), h) * ((*bias_)[space_.chain.target[at]] - (*bias_)[i]);
        }
        sum += share_[i] * inner;
    }
    return sum;
}

}  // namespace windtunnel::avail
