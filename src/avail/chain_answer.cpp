#include "windtunnel/avail/chain_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "windtunnel/avail/checkpoint_cycle.hpp"
#include "windtunnel/avail/derivatives.hpp"
#include "windtunnel/avail/exact_engines.hpp"
#include "windtunnel/avail/importance.hpp"
#include "windtunnel/avail/ranges.hpp"

namespace windtunnel::avail {
namespace {

using model::Chain;
using model::ChainMeasure;
using model::MeasureKind;
using enum model::MeasureKind;

bool is_of_chain(MeasureKind kind) {
    return kind <= frequency || kind == time_of_event;
}
bool is_of_ranges(MeasureKind kind) {
    return kind >= range_mean && kind <= morris_spread;
}

/// Measures that measure m rests on, itself included.
std::vector<std::uint8_t> needed_by(const Chain& chain, std::size_t m) {
    std::vector<std::uint8_t> needed(chain.measures.size(), 0);
    needed[m] = 1;
    for (std::size_t k = m + 1; k-- > 0;) {
        if (needed[k] == 0) continue;
        if (chain.measures[k].kind == formula) std::fill_n(needed.begin(), k, std::uint8_t{1});
        if (!is_of_chain(chain.measures[k].kind) && k > 0) needed[chain.measures[k].of] = 1;
    }
    return needed;
}

ChainAnswer answer_measures(const Chain& chain, const std::vector<std::uint8_t>& wanted);

/// One measure with other values of the constants.
std::optional<double> value_with(const Chain& chain, std::size_t m, std::span<const double> constants) {
    const std::optional<Chain> other = chain.with_constants(constants);
    if (!other) return std::nullopt;
    const ChainAnswer answer = answer_measures(*other, needed_by(*other, m));
    if (!answer.findings.empty() || !answer.unknown.empty()) return std::nullopt;
    return answer.measures[m].value;
}

std::vector<double> values_of(const Chain& chain) {
    std::vector<double> values;
    for (const model::ChainConstant& one : chain.constants) values.push_back(one.value);
    return values;
}

std::size_t place_of(const Chain& chain, const std::string& constant) {
    std::size_t i = 0;
    while (i < chain.constants.size() && chain.constants[i].name != constant) ++i;
    return i;
}

/// The measures that rest on others, in their order.
class Rest {
public:
    Rest(const Chain& chain, ChainAnswer& answer) : chain_{chain}, answer_{answer} {}

    void run(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        MeasureAnswer& result = answer_.measures[m];
        switch (measure.kind) {
            case formula:
                return of_the_others(m);
            case derivative:
            case elasticity:
                return by_a_constant(m);
            case level:
                return take(m, level_availability(chain_, measure.by, measure.time), "binomial tails");
            case downtime_share:
                return take(m, avail::downtime_share(rates_for_shares(chain_), chain_.measures[measure.of], measure.by),
                            "first passage");
            case birnbaum:
            case criticality:
            case improvement:
            case fussell_vesely:
            case risk_achievement:
            case risk_reduction:
                return take(m, importance(chain_, chain_.measures[measure.of], measure.kind, measure.by),
                            "all numbers");
            case interval:
            case wall_mean:
            case wall_deviation:
            case efficiency:
            case clean_interval:
                return of_the_job(m);
            default:
                if (is_of_ranges(measure.kind)) return over_ranges(m);
                result.method = "none";
        }
    }

private:
    void fault(std::size_t m, std::string message, std::string expected) {
        const model::FilePlace& place = chain_.measures[m].place;
        answer_.findings.push_back(
            {place.file, place.line, place.column, place.field, std::move(message), std::move(expected)});
    }

    void take(std::size_t m, const IndependentAnswer& found, const char* method) {
        if (!found.reason.empty()) return fault(m, "cannot be solved exactly: " + found.reason, "");
        answer_.measures[m].value = found.value;
        answer_.measures[m].error = found.error;
        answer_.measures[m].method = method;
    }

    void of_the_others(std::size_t m) {
        std::vector<double> values;
        MeasureAnswer& result = answer_.measures[m];
        for (const MeasureAnswer& other : answer_.measures) {
            values.push_back(other.value);
            result.error = std::max(result.error, other.error);
        }
        result.value = chain_.measures[m].formula(values);
        result.method = "formula";
    }

