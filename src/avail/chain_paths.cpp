#include "chain_paths.hpp"

#include <fmt/format.h>

#include "windtunnel/avail/purposes.hpp"
#include "windtunnel/base/errors.hpp"

namespace windtunnel::avail {
namespace {

using model::ChainMeasure;
using model::MeasureKind;

constexpr std::uint64_t pilot_events = 20'000;
constexpr std::uint64_t pilot_walks = 8;
constexpr double least_visits = 1e-4;   // share of events that must begin in the state between cycles
constexpr double warm_up_times = 10.0;  // times the slowest mean time of a transition
constexpr double window_times = 40.0;
constexpr double rare_enough = 0.01;        // probability below which paths are drawn towards their target
constexpr double most_window_events = 2e5;  // that the pilot walk lets expect

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

}  // namespace

ChainPaths::ChainPaths(const model::Chain& chain, SampleMethod method) : table_{chain}, method_{method} {
    for (std::size_t m = 0; m < chain.measures.size(); ++m) {
        ways_.push_back(way_of(chain.measures[m]));
        if (method != SampleMethod::plain && add_rare(m)) ways_[m] = Way::rare;
        if (ways_[m] == Way::timed) add_timed(m);
        if (ways_[m] == Way::long_run) long_run_.push_back(m);
        if (ways_[m] == Way::target) targets_.push_back(m);
        if (ways_[m] == Way::formula) sections_ = num_sections;
    }
    std::stable_sort(timed_.begin(), timed_.end(), [](const Timed& a, const Timed& b) { return a.time < b.time; });
    collected_.resize(rewards_.size());
    if (!long_run_.empty()) look_around();
}

bool ChainPaths::add_rare(std::size_t m) {
    std::optional<RareSampler> rare = RareSampler::of(table_, m);
    if (!rare) return false;
    const double estimate = rare->estimate(table_);
    if (!(estimate > 0.0) || (method_ == SampleMethod::automatic && estimate > rare_enough)) return false;
    if (rare->needs_cycles()) {  // a cycle must come back to the start
        double time = 0.0;
        for (std::uint64_t walk = 0; walk < pilot_walks; ++walk)
            time += rare->cycle_time(table_, {0, pilot_paths, pilot_walks + walk});
        if (std::isinf(time)) return false;
    }
    rare_.emplace(m, std::move(*rare));
    return true;
}

void ChainPaths::leave_out(std::size_t m) {
    ways_[m] = Way::endless;
    rare_.erase(m);
    std::erase(targets_, m);
    std::erase(long_run_, m);
    std::erase_if(timed_, [m](const Timed& one) { return one.measure == m; });
}

void ChainPaths::run_rare(std::size_t m, std::uint64_t seed, std::uint64_t trial) {
    const RareSampler& rare = rare_.at(m);
    const auto own = static_cast<std::uint32_t>(m);
    const RareValue found = method_ == SampleMethod::splitting
                                ? rare.splitting(table_, {seed, split_paths + own, trial})
                                : rare.importance(table_, {seed, biased_paths + own, trial});
    const double cycle = rare.needs_cycles() ? rare.cycle_time(table_, {seed, target_paths + own, trial}) : 1.0;
    events_ += found.events;
    if (!found.complete || std::isinf(cycle)) {
        ++sums_->measures[m].unreached;
        return;
    }
    rare.kind() == MeasureKind::mean_time ? add(m, cycle, found.value) : add(m, found.value, cycle);
}

void ChainPaths::run(std::uint64_t seed, std::uint64_t trial, SampleSums& sums) {
    section_ = trial % sections_;
    seed ^= chain().text_hash;  // files do not share their random words; the variants of one do
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
    for (const auto& [m, rare] : rare_) run_rare(m, seed, trial);
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

std::string ChainPaths::method_of(std::size_t m) const {
    switch (ways_[m]) {
        case Way::timed:
            return "paths to the time";
        case Way::long_run:
            return cycles_ ? "cycles" : fmt::format("paths over {:.3g} after {:.3g}", window_, warm_up_);
        case Way::target:
            return "paths to the target";
        case Way::rare:
            return method_ == SampleMethod::splitting ? "splitting" : "importance sampling";
        case Way::formula:
            return "formula";
        case Way::endless:
            return "paths do not come to their end: --method importance, or --exact";
        case Way::none:
            break;
    }
    return "no mean over paths: --exact";
}
void ChainPaths::add_timed(std::size_t m) {
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

void ChainPaths::watch(std::uint32_t state) {
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

void ChainPaths::record(const Timed& one, std::uint32_t state) {
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

void ChainPaths::look_around() {
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
    }
    for (const auto& one : by_walk)
        for (const auto& [state, number] : one) visits[state] += number;
    const auto most = std::max_element(visits.begin(), visits.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    regeneration_ = most->first;
    const bool everywhere =
        std::all_of(by_walk.begin(), by_walk.end(), [&](const auto& one) { return one.contains(regeneration_); });
    cycles_ = everywhere &&
              static_cast<double>(most->second) >= least_visits * static_cast<double>(pilot_walks * pilot_events) / 2.0;
    const double per_event = time / static_cast<double>(pilot_walks * pilot_events);
    warm_up_ = std::min(warm_up_times * slowest, most_window_events / window_times * warm_up_times * per_event);
    window_ = warm_up_ * window_times / warm_up_times;
}

void ChainPaths::absorbed() const {
    std::vector<double> values(chain().variables.size());
    table_.read(last_state_, values);
    const model::FilePlace& place = chain().measures[long_run_.front()].place;
    throw base::InputError{
        {{place.file, place.line, place.column, place.field,
          "the state " + state_text(chain(), values) + " cannot be left: there is no long run but this state",
          "a transition out of it, or a measure of kind mean_time, reward_until or probability"}}};
}

}  // namespace windtunnel::avail
