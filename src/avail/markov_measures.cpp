#include "windtunnel/avail/markov_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "windtunnel/avail/state_space.hpp"
#include "windtunnel/avail/stationary.hpp"
#include "windtunnel/avail/uniformisation.hpp"

namespace windtunnel::avail {
namespace {

using model::ChainMeasure;
using model::MeasureKind;

double weighted(const std::vector<double>& weight, const std::vector<double>& reward) {
    double sum = 0.0;
    for (std::size_t state = 0; state < weight.size(); ++state) sum += weight[state] * reward[state];
    return sum;
}

/// Solves what several measures share, once.
class Solver {
public:
    Solver(const model::Chain& chain, const StateSpace& space, const std::vector<std::uint8_t>& wanted,
           ChainAnswer& answer)
        : chain_{chain}, space_{space}, wanted_{wanted}, answer_{answer}, classes_{closed_classes(space.chain)} {
        answer.num_closed_classes = classes_.num_closed;
        start_.assign(space.chain.num_states(), 0.0);
        start_[space.chain.initial] = 1.0;
    }

    void run() {
        for (std::size_t m = 0; m < chain_.measures.size(); ++m) {
            if (wanted_[m] == 0) continue;
            switch (chain_.measures[m].kind) {
                case MeasureKind::steady_state:
                case MeasureKind::frequency:
                case MeasureKind::variance:
                    in_the_long_run(m);
                    break;
                case MeasureKind::transient:
                case MeasureKind::accumulated:
                case MeasureKind::time_averaged:
                    at_a_time(m);
                    break;
                case MeasureKind::mean_time:
                case MeasureKind::reward_until:
                    until_the_target(m);
                    break;
                case MeasureKind::probability:
                    if (chain_.measures[m].time)
                        reached_by_a_time(m);
                    else
                        until_the_target(m);
                    break;
                default:
                    break;  // no measure of a Markov chain
            }
        }
    }

private:
    void fault(std::size_t m, std::string message, std::string expected) {
        const model::FilePlace& place = chain_.measures[m].place;
        answer_.findings.push_back(
            {place.file, place.line, place.column, place.field, std::move(message), std::move(expected)});
    }

    /// Shares of the long run, or nothing after a finding.
    const Stationary* shares(std::size_t m) {
        if (!long_run_) {
            for (std::uint32_t one = 0; one < classes_.num_closed; ++one) {
                if (classes_.sizes[one] != 1 || space_.chain.num_states() == 1) continue;
                const auto at = std::find(classes_.of.begin(), classes_.of.end(), one) - classes_.of.begin();
                std::vector<double> values(chain_.variables.size());
                space_.states.read(static_cast<std::size_t>(at), values);
                fault(
                    m,
                    "the state " + state_text(chain_, values) + " cannot be left: there is no long run but this state",
                    "a transition out of it, or a measure of kind mean_time, reward_until or probability");
                return nullptr;
            }
            long_run_ = long_run(space_.chain, classes_);
            answer_.residual = long_run_->residual;
        }
        if (!long_run_->converged) {
            fault(m,
                  fmt::format("the long run has not converged after {} sweeps: estimated error {:.1e}",
                              long_run_->sweeps, long_run_->error),
                  "rates that are fewer orders of magnitude apart, or fewer states");
            return nullptr;
        }
        return &*long_run_;
    }

    void in_the_long_run(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        const Stationary* steady = shares(m);
        if (steady == nullptr) return;
        MeasureAnswer& result = answer_.measures[m];
        result.error = steady->error;
        result.method = steady->sweeps > 0 ? fmt::format("{} sweeps", steady->sweeps) : "elimination";
        if (measure.kind == MeasureKind::steady_state) {
            result.value = weighted(steady->share, space_.rewards[*measure.reward]);
        } else if (measure.kind == MeasureKind::frequency) {
            result.value = entries_per_time(steady->share, space_.target[m]);
        } else {
            const auto found =
                variance_of_time_average({space_.chain}, steady->share, space_.rewards[*measure.reward], *measure.time);
            if (!found.complete) return too_long(m);
            result.value = found.variance;
            result.method = "covariance";
        }
    }

    [[nodiscard]] double entries_per_time(const std::vector<double>& share,
                                          const std::vector<std::uint8_t>& target) const {
        double sum = 0.0;
        for (std::size_t state = 0; state < share.size(); ++state) {
            if (target[state] != 0) continue;
            for (std::uint64_t at = space_.chain.first[state]; at < space_.chain.first[state + 1]; ++at)
                if (target[space_.chain.target[at]] != 0) sum += share[state] * space_.chain.rate[at];
        }
        return sum;
    }

