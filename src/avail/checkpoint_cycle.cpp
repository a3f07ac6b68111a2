#include "windtunnel/avail/checkpoint_cycle.hpp"

#include <cmath>
#include <limits>

#include "windtunnel/avail/checkpoint.hpp"
#include "windtunnel/avail/time_law.hpp"

namespace windtunnel::avail {
namespace {

struct Moments {
    double first = 0.0, second = 0.0;
};

/// One recovery: its law, or with failures of rate `rate` inside the time until an attempt comes through.
Moments recovery(const model::TimeLaw& law, double rate, bool failures_inside) {
    if (!failures_inside || rate == 0.0) return {mean(law), second_moment(law)};
    // Attempt = min(R, X), X exponential: E min = (1 - L)/rate, E min^2 = 2 (E min - E R exp(-rate R))/rate,
    // E min 1(X < R) = E min - E R exp(-rate R). T = min + 1(X < R) T'.
    const Transform at = transform(law, rate);
    const double attempt = (1.0 - at.value) / rate;
    const double square = 2.0 * (attempt - at.weighted) / rate;
    const double broken = attempt - at.weighted;
    Moments whole;
    whole.first = attempt / at.value;
    whole.second = (square + 2.0 * broken * whole.first) / at.value;
    return whole;
}

}  // namespace

CycleMoments cycle_moments(const model::CheckpointCycle& job, double work) {
    const double rate = std::isinf(job.mtbf) ? 0.0 : 1.0 / job.mtbf;
    double back = 0.0;     // rate of failures that go back to the checkpoint
    Moments restart, add;  // of one restart; of what the others add per unit of time: rate x moments
    for (const model::CheckpointCycle::Layer& layer : job.layers) {
        const Moments time = recovery(layer.recover, rate, job.failures_in_recovery);
        const double share = rate * layer.fraction;
        if (layer.to_checkpoint) {
            back += share;
            restart.first += share * time.first;
            restart.second += share * time.second;
        } else {
            const double lost = layer.lost_work;
            add.first += share * (time.first + lost);
            add.second += share * (time.second + 2.0 * lost * time.first + lost * lost);
        }
    }
    if (back > 0.0) {
        restart.first /= back;
        restart.second /= back;
    }
    // Attempt of work time m = min(L, X): conditional on m the others add a compound Poisson time with mean m a1 and
    // variance m a2. With u = 1 + a1: attempt Y = u m + noise.
    const double length = work + job.write, u = 1.0 + add.first;
    CycleMoments cycle;
    cycle.clean = std::exp(-back * length);
    double m1 = length, m2 = length * length, b1 = 0.0;  // E m, E m^2, E m 1(X < L)
    if (back > 0.0) {
        m1 = -std::expm1(-back * length) / back;
        b1 = m1 - length * cycle.clean;
        m2 = 2.0 * b1 / back;
        if (back * length < 1e-4) {  // the same by its series: no cancellation
            const double x = back * length;
            b1 = length * x * (0.5 - x / 3.0 + x * x / 8.0);
            m2 = length * length * (1.0 - 2.0 * x / 3.0 + x * x / 4.0);
        }
    }
    const double broken = -std::expm1(-back * length);
    const double y1 = u * m1, y2 = u * u * m2 + add.second * m1;
    // T = Y + 1(broken) (R + T'): means, then squares.
    const double mean_time = (y1 + broken * restart.first) / cycle.clean;
    const double square = y2 + 2.0 * u * b1 * restart.first + broken * restart.second;
    const double cross = u * b1 + broken * restart.first;
    cycle.mean = mean_time;
    cycle.variance = (square + 2.0 * cross * mean_time) / cycle.clean - mean_time * mean_time;
    return cycle;
}

WallTime wall_time(const model::CheckpointCycle& job, double interval) {
    const CycleMoments cycle = cycle_moments(job, interval);
    const double number = job.work / interval;
    WallTime wall;
    wall.mean = number * cycle.mean;
    wall.deviation = std::sqrt(number * std::max(cycle.variance, 0.0));
    wall.efficiency = interval / cycle.mean;
    return wall;
}

double interval_of(const model::CheckpointCycle& job, model::IntervalRule rule) {
    if (rule == model::IntervalRule::given) return *job.interval;
    const Seconds write{job.write}, mtbf{job.mtbf};
    if (rule == model::IntervalRule::young) return young_interval(write, mtbf).value();
    if (rule == model::IntervalRule::daly) return daly_interval(write, mtbf).value();
    double back = 0.0;
    for (const model::CheckpointCycle::Layer& layer : job.layers)
        if (layer.to_checkpoint) back += layer.fraction / job.mtbf;
    if (back == 0.0) return std::numeric_limits<double>::infinity();
    // t = M x with (x - 1) exp(x) = -exp(-d/M); f(x) = (x - 1) + exp(-d/M - x) is convex with its zero right of x0.
    const double ratio = job.write * back;
    double x = std::min(std::sqrt(2.0 * ratio), 1.0);
    for (int step = 0; step < 200; ++step) {
        // h(x) = 1 - x - exp(-ratio - x), written without cancellation: -expm1(-ratio - x) - x.
        const double value = -std::expm1(-ratio - x) - x, slope = std::exp(-ratio - x) - 1.0;
        const double next = x - value / slope;
        const bool done = std::abs(next - x) <= 1e-16 * x;
        x = next;
        if (done) break;
    }
    return x / back;
}

}  // namespace windtunnel::avail
