#include "windtunnel/avail/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "windtunnel/avail/path.hpp"
#include "windtunnel/avail/purposes.hpp"

namespace windtunnel::avail {
namespace {

using model::ChainMeasure;
using model::MeasureKind;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double z_95 = 1.959963984540054;         // normal quantile of 0.975
constexpr double t_95 = 2.039513446396408;         // quantile 0.975 of Student's t with 31 degrees of freedom
constexpr std::size_t num_sections = 32;           // of the trials, for formulas
constexpr std::uint64_t most_events = 10'000'000;  // of one path
constexpr std::uint64_t pilot_events = 20'000;
constexpr std::uint64_t pilot_walks = 8;
constexpr double least_visits = 1e-4;   // share of events that must begin in the state between cycles
constexpr double warm_up_times = 10.0;  // times the slowest mean time of a transition
constexpr double window_times = 40.0;
constexpr double most_window_events = 2e5;  // that the pilot walk lets expect

/// How a measure is sampled.
enum class Way { timed, long_run, target, formula, none };

Way way_of(const ChainMeasure& measure) {
    switch (measure.kind) {
        case MeasureKind::transient:
        case MeasureKind::accumulated:
        case MeasureKind::time_averaged:
            return Way::timed;
        case MeasureKind::probability:
            return measure.time ? Way::timed : Way::target;
        case MeasureKind::steady_state:
        case MeasureKind::frequency:
            return Way::long_run;
        case MeasureKind::mean_time:
        case MeasureKind::reward_until:
            return Way::target;
        case MeasureKind::formula:
            return Way::formula;
        default:
            return Way::none;
    }
}

/// Of a share of so many paths: holds also where none or all reached the target.
/// Source: Wilson, Journal of the American Statistical Association 22, 1927.
void score_interval(SampledMeasure& answer, std::uint64_t paths) {
    if (paths == 0) return;
    const double n = static_cast<double>(paths), z2 = z_95 * z_95, p = answer.value;
    const double centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = z_95 / (1.0 + z2 / n) * std::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    answer.low = std::max(centre - half, 0.0);
    answer.high = std::min(centre + half, 1.0);
}

}  // namespace

/// The paths of one trial.
class ChainSampler::Paths {
public:
    Paths(const model::Chain& chain, SampleMethod method) : table_{chain}, method_{method} {
        for (std::size_t m = 0; m < chain.measures.size(); ++m) {
            ways_.push_back(way_of(chain.measures[m]));
            if (ways_[m] == Way::timed) add_timed(m);
            if (ways_[m] == Way::long_run) long_run_.push_back(m);
            if (ways_[m] == Way::target) targets_.push_back(m);
            if (ways_[m] == Way::formula) sections_ = num_sections;
        }
        std::stable_sort(timed_.begin(), timed_.end(), [](const Timed& a, const Timed& b) { return a.time < b.time; });
        collected_.resize(rewards_.size());
        if (!long_run_.empty()) look_around();
    }

    [[nodiscard]] const model::Chain& chain() const noexcept { return table_.chain(); }
    [[nodiscard]] std::size_t num_sections_used() const noexcept { return sections_; }

    void run(std::uint64_t seed, std::uint64_t trial, SampleSums& sums) {
        section_ = trial % sections_;
        sums_ = &sums;
        events_ = 0;
        if (!timed_.empty()) {
            MarkovPath path{table_, {seed, timed_paths, trial}, StateTable::initial()};
            to_times(path);
        }
        if (!long_run_.empty()) {
            MarkovPath path{table_, {seed, long_paths, trial}, cycles_ ? regeneration_ : StateTable::initial()};
            cycles_ ? cycle(path) : window(path);
        }
        for (const std::size_t m : targets_) {
            if (given_up_[m] != 0) {
                ++sums.measures[m].unreached;
                continue;
            }
            MarkovPath path{table_, {seed, target_paths + static_cast<std::uint32_t>(m), trial}, StateTable::initial()};
            to_target(path, m);
        }
        sums.events += events_;
        ++sums.trials;
    }

    /// Paths of a measure that did not reach their end are not tried again within this run.
    void begin_run() { given_up_.assign(ways_.size(), 0); }

    [[nodiscard]] std::string method_of(std::size_t m) const {
        switch (ways_[m]) {
            case Way::timed:
                return "paths to the time";
            case Way::long_run:
                return cycles_ ? "cycles" : fmt::format("paths over {:.3g} after {:.3g}", window_, warm_up_);
            case Way::target:
                return "paths to the target";
            case Way::formula:
                return "formula";
            case Way::none:
                break;
        }
        return "no mean over paths: --exact";
    }
    [[nodiscard]] Way way(std::size_t m) const noexcept { return ways_[m]; }

private:
    struct Timed {
        std::size_t measure;
        double time;
        std::size_t reward;  ///< index in collected_ or of the chain's rewards; probability: in hits_
    };

