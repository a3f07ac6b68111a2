#include "windtunnel/avail/rare.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/avail/path.hpp"

namespace windtunnel::avail {
namespace {

using model::MeasureKind;

constexpr double unbiased_part = 0.05;
constexpr double rare_jump = 0.1;  ///< a jump below this probability is a failure, for the balance
constexpr std::uint64_t most_events = 1'000'000;
constexpr std::size_t effort = 100;  // paths from each level
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Probabilities of the options of a state, as they are and as they are drawn.
struct Bias {
    std::vector<double> own, drawn;

    void balance() {
        double rare = 0.0;
        std::size_t number = 0;
        for (const double p : own)
            if (p < rare_jump) rare += p, ++number;
        drawn = own;
        if (number == 0 || number == own.size()) return;
        for (std::size_t i = 0; i < own.size(); ++i)
            drawn[i] = own[i] < rare_jump ? 0.5 / static_cast<double>(number) : 0.5 * own[i] / (1.0 - rare);
    }
    /// Index of the option that `uniform` chooses.
    [[nodiscard]] std::size_t choose(double uniform) const {
        for (std::size_t i = 0; i + 1 < drawn.size(); ++i) {
            if (uniform < drawn[i]) return i;
            uniform -= drawn[i];
        }
        return drawn.size() - 1;
    }
};

}  // namespace

std::optional<RareSampler> RareSampler::of(StateTable& table, std::size_t index) {
    const model::ChainMeasure& measure = table.chain().measures[index];
    RareTarget target;
    target.measure = index;
    switch (measure.kind) {
        case MeasureKind::probability:
            if (measure.time) target.time = *measure.time;
            break;
        case MeasureKind::mean_time:
        case MeasureKind::frequency:
            target.cycle = true;
            break;
        case MeasureKind::steady_state:
            target.cycle = true;
            target.by = RareTarget::By::deviation;
            target.reward = *measure.reward;
            break;
        default:
            return std::nullopt;
    }
    (void)table.row(StateTable::initial());
    return RareSampler{table, target, measure.kind};
}

double RareSampler::promise(const StateTable& table, std::uint32_t state, double left) const noexcept {
    const double value = guide_.value(state);
    if (target_.cycle) return state == StateTable::initial() ? 0.0 : value;
    double again = guide_.in_the_end();  // what a return to the start promises
    if (!std::isinf(target_.time)) {
        const double attempts = std::max(1.0, left / table.known_row(StateTable::initial()).mean_time);
        again = std::min(again, attempts * guide_.attempt());
    }
    if (state == StateTable::initial()) return again;
    return value + std::max(0.0, 1.0 - value - guide_.failure(state)) * again;
}

double RareSampler::estimate(const StateTable& table) const {
    return target_.cycle ? guide_.attempt() : promise(table, StateTable::initial(), target_.time);
}

template <class Words>
double RareSampler::behind_target(StateTable& table, Words& words, std::uint32_t state, RareValue& result) const {
    if (kind_ == MeasureKind::probability || kind_ == MeasureKind::mean_time) return 1.0;
    const double usual = kind_ == MeasureKind::steady_state ? table.reward(StateTable::initial(), target_.reward) : 0.0;
    double sum = kind_ == MeasureKind::frequency ? 1.0 : 0.0;
    for (; result.events < most_events; ++result.events) {
        const StateTable::Row row = table.row(state);
        if (state == StateTable::initial()) return sum;
        if (std::isinf(row.mean_time)) break;
        const auto& word = words.next();
        if (kind_ == MeasureKind::steady_state)
            sum -=
                (table.reward(state, target_.reward) - usual) * std::log(base::open_uniform(word[0])) * row.mean_time;
        const std::uint32_t to = table.next(row, word[1]);
        (void)table.row(to);
        if (kind_ == MeasureKind::frequency && table.is_target(to, target_.measure) &&
            !table.is_target(state, target_.measure))
            sum += 1.0;
        state = to;
    }
    result.complete = false;
    return 0.0;
}

RareValue RareSampler::importance(StateTable& table, const base::RandomStream& stream) const {
    EventWords words{stream};
    RareValue result;
    Bias bias;
    std::uint32_t state = StateTable::initial();
    double weight = 1.0, now = 0.0;
    for (bool away = false; result.events < most_events; away = true) {
        const StateTable::Row row = table.row(state);
        const int mark = target_.mark(table, state, away);
        if (mark == 1) result.value = weight * behind_target(table, words, state, result);
        if (mark != 0 || std::isinf(row.mean_time)) {
            result.ratio = weight;
            return result;
        }
        const auto& word = words.next();
        ++result.events;
        if (!std::isinf(target_.time)) {
            const double before = -std::expm1((now - target_.time) / row.mean_time);  // a jump before the time
            weight *= before;
            now -= row.mean_time * std::log1p(-base::open_uniform(word[0]) * before);
            if (!(now < target_.time)) now = std::nextafter(target_.time, 0.0);
        }
        bias.own.assign(row.count, 0.0);
        bias.drawn.assign(row.count, 0.0);
        double sum = 0.0;
        for (std::uint32_t i = 0; i < row.count; ++i) {
            bias.own[i] = table.rate(row.first + i) * row.mean_time;
            bias.drawn[i] = bias.own[i] * promise(table, table.target(row.first + i), target_.time - now);
            sum += bias.drawn[i];
        }
        if (sum > 0.0)
            for (std::uint32_t i = 0; i < row.count; ++i)
                bias.drawn[i] = (1.0 - unbiased_part) * bias.drawn[i] / sum + unbiased_part * bias.own[i];
        else
            bias.balance();
        const std::size_t chosen = bias.choose(base::open_uniform(word[1]));
        weight *= bias.own[chosen] / bias.drawn[chosen];
        state = table.target(row.first + static_cast<std::uint32_t>(chosen));
    }
    result.complete = false;
    return result;
}

RareValue RareSampler::splitting(StateTable& table, const base::RandomStream& stream) const {
    struct Entrance {
        std::uint32_t state;
        double now;
    };
    EventWords words{stream};
    RareValue result;
    (void)table.row(StateTable::initial());
    std::uint32_t level = std::min(guide_.steps_left(StateTable::initial()), 1000U);
    std::vector<Entrance> entrances{{StateTable::initial(), 0.0}}, next;
    double share = 1.0;
    if (target_.mark(table, StateTable::initial(), false) == 1) level = 0;
    while (level > 0) {
        next.clear();
        for (std::size_t path = 0; path < effort; ++path) {
            Entrance at = entrances[path % entrances.size()];
            bool away = at.state != StateTable::initial();
            while (true) {
                const StateTable::Row row = table.row(at.state);
                const int mark = target_.mark(table, at.state, away);
                if (mark == 1 || (mark == 0 && guide_.steps_left(at.state) < level)) {
                    next.push_back(at);
                    break;
                }
                if (mark == 2 || std::isinf(row.mean_time)) break;
                if (++result.events > most_events) {
                    result.complete = false;
                    return result;
                }
                const auto& word = words.next();
                at.now -= std::log(base::open_uniform(word[0])) * row.mean_time;
                if (at.now > target_.time) break;
                at.state = table.next(row, word[1]);
                away = true;
            }
        }
        if (next.empty()) return result;
        share *= static_cast<double>(next.size()) / static_cast<double>(effort);
        std::swap(entrances, next);
        --level;
    }
    double sum = 0.0;
    for (const Entrance& at : entrances) sum += behind_target(table, words, at.state, result);
    result.value = share * sum / static_cast<double>(entrances.size());
    return result;
}

double RareSampler::cycle_time(StateTable& table, const base::RandomStream& stream) const {
    MarkovPath path{table, stream, StateTable::initial()};
    double time = 0.0;
    for (std::uint64_t event = 0; event < most_events; ++event) {
        const double wait = path.wait();
        if (std::isinf(wait)) break;
        time += wait;
        path.move();
        (void)table.row(path.state());
        if (path.state() == StateTable::initial()) return time;
        if (kind_ == MeasureKind::mean_time && table.is_target(path.state(), target_.measure)) return time;
    }
    return infinite;
}

}  // namespace windtunnel::avail
