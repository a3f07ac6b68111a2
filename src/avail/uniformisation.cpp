#include "windtunnel/avail/uniformisation.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel::avail {
namespace {

constexpr double negligible = 1e-40;  // of the weight of the mode
constexpr std::uint64_t steps_between_looks = 64;
constexpr double steady_decay = 1e-10;  // relative spread that the factor of decay may add up to by the end
constexpr double most_mean = 2e7;       // ticks: the window and its tails stay small in memory

/// One tick of the Poisson clock: probabilities before to probabilities after.
class Ticks {
public:
    explicit Ticks(const Uniformisation& system) : flow_{incoming(system.chain)} {
        const std::size_t n = system.chain.num_states();
        const auto kept = [&](std::size_t state) { return !system.absorbing.empty() && system.absorbing[state] != 0; };
        std::vector<double> exit(n, 0.0);
        for (std::size_t state = 0; state < n; ++state) {
            if (!kept(state)) exit[state] = system.chain.exit_rate(state);
            rate_ = std::max(rate_, exit[state]);
        }
        rate_ = rate_ > 0.0 ? 1.01 * rate_ : 1.0;
        stay_.resize(n);
        for (std::size_t state = 0; state < n; ++state) stay_[state] = 1.0 - exit[state] / rate_;
        for (std::size_t at = 0; at < flow_.rate.size(); ++at)
            flow_.rate[at] = kept(flow_.source[at]) ? 0.0 : flow_.rate[at] / rate_;
    }
    [[nodiscard]] double rate() const noexcept { return rate_; }
    [[nodiscard]] double work() const noexcept { return static_cast<double>(stay_.size() + flow_.rate.size()); }