    void add_timed(std::size_t m) {
        const ChainMeasure& measure = chain().measures[m];
        Timed one{m, *measure.time, 0};
        if (measure.kind == MeasureKind::probability) {
            one.reward = watched_.size();
            watched_.push_back(m);
        } else if (measure.kind == MeasureKind::transient) {
            one.reward = *measure.reward;
        } else {
            const auto found = std::find(rewards_.begin(), rewards_.end(), *measure.reward);
            one.reward = static_cast<std::size_t>(found - rewards_.begin());
            if (found == rewards_.end()) rewards_.push_back(*measure.reward);
        }
        timed_.push_back(one);
    }

    void add(std::size_t m, double x, double y = 1.0) { sums_->measures[m].sections[section_].add(x, y); }
    void add_value(std::size_t m, double value) {
        add(m, value);
        sums_->measures[m].values.add(value);
    }

    void collect(std::uint32_t state, double duration) noexcept {
        for (std::size_t i = 0; i < rewards_.size(); ++i) collected_[i] += table_.reward(state, rewards_[i]) * duration;
    }

    /// Marks the watched targets that the path has come to.
    void watch(std::uint32_t state) {
        for (std::size_t i = 0; i < open_.size();) {
            const std::size_t m = watched_[open_[i]];
            const bool hit = table_.is_target(state, m);
            if (!hit && !table_.is_avoided(state, m)) {
                ++i;
                continue;
            }
            hits_[open_[i]] = hit ? 1.0 : 0.0;
            open_[i] = open_.back();
            open_.pop_back();
        }
    }

    void record(const Timed& one, std::uint32_t state) {
        switch (chain().measures[one.measure].kind) {
            case MeasureKind::probability:
                return add(one.measure, hits_[one.reward]);
            case MeasureKind::transient:
                return add(one.measure, table_.reward(state, one.reward));
            case MeasureKind::time_averaged:
                return add_value(one.measure, one.time > 0.0 ? collected_[one.reward] / one.time : 0.0);
            default:
                return add_value(one.measure, collected_[one.reward]);
        }
    }

    template <class Path>
    void to_times(Path& path) {
        std::fill(collected_.begin(), collected_.end(), 0.0);
        hits_.assign(watched_.size(), 0.0);
        open_.resize(watched_.size());
        for (std::size_t i = 0; i < open_.size(); ++i) open_[i] = i;
        double now = 0.0;
        std::uint32_t state = path.state();
        (void)table_.row(state);
        watch(state);
        for (std::size_t next = 0; next < timed_.size();) {
            const double end = now + path.wait();
            for (; next < timed_.size() && timed_[next].time <= end; ++next) {
                collect(state, timed_[next].time - now);
                now = timed_[next].time;
                record(timed_[next], state);
            }
            if (next == timed_.size()) return;
            collect(state, end - now);
            now = end;
            path.move();
            state = path.state();
            (void)table_.row(state);
            if (!open_.empty()) watch(state);
            if (++events_ >= most_events) {  // far more events than the times need
                for (; next < timed_.size(); ++next) ++sums_->measures[timed_[next].measure].unreached;
                return;
            }
        }
    }

    template <class Path>
    void to_target(Path& path, std::size_t m) {
        const ChainMeasure& measure = chain().measures[m];
        double now = 0.0, reward = 0.0;
        for (std::uint64_t event = 0; event < most_events; ++event, ++events_) {
            const std::uint32_t state = path.state();
            (void)table_.row(state);
            const bool reached = table_.is_target(state, m);
            if (reached || table_.is_avoided(state, m)) {
                if (measure.kind == MeasureKind::probability)
                    add(m, reached ? 1.0 : 0.0);
                else
                    add_value(m, measure.kind == MeasureKind::mean_time ? now : reward);
                return;
            }
            const double wait = path.wait();
            if (std::isinf(wait)) {  // the path stays here for ever
                if (measure.kind == MeasureKind::probability) return add(m, 0.0);
                never_ends_[m] = 1;
                break;
            }
            now += wait;
            if (measure.kind == MeasureKind::reward_until) reward += table_.reward(state, *measure.reward) * wait;
            path.move();
        }
        given_up_[m] = 1;
        ++sums_->measures[m].unreached;
    }