    /// All measures of this time in one pass, at the first of them.
    void at_a_time(std::size_t m) {
        if (!answer_.measures[m].method.empty()) return;
        const double time = *chain_.measures[m].time;
        std::vector<std::size_t> same;
        std::vector<const std::vector<double>*> rewards;
        for (std::size_t other = m; other < chain_.measures.size(); ++other) {
            const ChainMeasure& measure = chain_.measures[other];
            const bool timed = measure.kind == MeasureKind::transient || measure.kind == MeasureKind::accumulated ||
                               measure.kind == MeasureKind::time_averaged;
            if (wanted_[other] == 0 || !timed || *measure.time != time) continue;
            same.push_back(other);
            rewards.push_back(&space_.rewards[*measure.reward]);
        }
        Uniformisation system{space_.chain};
        const std::optional<Stationary> steady = long_run_for_times(time);
        if (steady) {
            system.long_run = &steady->share;
            system.close = std::max(system.close, 10.0 * steady->residual);
        }
        const TransientAnswer found = transient(system, start_, rewards, time);
        for (std::size_t i = 0; i < same.size(); ++i) {
            if (!found.complete) {
                too_long(same[i]);
                continue;
            }
            MeasureAnswer& result = answer_.measures[same[i]];
            const MeasureKind kind = chain_.measures[same[i]].kind;
            result.value = kind == MeasureKind::transient ? found.at_time[i] : found.accumulated[i];
            if (kind == MeasureKind::time_averaged) result.value /= time;
            result.error = found.error + 1e-13;
            result.method = fmt::format("{} steps", found.steps);
        }
    }

    /// The long run as a shortcut for long times; only where it is cheap and unique.
    [[nodiscard]] std::optional<Stationary> long_run_for_times(double time) {
        constexpr double long_time = 1000.0;  // mean number of transitions out of the fastest state
        double fastest = 0.0;
        for (std::size_t state = 0; state < space_.chain.num_states(); ++state)
            fastest = std::max(fastest, space_.chain.exit_rate(state));
        const bool unique = classes_.num_closed == 1 && classes_.sizes[0] == space_.chain.num_states();
        if (fastest * time < long_time || !unique) return std::nullopt;
        if (!long_run_) {
            long_run_ = long_run(space_.chain, classes_);
            answer_.residual = long_run_->residual;
        }
        return long_run_->converged ? long_run_ : std::nullopt;
    }

    [[nodiscard]] std::vector<std::uint32_t> marks(std::size_t m) const {
        std::vector<std::uint32_t> result(space_.chain.num_states(), 0);
        for (std::size_t state = 0; state < result.size(); ++state) {
            if (!space_.avoid[m].empty() && space_.avoid[m][state] != 0) result[state] = 2;
            if (space_.target[m][state] != 0) result[state] = 1;
        }
        return result;
    }

    void until_the_target(std::size_t m) {
        const ChainMeasure& measure = chain_.measures[m];
        const FirstPassage passage = first_passage(space_.chain, marks(m));
        if (!passage.converged)
            return fault(m, "the first passage has not converged", "fewer states or rates closer to each other");
        MeasureAnswer& result = answer_.measures[m];
        result.error = passage.error;
        result.method = "first passage";
        if (measure.kind == MeasureKind::mean_time) {
            result.value = passage.mean_time;
        } else if (measure.kind == MeasureKind::probability) {
            result.value = passage.probability.size() > 1 ? passage.probability[1] : 0.0;
        } else {
            result.value = std::isinf(passage.mean_time) ? passage.mean_time
                                                         : weighted(passage.time_in, space_.rewards[*measure.reward]);
        }
    }

    void reached_by_a_time(std::size_t m) {
        Uniformisation system{space_.chain};
        std::vector<double> reached(space_.chain.num_states(), 0.0);
        system.absorbing.assign(reached.size(), 0);
        const std::vector<std::uint32_t> ends = marks(m);
        for (std::size_t state = 0; state < reached.size(); ++state) {
            system.absorbing[state] = ends[state] != 0 ? 1 : 0;
            reached[state] = ends[state] == 1 ? 1.0 : 0.0;
        }
        const std::vector<const std::vector<double>*> rewards{&reached};
        const TransientAnswer found = transient(system, start_, rewards, *chain_.measures[m].time);
        if (!found.complete) return too_long(m);
        answer_.measures[m].value = found.at_time[0];
        answer_.measures[m].error = found.error + 1e-13;
        answer_.measures[m].method = fmt::format("{} steps", found.steps);
    }

    void too_long(std::size_t m) {
        fault(m, fmt::format("time {} x the fastest rate is too many steps", *chain_.measures[m].time),
              "a shorter time, or a measure of the long run");
    }

    const model::Chain& chain_;
    const StateSpace& space_;
    const std::vector<std::uint8_t>& wanted_;
    ChainAnswer& answer_;
    Classes classes_;
    std::vector<double> start_;
    std::optional<Stationary> long_run_;
};

}  // namespace

void answer_markov(const model::Chain& chain, const StateSpace& space, const std::vector<std::uint8_t>& wanted,
                   ChainAnswer& answer) {
    Solver{chain, space, wanted, answer}.run();
}

}  // namespace windtunnel::avail