    void step(std::vector<double>& now, std::vector<double>& after) const {
        for (std::size_t state = 0; state < stay_.size(); ++state) {
            double sum = now[state] * stay_[state];
            for (std::uint64_t at = flow_.first[state]; at < flow_.first[state + 1]; ++at)
                sum += now[flow_.source[at]] * flow_.rate[at];
            after[state] = sum;
        }
        now.swap(after);
    }

private:
    Incoming flow_;
    std::vector<double> stay_;
    double rate_ = 0.0;
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

bool is_close(const std::vector<double>& probability, const std::vector<double>& share, double close) {
    for (std::size_t state = 0; state < share.size(); ++state)
        if (std::abs(probability[state] - share[state]) > close * share[state]) return false;
    return true;
}

/// Factor by which one tick shrinks every probability outside of the absorbing states: its bounds.
struct Decay {
    double least = 1.0, most = 0.0;
};
Decay decay_of(const std::vector<double>& before, const std::vector<double>& now,
               const std::vector<std::uint8_t>& absorbing) {
    constexpr double smallest = 1e-280;  // ratios below are rounded
    Decay decay;
    for (std::size_t state = 0; state < now.size(); ++state) {
        if (absorbing[state] != 0 || std::max(before[state], now[state]) < smallest) continue;
        const double factor = before[state] > 0.0 ? now[state] / before[state] : 2.0;
        decay.least = std::min(decay.least, factor);
        decay.most = std::max(decay.most, factor);
    }
    return decay;
}

/// P(count >= k) for k = 0 .. end.
std::vector<double> upper_tails(const PoissonWindow& window) {
    std::vector<double> tail(window.end() + 1, 1.0);
    double sum = 0.0;
    tail[window.end()] = 0.0;
    for (std::uint64_t k = window.end(); k-- > window.first;) {
        sum += window.weight[k - window.first];
        tail[k] = sum;
    }
    return tail;
}

struct Rest {
    const PoissonWindow& window;
    const std::vector<double>& tail;
    std::uint64_t from;
};

/// The steps from `rest.from` on when every probability outside of the absorbing states shrinks by one factor: what is
/// left, what has been absorbed and what is absorbed in a step follow as three numbers per reward.
void finish_by_decay(const Uniformisation& system, const Ticks& ticks, const std::vector<double>& now, double factor,
                     std::span<const std::vector<double>* const> rewards, const Rest& rest, TransientAnswer& answer) {
    std::vector<double> left{now}, next(now.size());
    for (std::size_t state = 0; state < now.size(); ++state)
        if (system.absorbing[state] != 0) left[state] = 0.0;
    std::vector<double> after{left};
    ticks.step(after, next);
    for (std::size_t r = 0; r < rewards.size(); ++r) {
        double live = product(left, *rewards[r]), kept = 0.0, flow = 0.0;
        for (std::size_t state = 0; state < now.size(); ++state) {
            if (system.absorbing[state] == 0) continue;
            kept += now[state] * (*rewards[r])[state];
            flow += after[state] * (*rewards[r])[state];
        }
        for (std::uint64_t k = rest.from; k < rest.window.end(); ++k) {
            const double reward = live + kept;
            if (k >= rest.window.first) answer.at_time[r] += rest.window.weight[k - rest.window.first] * reward;
            answer.accumulated[r] += rest.tail[k + 1] * reward;
            kept += flow;
            live *= factor;
            flow *= factor;
        }
    }
}

}  // namespace

PoissonWindow::PoissonWindow(double mean) {
    const auto mode = static_cast<std::uint64_t>(mean);
    std::vector<double> below, above{1.0};
    for (std::uint64_t k = mode; k > 0 && (below.empty() ? 1.0 : below.back()) > negligible; --k)
        below.push_back((below.empty() ? 1.0 : below.back()) * static_cast<double>(k) / mean);
    for (std::uint64_t k = mode + 1; above.back() > negligible; ++k)
        above.push_back(above.back() * mean / static_cast<double>(k));
    first = mode - below.size();
    weight.assign(below.rbegin(), below.rend());
    weight.insert(weight.end(), above.begin(), above.end());
    double low = 0.0, high = 0.0;  // small terms first
    for (const double one : std::vector<double>{below.rbegin(), below.rend()}) low += one;
    for (std::size_t i = above.size(); i-- > 0;) high += above[i];
    for (double& one : weight) one /= low + high;
}

TransientAnswer transient(const Uniformisation& system, const std::vector<double>& start,
                          std::span<const std::vector<double>* const> rewards, double time) {
    TransientAnswer answer;
    answer.at_time.assign(rewards.size(), 0.0);
    answer.accumulated.assign(rewards.size(), 0.0);
    const Ticks ticks{system};
    if (!(ticks.rate() * time <= most_mean)) {
        answer.complete = false;
        return answer;
    }
    const PoissonWindow window{ticks.rate() * time};
    const std::vector<double> tail = upper_tails(window);
    std::vector<double> now{start}, after(start.size());
    double rest_of_time = 0.0;  // sum of tail[k + 1] from the present step on, when the long run is taken
    for (std::uint64_t k = 0; k < window.end(); ++k) {
        const bool look = system.long_run != nullptr && k > 0 && k % steps_between_looks == 0;
        if (look && is_close(now, *system.long_run, system.close)) {
            for (std::uint64_t later = window.end(); later-- > k;) rest_of_time += tail[later + 1];
            for (std::size_t r = 0; r < rewards.size(); ++r) {
                const double steady = product(*system.long_run, *rewards[r]);
                answer.at_time[r] += tail[k] * steady;
                answer.accumulated[r] += rest_of_time * steady;
            }
            answer.error = system.close;
            break;
        }
        if (!system.absorbing.empty() && k > 0 && k % steps_between_looks == 0) {
            const Decay decay = decay_of(after, now, system.absorbing);
            const double spread = static_cast<double>(window.end() - k) * (decay.most - decay.least);
            if (spread <= steady_decay * decay.least) {
                answer.error = std::max(spread, 0.0);
                finish_by_decay(system, ticks, now, 0.5 * (decay.least + decay.most), rewards, {window, tail, k},
                                answer);
                break;
            }
        }
        for (std::size_t r = 0; r < rewards.size(); ++r) {
            const double reward = product(now, *rewards[r]);
            if (k >= window.first) answer.at_time[r] += window.weight[k - window.first] * reward;
            answer.accumulated[r] += tail[k + 1] * reward;
        }
        answer.steps = k + 1;
        if (static_cast<double>(k) * ticks.work() > system.most_work) {
            answer.complete = false;
            return answer;
        }
        if (k + 1 < window.end()) ticks.step(now, after);
    }
    for (double& one : answer.accumulated) one /= ticks.rate();
    return answer;
}

VarianceAnswer variance_of_time_average(const Uniformisation& system, const std::vector<double>& shares,
                                        const std::vector<double>& reward, double time) {
    const Ticks ticks{system};
    if (!(ticks.rate() * time <= most_mean)) return {0.0, false};
    const PoissonWindow window{ticks.rate() * time};
    std::vector<double> weight = upper_tails(window);
    if (static_cast<double>(window.end()) * ticks.work() > system.most_work) return {0.0, false};
    weight.push_back(0.0);
    for (std::uint64_t k = window.end(); k-- > 0;) weight[k] += weight[k + 1];  // sums of upper tails
    const double mean = product(shares, reward);
    std::vector<double> now(shares.size()), after(shares.size()), centred(shares.size());
    for (std::size_t state = 0; state < shares.size(); ++state) {
        centred[state] = reward[state] - mean;
        now[state] = shares[state] * centred[state];
    }
    double sum = 0.0;
    for (std::uint64_t k = 0; k + 2 < weight.size(); ++k) {
        sum += weight[k + 2] * product(now, centred);
        ticks.step(now, after);
    }
    const double scale = ticks.rate() * time;
    return {2.0 * sum / (scale * scale), true};
}

}  // namespace windtunnel::avail