    void by_a_constant(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        const std::size_t constant = place_of(chain_, measure.by);
        const double x = chain_.constants[constant].value;
        std::optional<double> slope;
        std::string method = "adjoint equations";
        const ChainMeasure& of = chain_.measures[measure.of];
        if (of.kind == steady_state && of.step_mode == model::StepMode::none && !chain_.has_clocks()) {
            auto found = adjoint_.find(measure.of);
            if (found == adjoint_.end())
                found = adjoint_.emplace(measure.of, std::make_unique<LongRunDerivatives>(chain_, measure.of)).first;
            if (found->second->ready()) slope = found->second->by(constant);
        }
        if (!slope) {
            method = "differences";
            const double h = difference_step(x);
            std::vector<double> at;
            for (const double step : {-2.0, -1.0, 1.0, 2.0}) {
                std::vector<double> values = values_of(chain_);
                values[constant] = x + step * h;
                const auto value = value_with(chain_, measure.of, values);
                if (!value) return fault(m, fmt::format("{} has no value near {} = {}", of.name, measure.by, x), "");
                at.push_back(*value);
            }
            slope = five_point(at[0], at[1], at[2], at[3], h);
        }
        MeasureAnswer& result = answer_.measures[m];
        result.value = *slope;
        if (measure.kind == elasticity) result.value *= x / answer_.measures[measure.of].value;
        result.error = method == "differences" ? 1e-8 : 1e-10;
        result.method = method;
    }

    RangedFunction ranged(std::size_t of) {
        if (chain_.function && chain_.measures[of].generated)
            return [this](std::span<const double> point) -> std::optional<double> { return chain_.function(point); };
        std::vector<std::size_t> places;
        for (const model::ConstantRange& range : chain_.ranges) places.push_back(place_of(chain_, range.constant));
        return [this, of, places](std::span<const double> point) {
            std::vector<double> values = values_of(chain_);
            for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = point[i];
            return value_with(chain_, of, values);
        };
    }

    void over_ranges(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        Box box;
        std::size_t input = 0;
        for (std::size_t i = 0; i < chain_.ranges.size(); ++i) {
            box.least.push_back(chain_.ranges[i].least);
            box.most.push_back(chain_.ranges[i].most);
            if (chain_.ranges[i].constant == measure.by) input = i;
        }
        MeasureAnswer& result = answer_.measures[m];
        if (measure.kind == morris_mean || measure.kind == morris_spread) {
            auto found = effects_.find(measure.of);
            if (found == effects_.end())
                found = effects_.emplace(measure.of, elementary_effects(ranged(measure.of), box, chain_.samples)).first;
            if (!found->second.problem.empty()) return fault(m, found->second.problem, "other ranges");
            result.value =
                measure.kind == morris_mean ? found->second.mean_absolute[input] : found->second.spread[input];
            result.method = fmt::format("{} trajectories", chain_.samples);
            result.error = 1.0 / std::sqrt(static_cast<double>(chain_.samples));
            return;
        }
        auto found = shares_.find(measure.of);
        if (found == shares_.end()) {
            // A chain takes a solution for each point: no more points than sampling would take.
            const double most =
                chain_.function ? 1e5 : static_cast<double>(chain_.samples) * static_cast<double>(box.size() + 2);
            found = shares_.emplace(measure.of, variance_shares(ranged(measure.of), box, chain_.samples, most)).first;
        }
        const VarianceShares& shares = found->second;
        if (!shares.problem.empty()) return fault(m, shares.problem, "other ranges");
        switch (measure.kind) {
            case range_mean:
                result.value = shares.mean;
                break;
            case range_variance:
                result.value = shares.variance;
                break;
            case first_order:
                result.value = shares.first_order[input];
                break;
            default:
                result.value = shares.total_effect[input];
        }
        result.error = shares.error;
        result.method = shares.method;
    }

    void of_the_job(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        const model::CheckpointCycle& job = *chain_.checkpoint;
        const double tau = interval_of(job, measure.rule);
        MeasureAnswer& result = answer_.measures[m];
        result.method = job.failures_in_recovery ? "failures in recovery too" : "no failures in recovery";
        result.error = 1e-14;
        if (measure.kind == interval) {
            result.value = tau;
        } else if (!(tau > 0.0) || !std::isfinite(tau)) {
            fault(m, fmt::format("the interval is {}", tau),
                  "failures that go back to the checkpoint, and a time to write it");
        } else if (measure.kind == clean_interval) {
            result.value = cycle_moments(job, tau).clean;
        } else {
            const WallTime wall = wall_time(job, tau);
            result.value = measure.kind == wall_mean        ? wall.mean
                           : measure.kind == wall_deviation ? wall.deviation
                                                            : wall.efficiency;
        }
    }

