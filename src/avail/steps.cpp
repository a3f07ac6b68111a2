#include "windtunnel/avail/steps.hpp"

#include <fmt/format.h>

#include <cmath>

#include "windtunnel/avail/uniformisation.hpp"

namespace windtunnel::avail {
namespace {

constexpr double most_work = 1e10;

/// Probabilities after one step of the step chain.
void advance(const SparseChain& steps, const std::vector<double>& now, std::vector<double>& after) {
    after = now;
    for (std::size_t from = 0; from < steps.num_states(); ++from)
        for (std::uint64_t at = steps.first[from]; at < steps.first[from + 1]; ++at) {
            const double moved = now[from] * steps.rate[at];
            after[from] -= moved;
            after[steps.target[at]] += moved;
        }
}

/// exp(Q step) applied to a vector of probabilities, by one Poisson clock.
void advance_skeleton(const SparseChain& chain, const PoissonWindow& window, double rate, std::vector<double>& now) {
    std::vector<double> power = now, next(now.size()), sum(now.size(), 0.0);
    for (std::uint64_t k = 0; k < window.end(); ++k) {
        if (k >= window.first)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += window.weight[k - window.first] * power[i];
        next = power;
        for (std::size_t from = 0; from < chain.num_states(); ++from)
            for (std::uint64_t at = chain.first[from]; at < chain.first[from + 1]; ++at) {
                const double moved = power[from] * chain.rate[at] / rate;
                next[from] -= moved;
                next[chain.target[at]] += moved;
            }
        power.swap(next);
    }
    now = std::move(sum);
}

}  // namespace

StepChain step_chain(const SparseChain& chain, double step, model::StepMode mode) {
    StepChain result{chain, {}};
    for (std::size_t state = 0; state < chain.num_states(); ++state) {
        const double leaving = chain.exit_rate(state) * step;
        double factor = step;
        if (mode == model::StepMode::exponential && leaving > 0.0) factor *= -std::expm1(-leaving) / leaving;
        if (mode == model::StepMode::linear && leaving > 1.0 && result.problem.empty())
            result.problem = fmt::format("a state is left {:.3g} times in a step of {:.6g}", leaving, step);
        for (std::uint64_t at = chain.first[state]; at < chain.first[state + 1]; ++at) result.chain.rate[at] *= factor;
    }
    if (mode == model::StepMode::skeleton) result.chain = chain;
    return result;
}

StepAnswer walk_steps(const SparseChain& chain, const StepChain& steps, model::StepMode mode, double step,
                      std::uint64_t number, const std::vector<const std::vector<double>*>& rewards) {
    StepAnswer answer;
    double fastest = 0.0;
    for (std::size_t state = 0; state < chain.num_states(); ++state)
        fastest = std::max(fastest, chain.exit_rate(state));
    const bool skeleton = mode == model::StepMode::skeleton;
    const PoissonWindow window{skeleton ? fastest * step : 0.0};
    const double each = static_cast<double>(chain.num_transitions() + chain.num_states()) *
                        (skeleton ? static_cast<double>(window.end()) : 1.0);
    if (static_cast<double>(number) * each > most_work) {
        answer.complete = false;
        return answer;
    }
    std::vector<double> now(chain.num_states(), 0.0), after(chain.num_states());
    now[chain.initial] = 1.0;
    answer.accumulated.assign(rewards.size(), 0.0);
    answer.at_end.assign(rewards.size(), 0.0);
    const auto seen = [&](std::size_t r) {
        double sum = 0.0;
        for (std::size_t i = 0; i < now.size(); ++i) sum += now[i] * (*rewards[r])[i];
        return sum;
    };
    for (std::uint64_t k = 0; k < number; ++k) {
        for (std::size_t r = 0; r < rewards.size(); ++r) answer.accumulated[r] += step * seen(r);
        if (skeleton) {
            if (fastest > 0.0) advance_skeleton(chain, window, fastest, now);
        } else {
            advance(steps.chain, now, after);
            now.swap(after);
        }
    }
    for (std::size_t r = 0; r < rewards.size(); ++r) answer.at_end[r] = seen(r);
    return answer;
}

}  // namespace windtunnel::avail
