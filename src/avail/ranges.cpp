#include "windtunnel/avail/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windtunnel/avail/purposes.hpp"
#include "windtunnel/avail/quadrature.hpp"
#include "windtunnel/base/philox.hpp"

namespace windtunnel::avail {
namespace {

constexpr std::size_t most_inputs_of_grid = 4;
constexpr double agreement = 1e-11;

double placed(const Box& box, std::size_t input, double unit) {
    return box.least[input] + unit * (box.most[input] - box.least[input]);
}

/// Values on the grid of n Gauss points in each of the directions.
struct Grid {
    std::size_t n, inputs;
    GaussRule rule;
    std::vector<double> value;
    [[nodiscard]] std::size_t digit(std::size_t index, std::size_t input) const {
        for (std::size_t i = 0; i < input; ++i) index /= n;
        return index % n;
    }
    [[nodiscard]] double weight(std::size_t index) const {
        double product = 1.0;
        for (std::size_t i = 0; i < inputs; ++i, index /= n) product *= 0.5 * rule.weight[index % n];
        return product;
    }
};

VarianceShares shares_of(const Grid& grid) {
    VarianceShares shares;
    const std::size_t total = grid.value.size();
    std::vector<double> weight(total);
    for (std::size_t i = 0; i < total; ++i) {
        weight[i] = grid.weight(i);
        shares.mean += weight[i] * grid.value[i];
    }
    for (std::size_t i = 0; i < total; ++i) {
        const double off = grid.value[i] - shares.mean;
        shares.variance += weight[i] * off * off;
    }
    for (std::size_t input = 0; input < grid.inputs; ++input) {
        std::vector<double> given(grid.n, 0.0);  // sum over all others, of value - mean
        std::size_t stride = 1;
        for (std::size_t i = 0; i < input; ++i) stride *= grid.n;
        double within = 0.0;
        for (std::size_t i = 0; i < total; ++i) {
            const std::size_t k = (i / stride) % grid.n;
            given[k] += weight[i] / (0.5 * grid.rule.weight[k]) * (grid.value[i] - shares.mean);
            if (k != 0) continue;
            double inner = 0.0, rest = 0.0, square = 0.0;
            for (std::size_t j = 0; j < grid.n; ++j) inner += 0.5 * grid.rule.weight[j] * grid.value[i + j * stride];
            for (std::size_t j = 0; j < grid.n; ++j) {
                const double off = grid.value[i + j * stride] - inner;
                square += 0.5 * grid.rule.weight[j] * off * off;
            }
            rest = weight[i] / (0.5 * grid.rule.weight[0]);
            within += rest * square;
        }
        double between = 0.0;
        for (std::size_t k = 0; k < grid.n; ++k) between += 0.5 * grid.rule.weight[k] * given[k] * given[k];
        shares.first_order.push_back(shares.variance > 0.0 ? between / shares.variance : 0.0);
        shares.total_effect.push_back(shares.variance > 0.0 ? within / shares.variance : 0.0);
    }
    return shares;
}

double distance(const VarianceShares& a, const VarianceShares& b) {
    double most = std::abs(a.variance - b.variance) / std::max(std::abs(b.variance), 1e-300);
    for (std::size_t i = 0; i < a.first_order.size(); ++i)
        most = std::max(
            {most, std::abs(a.first_order[i] - b.first_order[i]), std::abs(a.total_effect[i] - b.total_effect[i])});
    return b.variance == 0.0 && a.variance == 0.0 ? 0.0 : most;
}

std::string cannot(const Box& box, const std::vector<double>& point) {
    std::string text = "there is no value at";
    for (std::size_t i = 0; i < box.size(); ++i) text += fmt::format(" {:.6g}", point[i]);
    return text;
}

/// Digits of the number in the base, mirrored behind the point.
double mirrored(std::uint64_t number, std::uint64_t base) {
    double sum = 0.0, share = 1.0;
    while (number > 0) {
        share /= static_cast<double>(base);
        sum += share * static_cast<double>(number % base);
        number /= base;
    }
    return sum;
}

std::uint64_t prime(std::size_t index) {
    std::uint64_t number = 1;
    for (std::size_t found = 0; found <= index;) {
        ++number;
        bool is_prime = true;
        for (std::uint64_t d = 2; d * d <= number; ++d) is_prime = is_prime && number % d != 0;
        if (is_prime) ++found;
    }
    return number;
}

}  // namespace

VarianceShares sampled_shares(const RangedFunction& f, const Box& box, std::int64_t samples) {
    const std::size_t inputs = box.size();
    std::vector<std::uint64_t> bases;
    for (std::size_t i = 0; i < 2 * inputs; ++i) bases.push_back(prime(i));
    struct Sums {
        double n = 0, a = 0, aa = 0;
        std::vector<double> first, total;
    };
    std::vector<Sums> halves(2, Sums{0, 0, 0, std::vector<double>(inputs, 0.0), std::vector<double>(inputs, 0.0)});
    VarianceShares shares;
    std::vector<double> a(inputs), b(inputs), mixed(inputs);
    for (std::int64_t k = 0; k < samples; ++k) {
        const auto number = static_cast<std::uint64_t>(k) + 1;
        for (std::size_t i = 0; i < inputs; ++i) {
            a[i] = placed(box, i, mirrored(number, bases[i]));
            b[i] = placed(box, i, mirrored(number, bases[inputs + i]));
        }
        const auto fa = f(a), fb = f(b);
        if (!fa || !fb) {
            shares.problem = cannot(box, fa ? b : a);
            return shares;
        }
        Sums& sums = halves[static_cast<std::size_t>(2 * k >= samples)];
        sums.n += 2.0;
        sums.a += *fa + *fb;
        sums.aa += *fa * *fa + *fb * *fb;
        for (std::size_t i = 0; i < inputs; ++i) {
            mixed = a;
            mixed[i] = b[i];
            const auto fm = f(mixed);
            if (!fm) {
                shares.problem = cannot(box, mixed);
                return shares;
            }
            sums.first[i] += *fb * (*fm - *fa);
            sums.total[i] += 0.5 * (*fa - *fm) * (*fa - *fm);
        }
    }
    const auto shares_from = [&](const std::vector<Sums>& all) {
        VarianceShares result;
        double n = 0, sum = 0, square = 0;
        for (const Sums& one : all) {
            n += one.n;
            sum += one.a;
            square += one.aa;
        }
        result.mean = sum / n;
        result.variance = std::max(square / n - result.mean * result.mean, 0.0);
        for (std::size_t i = 0; i < inputs; ++i) {
            double first = 0.0, total = 0.0;
            for (const Sums& one : all) {
                first += one.first[i];
                total += one.total[i];
            }
            const double scale = result.variance * n / 2.0;
            result.first_order.push_back(scale > 0.0 ? first / scale : 0.0);
            result.total_effect.push_back(scale > 0.0 ? total / scale : 0.0);
        }
        return result;
    };
    shares = shares_from(halves);
    shares.error = distance(shares_from({halves[0]}), shares_from({halves[1]}));
    shares.method = fmt::format("{} quasi-random points", samples);
    return shares;
}

VarianceShares variance_shares(const RangedFunction& f, const Box& box, std::int64_t samples, double most_points) {
    const std::size_t inputs = box.size();
    std::optional<VarianceShares> before;
    for (std::size_t n = 4; inputs <= most_inputs_of_grid; n += n / 2) {
        const double points = std::pow(static_cast<double>(n), static_cast<double>(inputs));
        if (points > most_points) break;
        Grid grid{n, inputs, gauss_legendre(static_cast<int>(n)),
                  std::vector<double>(static_cast<std::size_t>(points))};
        std::vector<double> point(inputs);
        for (std::size_t i = 0; i < grid.value.size(); ++i) {
            for (std::size_t input = 0; input < inputs; ++input)
                point[input] = placed(box, input, 0.5 + 0.5 * grid.rule.point[grid.digit(i, input)]);
            const auto value = f(point);
            if (!value || !std::isfinite(*value)) {
                VarianceShares none;
                none.problem = cannot(box, point);
                return none;
            }
            grid.value[i] = *value;
        }
        VarianceShares now = shares_of(grid);
        if (before) {
            now.error = distance(now, *before);
            now.method = fmt::format("{} Gauss points", grid.value.size());
            if (now.error <= agreement) return now;
        }
        before = std::move(now);
    }
    VarianceShares sampled = sampled_shares(f, box, samples);
    if (before && before->error > 0.0 && before->error < sampled.error) return *before;
    return sampled;
}

ElementaryEffects elementary_effects(const RangedFunction& f, const Box& box, std::int64_t trajectories,
                                     std::uint64_t seed) {
    const std::size_t inputs = box.size();
    ElementaryEffects effects;
    std::vector<double> sum(inputs, 0.0), square(inputs, 0.0), absolute(inputs, 0.0);
    base::Draws draws{base::RandomStream{seed, elementary_walks, 0}};
    std::vector<double> unit(inputs), point(inputs);
    std::vector<std::size_t> order(inputs);
    const auto value = [&]() {
        for (std::size_t i = 0; i < inputs; ++i) point[i] = placed(box, i, unit[i]);
        const auto found = f(point);
        if (!found) effects.problem = cannot(box, point);
        return found.value_or(0.0);
    };
    for (std::int64_t k = 0; k < trajectories && effects.problem.empty(); ++k) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = inputs; i-- > 1;)
            std::swap(order[i],
                      order[std::min(static_cast<std::size_t>(draws.uniform() * static_cast<double>(i + 1)), i)]);
        for (double& one : unit) one = std::floor(draws.uniform() * 4.0) / 3.0;
        double before = value();
        for (const std::size_t input : order) {
            const double step = unit[input] < 0.5 ? 2.0 / 3.0 : -2.0 / 3.0;
            unit[input] += step;
            const double after = value(), effect = (after - before) / step;
            sum[input] += effect;
            square[input] += effect * effect;
            absolute[input] += std::abs(effect);
            before = after;
        }
    }
    const auto number = static_cast<double>(std::max<std::int64_t>(trajectories, 1));
    for (std::size_t i = 0; i < inputs; ++i) {
        effects.mean_absolute.push_back(absolute[i] / number);
        const double mean = sum[i] / number;
        effects.spread.push_back(
            trajectories > 1 ? std::sqrt(std::max(square[i] - number * mean * mean, 0.0) / (number - 1.0)) : 0.0);
    }
    return effects;
}

}  // namespace windtunnel::avail