    const Chain& chain_;
    ChainAnswer& answer_;
    std::map<std::size_t, std::unique_ptr<LongRunDerivatives>> adjoint_;
    std::map<std::size_t, VarianceShares> shares_;
    std::map<std::size_t, ElementaryEffects> effects_;
};

ChainAnswer answer_measures(const Chain& chain, const std::vector<std::uint8_t>& wanted) {
    ChainAnswer answer;
    answer.measures.resize(chain.measures.size());
    for (std::size_t m = 0; m < chain.measures.size(); ++m) answer.measures[m].name = chain.measures[m].name;
    for (const model::ChainConstant& constant : chain.constants)
        if (constant.unknown) answer.unknown.push_back(constant.name);
    if (!answer.unknown.empty()) {
        for (MeasureAnswer& measure : answer.measures) {
            measure.value = std::numeric_limits<double>::quiet_NaN();
            measure.method = fmt::format("UNKNOWN: {}", fmt::join(answer.unknown, ", "));
        }
        return answer;
    }
    std::vector<std::uint8_t> of_chain = wanted;
    for (std::size_t m = 0; m < wanted.size(); ++m)
        if (!is_of_chain(chain.measures[m].kind)) of_chain[m] = 0;
    if (!chain.variables.empty()) solve_chain(chain, of_chain, answer);
    Rest rest{chain, answer};
    for (std::size_t m = 0; m < wanted.size() && answer.findings.empty(); ++m)
        if (wanted[m] != 0 && !is_of_chain(chain.measures[m].kind)) rest.run(m);
    return answer;
}

/// The value of the unknown constant at which the measure meets its target, by bisection on a logarithmic scale where
/// both ends are positive.
BreakEvenRow break_even(const Chain& chain, std::size_t index, std::optional<double> over) {
    const model::BreakEven& asked = chain.break_evens[index];
    BreakEvenRow row{index, over, {}, {}};
    const std::size_t unknown = place_of(chain, asked.unknown);
    const auto gap = [&](double x) -> std::optional<double> {
        std::vector<double> values = values_of(chain);
        values[unknown] = x;
        if (over) values[place_of(chain, asked.over)] = *over;
        const auto value = value_with(chain, asked.measure, values);
        return value ? std::optional{*value - asked.target} : std::nullopt;
    };
    double a = asked.least, b = asked.most;
    const bool logarithmic = a > 0.0;
    const auto at_a = gap(a), at_b = gap(b);
    if (!at_a || !at_b) {
        row.note = "the measure has no value at an end of the range, or another constant is unknown";
        return row;
    }
    if ((*at_a > 0.0) == (*at_b > 0.0)) {
        row.note = *at_a > 0.0 ? "above the target over the whole range" : "not above the target over the whole range";
        return row;
    }
    const bool rising = *at_b > 0.0;
    for (int step = 0; step < 200 && std::abs(b - a) > 1e-13 * std::abs(b); ++step) {
        const double middle = logarithmic ? std::sqrt(a * b) : 0.5 * (a + b);
        const auto here = gap(middle);
        if (!here) {
            row.note = "the measure has no value inside the range";
            return row;
        }
        ((*here > 0.0) == rising ? b : a) = middle;
    }
    row.value = 0.5 * (a + b);
    return row;
}

}  // namespace

ChainAnswer answer_chain(const Chain& chain) {
    ChainAnswer answer = answer_measures(chain, std::vector<std::uint8_t>(chain.measures.size(), 1));
    for (std::size_t i = 0; i < chain.break_evens.size() && answer.findings.empty(); ++i) {
        if (chain.break_evens[i].over.empty()) answer.break_evens.push_back(break_even(chain, i, {}));
        for (const double over : chain.break_evens[i].values) answer.break_evens.push_back(break_even(chain, i, over));
    }
    return answer;
}

}  // namespace windtunnel::avail