    /// What a stretch of the long run adds to the measures, with the time it took.
    class Stretch {
    public:
        explicit Stretch(std::size_t number) : sums_(number, 0.0) {}
        void stay(StateTable& table, const std::vector<std::size_t>& measures, std::uint32_t state, double duration) {
            time += duration;
            for (std::size_t i = 0; i < measures.size(); ++i) {
                const ChainMeasure& measure = table.chain().measures[measures[i]];
                if (measure.kind == MeasureKind::steady_state)
                    sums_[i] += table.reward(state, *measure.reward) * duration;
            }
        }
        void move(StateTable& table, const std::vector<std::size_t>& measures, std::uint32_t from, std::uint32_t to) {
            for (std::size_t i = 0; i < measures.size(); ++i)
                if (table.chain().measures[measures[i]].kind == MeasureKind::frequency &&
                    table.is_target(to, measures[i]) && !table.is_target(from, measures[i]))
                    sums_[i] += 1.0;
        }
        [[nodiscard]] double sum(std::size_t i) const noexcept { return sums_[i]; }
        double time = 0.0;

    private:
        std::vector<double> sums_;
    };

    template <class Path>
    void cycle(Path& path) {
        Stretch stretch{long_run_.size()};
        std::uint32_t state = path.state();
        for (std::uint64_t event = 0; event < most_events; ++event) {
            ++events_;
            const double wait = path.wait();
            if (std::isinf(wait)) break;
            stretch.stay(table_, long_run_, state, wait);
            path.move();
            (void)table_.row(path.state());
            stretch.move(table_, long_run_, state, path.state());
            state = path.state();
            if (state == regeneration_) {
                for (std::size_t i = 0; i < long_run_.size(); ++i) add(long_run_[i], stretch.sum(i), stretch.time);
                return;
            }
        }
        for (const std::size_t m : long_run_) ++sums_->measures[m].unreached;
    }

    template <class Path>
    void window(Path& path) {
        Stretch stretch{long_run_.size()};
        const double end = warm_up_ + window_;
        double now = 0.0;
        std::uint32_t state = path.state();
        for (std::uint64_t event = 0; event < most_events; ++event, ++events_) {
            const double until = std::min(now + path.wait(), end);
            if (until > warm_up_) stretch.stay(table_, long_run_, state, until - std::max(now, warm_up_));
            now = until;
            if (now >= end) {
                for (std::size_t i = 0; i < long_run_.size(); ++i) add(long_run_[i], stretch.sum(i), stretch.time);
                return;
            }
            path.move();
            (void)table_.row(path.state());
            if (now > warm_up_) stretch.move(table_, long_run_, state, path.state());
            state = path.state();
        }
        for (const std::size_t m : long_run_) ++sums_->measures[m].unreached;
    }

