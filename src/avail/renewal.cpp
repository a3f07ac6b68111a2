#include "windtunnel/avail/renewal.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

constexpr std::size_t most_steps = 8192, most_fitting = 2048;

std::vector<double> kernel(const model::TimeLaw& law, double step, std::size_t n) {
    std::vector<double> at_middle(n);
    for (std::size_t k = 0; k < n; ++k) at_middle[k] = distribution(law, (static_cast<double>(k) + 0.5) * step);
    return at_middle;
}

/// Composite Simpson or trapezoid of 1 + repairs - failures.
double up_time(const RenewalPath& path, double time) {
    const std::size_t n = path.failures.size() - 1;
    const double step = time / static_cast<double>(n);
    double sum = 0.0;
    for (std::size_t k = 0; k <= n; ++k) {
        const double up = 1.0 + path.repairs[k] - path.failures[k];
        const double weight = k == 0 || k == n ? 0.5 : 1.0;
        sum += weight * up;
    }
    return sum * step;
}

/// Limit of a, b, c from steps halved twice, and how far it is from c.
double limit_of(double a, double b, double c) {
    const double first = b - a, second = c - b;
    if (std::abs(second) <= 1e-15 * std::abs(c) || std::abs(first) <= std::abs(second)) return c;
    return c - second * second / (second - first);
}

}  // namespace

RenewalPath renewal_path(const model::TimeLaw& life, const model::TimeLaw* repair, double time, std::size_t n) {
    const double step = time / static_cast<double>(n);
    const std::vector<double> fails = kernel(life, step, n);
    const std::vector<double> mends = repair != nullptr ? kernel(*repair, step, n) : std::vector<double>(n, 0.0);
    RenewalPath path{std::vector<double>(n + 1, 0.0), std::vector<double>(n + 1, 0.0)};
    std::vector<double> failed(n + 1, 0.0), mended(n + 1, 0.0);  // in the step that ends at the point
    for (std::size_t k = 1; k <= n; ++k) {
        double w = distribution(life, static_cast<double>(k) * step), r = 0.0;
        for (std::size_t j = 1; j < k; ++j) {
            w += fails[k - j] * mended[j];
            r += mends[k - j] * failed[j];
        }
        // In the last step both sums still hold what is sought: w + f0 (R - before), r + h0 (W - before).
        const double f0 = fails[0], h0 = mends[0];
        const double wb = w - f0 * path.repairs[k - 1], rb = r - h0 * path.failures[k - 1];
        const double now = (wb + f0 * rb) / (1.0 - f0 * h0);
        path.failures[k] = now;
        path.repairs[k] = rb + h0 * now;
        failed[k] = now - path.failures[k - 1];
        mended[k] = path.repairs[k] - path.repairs[k - 1];
    }
    return path;
}

std::size_t fitting_steps(const model::TimeLaw& life, const model::TimeLaw* repair, double time, std::size_t least) {
    std::vector<double> fixed = atoms(life);
    if (repair != nullptr)
        for (const double one : atoms(*repair)) fixed.push_back(one);
    std::erase_if(fixed, [&](double one) { return one == 0.0 || one > time; });
    if (fixed.empty()) return least;
    for (std::size_t n = 1; n <= most_fitting; ++n) {
        const bool fits = std::all_of(fixed.begin(), fixed.end(), [&](double one) {
            const double steps = one / time * static_cast<double>(n);
            return std::abs(steps - std::round(steps)) < 1e-9 * static_cast<double>(n);
        });
        if (fits) return n * ((least + n - 1) / n);
    }
    return least;
}

RenewalAnswer renewal_at(const model::TimeLaw& life, const model::TimeLaw* repair, double time, double tolerance) {
    RenewalAnswer answer;
    if (!(time > 0.0)) return answer;
    std::vector<RenewalAnswer> levels, limits;
    for (std::size_t n = fitting_steps(life, repair, time, 128); n <= most_steps; n *= 2) {
        const RenewalPath path = renewal_path(life, repair, time, n);
        RenewalAnswer now;
        now.failures = path.failures.back();
        now.repairs = path.repairs.back();
        now.availability = 1.0 + now.repairs - now.failures;
        now.up_time = up_time(path, time);
        levels.push_back(now);
        if (levels.size() < 3) continue;
        const RenewalAnswer &a = levels.end()[-3], &b = levels.end()[-2];
        RenewalAnswer best;
        best.failures = limit_of(a.failures, b.failures, now.failures);
        best.repairs = limit_of(a.repairs, b.repairs, now.repairs);
        best.availability = limit_of(a.availability, b.availability, now.availability);
        best.up_time = limit_of(a.up_time, b.up_time, now.up_time);
        const RenewalAnswer& old = limits.empty() ? b : limits.back();
        const auto change = [](double x, double y) { return std::abs(x - y) / std::max(std::abs(x), 1e-300); };
        best.error = std::max({change(best.failures, old.failures), change(best.availability, old.availability),
                               change(best.up_time, old.up_time)});
        limits.push_back(best);
        if (limits.size() > 1 && best.error <= tolerance) break;
    }
    return limits.back();
}

}  // namespace windtunnel::avail
