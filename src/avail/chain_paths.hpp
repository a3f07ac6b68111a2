#pragma once
/// The paths of one trial of a chain, for sample.hpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "windtunnel/avail/path.hpp"
#include "windtunnel/avail/rare.hpp"
#include "windtunnel/avail/sample.hpp"

namespace windtunnel::avail {

/// How a measure is sampled.
enum class Way { timed, long_run, target, rare, formula, endless, none };

inline constexpr std::uint64_t most_path_events = 10'000'000;  // of one path
inline constexpr std::size_t num_sections = 32;                // of the trials, for formulas

/// The paths of one trial.
class ChainPaths {
public:
    ChainPaths(const model::Chain& chain, SampleMethod method);

    [[nodiscard]] const model::Chain& chain() const noexcept { return table_.chain(); }
    [[nodiscard]] std::size_t num_sections_used() const noexcept { return sections_; }

    void run(std::uint64_t seed, std::uint64_t trial, SampleSums& sums);

    /// Paths of a measure that did not reach their end are not tried again within this run.
    void begin_run() { given_up_.assign(ways_.size(), 0); }

    [[nodiscard]] std::string method_of(std::size_t measure) const;
    [[nodiscard]] Way way(std::size_t m) const noexcept { return ways_[m]; }

    /// Samples the measure no more, because its paths do not end.
    void leave_out(std::size_t measure);
    /// Reward of the start, where the measure is the deviation from it.
    [[nodiscard]] std::optional<double> usual_reward(std::size_t m) const {
        if (ways_[m] != Way::rare || rare_.at(m).kind() != model::MeasureKind::steady_state) return std::nullopt;
        return table_.reward(StateTable::initial(), *chain().measures[m].reward);
    }

private:
    struct Timed {
        std::size_t measure;
        double time;
        std::size_t reward;  ///< index in collected_ or of the chain's rewards; probability: in hits_
    };

    /// A measure that is sampled towards its rare target, when it has one and the method wants it.
    [[nodiscard]] bool add_rare(std::size_t measure);
    void run_rare(std::size_t measure, std::uint64_t seed, std::uint64_t trial);
    void add_timed(std::size_t measure);
    void add(std::size_t m, double x, double y = 1.0) { sums_->measures[m].sections[section_].add(x, y); }
    void add_value(std::size_t m, double value) {
        add(m, value);
        sums_->measures[m].values.add(value);
    }

    void collect(std::uint32_t state, double duration) noexcept {
        for (std::size_t i = 0; i < rewards_.size(); ++i) collected_[i] += table_.reward(state, rewards_[i]) * duration;
    }

    /// Marks the watched targets that the path has come to.
    void watch(std::uint32_t state);
    void record(const Timed& one, std::uint32_t state);
    /// Pilot walks: the state between cycles, or a start-up time and a window.
    void look_around();
    /// A pilot walk came to a state that cannot be left.
    [[noreturn]] void absorbed() const;

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
            if (++events_ >= most_path_events) {  // far more events than the times need
                for (; next < timed_.size(); ++next) ++sums_->measures[timed_[next].measure].unreached;
                return;
            }
        }
    }

    template <class Path>
    void to_target(Path& path, std::size_t m) {
        const model::ChainMeasure& measure = chain().measures[m];
        double now = 0.0, reward = 0.0;
        for (std::uint64_t event = 0; event < most_path_events; ++event, ++events_) {
            const std::uint32_t state = path.state();
            (void)table_.row(state);
            const bool reached = table_.is_target(state, m);
            if (reached || table_.is_avoided(state, m)) {
                if (measure.kind == model::MeasureKind::probability)
                    add(m, reached ? 1.0 : 0.0);
                else
                    add_value(m, measure.kind == model::MeasureKind::mean_time ? now : reward);
                return;
            }
            const double wait = path.wait();
            if (std::isinf(wait)) {  // the path stays here for ever
                if (measure.kind == model::MeasureKind::probability) return add(m, 0.0);
                break;
            }
            now += wait;
            if (measure.kind == model::MeasureKind::reward_until)
                reward += table_.reward(state, *measure.reward) * wait;
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
                const model::ChainMeasure& measure = table.chain().measures[measures[i]];
                if (measure.kind == model::MeasureKind::steady_state)
                    sums_[i] += table.reward(state, *measure.reward) * duration;
            }
        }
        void move(StateTable& table, const std::vector<std::size_t>& measures, std::uint32_t from, std::uint32_t to) {
            for (std::size_t i = 0; i < measures.size(); ++i)
                if (table.chain().measures[measures[i]].kind == model::MeasureKind::frequency &&
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
        for (std::uint64_t event = 0; event < most_path_events; ++event) {
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
        for (std::uint64_t event = 0; event < most_path_events; ++event, ++events_) {
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

    StateTable table_;
    SampleMethod method_;
    std::map<std::size_t, RareSampler> rare_;  ///< by measure
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
    std::uint64_t events_ = 0;
    SampleSums* sums_ = nullptr;
};

}  // namespace windtunnel::avail