    /// Pilot walks: the state between cycles, or a start-up time and a window.
    void look_around() {
        std::map<std::uint32_t, std::uint64_t> visits;
        std::vector<std::map<std::uint32_t, std::uint64_t>> by_walk(pilot_walks);
        double time = 0.0, slowest = 0.0;
        bool ends = false;
        for (std::uint64_t walk = 0; walk < pilot_walks; ++walk) {
            MarkovPath path{table_, {0, pilot_paths, walk}, StateTable::initial()};
            for (std::uint64_t event = 0; event < pilot_events; ++event) {
                const std::uint32_t state = path.state();
                const StateTable::Row row = table_.row(state);
                for (std::uint32_t i = row.first; i < row.first + row.count; ++i)
                    slowest = std::max(slowest, 1.0 / table_.rate(i));
                const double wait = path.wait();
                if (std::isinf(wait)) {
                    ends = true;
                    last_state_ = state;
                    break;
                }
                time += wait;
                if (event >= pilot_events / 2) ++by_walk[walk][state];
                path.move();
            }
        }
        if (ends) {
            absorbed();
            return;
        }
        for (const auto& one : by_walk)
            for (const auto& [state, number] : one) visits[state] += number;
        const auto most = std::max_element(visits.begin(), visits.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        regeneration_ = most->first;
        const bool everywhere =
            std::all_of(by_walk.begin(), by_walk.end(), [&](const auto& one) { return one.contains(regeneration_); });
        cycles_ = everywhere && static_cast<double>(most->second) >=
                                    least_visits * static_cast<double>(pilot_walks * pilot_events) / 2.0;
        const double per_event = time / static_cast<double>(pilot_walks * pilot_events);
        warm_up_ = std::min(warm_up_times * slowest, most_window_events / window_times * warm_up_times * per_event);
        window_ = warm_up_ * window_times / warm_up_times;
    }

    /// A path came to a state that cannot be left.
    void absorbed() {
        std::vector<double> values(chain().variables.size());
        table_.read(last_state_, values);
        for (const std::size_t m : long_run_) {
            const model::FilePlace& place = chain().measures[m].place;
            throw base::InputError{
                {{place.file, place.line, place.column, place.field,
                  "the state " + state_text(chain(), values) + " cannot be left: there is no long run but this state",
                  "a transition out of it, or a measure of kind mean_time, reward_until or probability"}}};
        }
    }

    StateTable table_;
    SampleMethod method_;
    std::vector<Way> ways_;
    std::vector<Timed> timed_;                     ///< by time
    std::vector<std::size_t> watched_;             ///< measures of kind probability with a time
    std::vector<std::size_t> rewards_;             ///< that are collected to a time
    std::vector<std::size_t> long_run_, targets_;  ///< measures
    std::size_t sections_ = 1, section_ = 0;
    bool cycles_ = false;
    std::uint32_t regeneration_ = 0, last_state_ = 0;
    double warm_up_ = 0.0, window_ = 0.0;
    std::vector<double> collected_, hits_;
    std::vector<std::size_t> open_;  ///< indices in watched_ that are not decided
    std::vector<std::uint8_t> given_up_;
    std::map<std::size_t, int> never_ends_;
    std::uint64_t events_ = 0;
    SampleSums* sums_ = nullptr;
};

ChainSampler::ChainSampler(const model::Chain& chain, SampleMethod method)
    : paths_{std::make_unique<Paths>(chain, method)} {}
ChainSampler::ChainSampler(ChainSampler&&) noexcept = default;
ChainSampler::~ChainSampler() = default;

SampleSums ChainSampler::nothing() const {
    SampleSums sums;
    sums.measures.resize(paths_->chain().measures.size());
    for (MeasureSums& measure : sums.measures) measure.sections.resize(paths_->num_sections_used());
    return sums;
}

void ChainSampler::run(std::uint64_t seed, TrialRange trials, SampleSums& sums) {
    paths_->begin_run();
    for (std::uint64_t trial = trials.begin; trial < trials.end; ++trial) paths_->run(seed, trial, sums);
}

std::vector<SampledMeasure> ChainSampler::answers(const SampleSums& sums) const {
    const model::Chain& chain = paths_->chain();
    std::vector<SampledMeasure> answers(chain.measures.size());
    // Means, and means without one section each, for the formulas.
    std::vector<std::vector<double>> without(num_sections, std::vector<double>(answers.size(), 0.0));
    std::vector<double> means(answers.size(), 0.0);
    for (std::size_t m = 0; m < answers.size(); ++m) {
        SampledMeasure& answer = answers[m];
        const MeasureSums& sum = sums.measures[m];
        answer.name = chain.measures[m].name;
        answer.method = paths_->method_of(m);
        answer.unreached = sum.unreached;
        answer.values = sum.values;
        double quantile = z_95;
        if (paths_->way(m) == Way::formula) {
            answer.value = chain.measures[m].formula(means);
            double mean = 0.0, squares = 0.0;
            for (std::size_t s = 0; s < num_sections; ++s) {
                without[s][m] = chain.measures[m].formula(without[s]);
                mean += without[s][m] / static_cast<double>(num_sections);
            }
            for (std::size_t s = 0; s < num_sections; ++s) squares += (without[s][m] - mean) * (without[s][m] - mean);
            answer.standard_error = std::sqrt(squares * (num_sections - 1.0) / static_cast<double>(num_sections));
            quantile = t_95;
        } else {
            const PairMoments all = sum.all();
            answer.value = all.count > 0 ? all.ratio() : unknown;
            answer.standard_error = all.standard_error();
            for (std::size_t s = 0; s < sum.sections.size() && sum.sections.size() > 1; ++s) {
                PairMoments rest;
                for (std::size_t other = 0; other < sum.sections.size(); ++other)
                    if (other != s) rest.merge(sum.sections[other]);
                without[s][m] = rest.count > 0 ? rest.ratio() : unknown;
            }
        }
        means[m] = answer.value;
        answer.low = answer.value - quantile * answer.standard_error;
        answer.high = answer.value + quantile * answer.standard_error;
        const bool one_answer = answer.value == 0.0 || answer.value == 1.0;  // perhaps a share of paths
        if (chain.measures[m].kind == MeasureKind::probability ||
            (chain.measures[m].kind == MeasureKind::transient && one_answer))
            score_interval(answer, sum.all().count);
        else if (answer.standard_error == 0.0 && sum.all().count > 0)
            answer.method += "; all alike: their scatter is unknown";
    }
    return answers;
}

}  // namespace windtunnel::avail
