#pragma once
/// Random component models as chains, for tests of engines against each other.
#include <algorithm>
#include <cmath>
#include <span>

#include "windtunnel/base/philox.hpp"
#include "windtunnel/model/chain.hpp"

namespace windtunnel::avail {

/// Two to four classes with up to four members, spares, crews of their own or a shared one, a class that fails only
/// while another works, a common cause; a structure that needs some of each class; measures of every sampled kind.
class RandomChain {
public:
    explicit RandomChain(std::uint64_t number) : draws_{base::RandomStream{7, 0xFF00'0000, number}} {
        const std::size_t classes = 2 + whole(3);
        for (std::size_t i = 0; i < classes; ++i) {
            const auto count = static_cast<double>(1 + whole(4));
            count_.push_back(count);
            needed_.push_back(static_cast<double>(1 + whole(static_cast<std::uint64_t>(count))));
            chain_.variables.push_back(
                {"class " + std::to_string(i), 0, static_cast<std::int64_t>(count), static_cast<std::int64_t>(count)});
        }
        for (std::size_t i = 0; i < classes; ++i) add_failure(i);
        add_repairs();
        if (whole(2) == 0) add_common_cause();
        add_measures();
    }
    [[nodiscard]] const model::Chain& chain() const noexcept { return chain_; }

private:
    using State = std::span<const double>;

    std::uint64_t whole(std::uint64_t below) {
        return static_cast<std::uint64_t>(draws_.uniform() * static_cast<double>(below));
    }
    double between(double low, double high) { return low * std::pow(high / low, draws_.uniform()); }

    void add_failure(std::size_t i) {
        model::ChainTransition one;
        const double rate = between(0.02, 0.5), count = count_[i];
        const double active = static_cast<double>(1 + whole(static_cast<std::uint64_t>(count)));
        const double dormancy = whole(2) == 0 ? 0.0 : draws_.uniform();
        one.rate = [=](State s) { return rate * (std::min(s[i], active) + dormancy * std::max(s[i] - active, 0.0)); };
        if (i > 0 && whole(3) == 0) one.guard = [](State s) { return s[0] > 0.0 ? 1.0 : 0.0; };
        one.updates = {{i, [=](State s) { return std::max(s[i] - 1.0, 0.0); }, {}}};
        chain_.transitions.push_back(std::move(one));
    }

    void add_repairs() {
        const bool shared = whole(2) == 0;
        const auto crews = static_cast<double>(1 + whole(2));
        const std::vector<double> count = count_;
        for (std::size_t i = 0; i < count_.size(); ++i) {
            const double rate = between(0.3, 3.0);
            model::ChainTransition one;
            one.rate = [=](State s) {
                double free = crews;
                for (std::size_t before = 0; before < i && shared; ++before) free -= count[before] - s[before];
                return rate * std::clamp(free, 0.0, count[i] - s[i]);
            };
            one.updates = {{i, [=](State s) { return std::min(s[i] + 1.0, count[i]); }, {}}};
            chain_.transitions.push_back(std::move(one));
        }
    }

    void add_common_cause() {
        model::ChainTransition one;
        const double rate = between(0.01, 0.1);
        one.rate = [rate](State) { return rate; };
        for (std::size_t i = 0; i < 2; ++i)
            one.updates.push_back({i, [i](State s) { return std::max(s[i] - 2.0, 0.0); }, {}});
        chain_.transitions.push_back(std::move(one));
    }

    void add_measures() {
        const auto needed = needed_;
        const auto works = [needed](State s) {
            for (std::size_t i = 0; i < needed.size(); ++i)
                if (s[i] < needed[i]) return 0.0;
            return 1.0;
        };
        const auto down = [works](State s) { return 1.0 - works(s); };
        const auto none = [](State s) { return s[0] == 0.0 ? 1.0 : 0.0; };
        model::ChainReward up, repairs;
        up.per_time = works;
        repairs.per_event.resize(chain_.transitions.size());
        repairs.per_event[count_.size()] = [](State) { return 1.0; };  // repairs of the first class
        chain_.rewards = {up, repairs};
        const double time = between(0.5, 8.0);
        using enum model::MeasureKind;
        for (const auto kind :
             {steady_state, transient, accumulated, time_averaged, mean_time, reward_until, probability, frequency}) {
            model::ChainMeasure one;
            one.kind = kind;
            one.name = "measure " + std::to_string(chain_.measures.size());
            if (kind == transient || kind == accumulated || kind == time_averaged) one.time = time;
            if (kind == steady_state || kind == transient || kind == time_averaged) one.reward = 0;
            if (kind == accumulated || kind == reward_until) one.reward = 1;
            if (kind == mean_time || kind == reward_until || kind == probability || kind == frequency)
                one.target = down;
            if (kind == probability) one.time = time;
            chain_.measures.push_back(one);
        }
        model::ChainMeasure first = chain_.measures[6];  // the first class is gone before another one fails the system
        first.time.reset();
        first.target = none;
        first.avoid = down;
        chain_.measures.push_back(first);
        model::ChainMeasure ratio;
        ratio.kind = model::MeasureKind::formula;
        ratio.formula = [](std::span<const double> v) { return v[0] / v[7]; };  // mean time up
        chain_.measures.push_back(ratio);
    }

    base::Draws draws_;
    model::Chain chain_;
    std::vector<double> count_, needed_;
};

}  // namespace windtunnel::avail
