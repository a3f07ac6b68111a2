#include "windtunnel/avail/history.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>

#include "windtunnel/avail/failure_clock.hpp"
#include "windtunnel/avail/law.hpp"
#include "windtunnel/avail/progress.hpp"
#include "windtunnel/avail/purposes.hpp"
#include "windtunnel/base/contracts.hpp"

namespace windtunnel::avail {

namespace {

using Lost = model::RecoveryRung::Lost;

constexpr std::uint32_t detection_times = 0xA000'0003;  // random stream beside those of purposes.hpp
constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint64_t most_events = 1'000'000;
constexpr double longest_in_failure_free_times = 100.0;

/// A node comes back from repair, or a member that was repaired in place.
struct Return {
    double at;
    std::size_t component;
    bool node;
    friend bool operator>(const Return& a, const Return& b) noexcept { return a.at > b.at; }
};

/// Corruption that has not been noticed.
struct Corruption {
    double noticed;
    std::size_t component;
    std::int64_t clean;  ///< intervals whose checkpoint is older
};

/// Failures of one class in the outage under way.
struct Hit {
    bool any = false;
    std::uint64_t in_place = 0;  ///< whose node has not left and whose repair has not begun
};

class Walk {
public:
    Walk(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial, std::vector<HistoryEvent>* log,
         std::size_t most)
        : job_{job},
          clock_{job, seed, trial},
          progress_{job},
          restart_draws_{base::RandomStream{seed, restart_times, trial}},
          ladder_draws_{base::RandomStream{seed, ladder_draws, trial}},
          detection_draws_{base::RandomStream{seed, detection_times, trial}},
          hits_(job.classes.size()),
          spares_{job.spare_nodes},
          num_slow_(job.classes.size(), 0),
          log_{log},
          most_logged_{most} {
        base::expects(job.num_steps || job.horizon, "an end: steps or a horizon");
        for (std::size_t i = 0; i < job.classes.size(); ++i)
            repair_draws_.emplace_back(base::RandomStream{seed, repair_times + static_cast<std::uint32_t>(i), trial});
        out_.failures.resize(job.classes.size());
        out_.time_lost.resize(job.classes.size());
        out_.recoveries.resize(job.ladder.size() + 1);
        out_.fewest_spares = spares_;
        horizon_ = job.horizon ? job.horizon->value() : longest_in_failure_free_times * failure_free_time(job).value();
    }

    History run() {
        while (true) {
            const double phase_end = phase_ == Phase::running   ? now_ + progress_.time_to_finish(slowdown_)
                                     : phase_ == Phase::waiting ? never
                                                                : phase_end_;
            const double returns = returns_.empty() ? never : returns_.front().at;
            const double failure = next_failure();
            const double noticed = corruptions_.empty() ? never : first_corruption()->noticed;
            // Ties: the end of a phase, the horizon, a return, a failure.
            const double next = std::min({phase_end, horizon_, returns, failure, noticed});
            if (phase_ == Phase::running && phase_end == next) {
                finish(next);
                break;
            }
            advance(next);
            if (phase_end == next) {
                phase_ == Phase::undetected ? prepare_rung() : end_rung();
            } else if (horizon_ == next) {
                break;
            } else if (returns == next) {
                take_return();
            } else if (noticed == next) {
                notice_corruption();
            } else {
                take_failure();
            }
            if (++num_events_ == most_events) break;
        }
        return summed_up();
    }

private:
    enum class Phase { running, undetected, recovering, waiting };

    [[nodiscard]] bool ages() const noexcept { return job_.ageing == Ageing::always || phase_ == Phase::running; }
    [[nodiscard]] double age() const noexcept { return job_.ageing == Ageing::always ? now_ : running_time_; }
    [[nodiscard]] double next_failure() const noexcept {
        return ages() ? std::max(now_, now_ + (clock_.next() - age())) : never;
    }

    void advance(double to) {
        const double duration = to - now_;
        now_ = to;
        out_.spare_seconds += duration * spares_;
        if (spares_ == 0) out_.without_spare += Seconds{duration};
        if (phase_ == Phase::running) {
            running_time_ += duration;
            const double before = progress_.slowed();
            progress_.run(duration, slowdown_);
            if (slowdown_ > 1.0) out_.time_lost[slowest_] += Seconds{progress_.slowed() - before};
            return;
        }
        (phase_ == Phase::recovering ? out_.recovery
         : phase_ == Phase::waiting  ? out_.waiting
                                     : out_.detection) += Seconds{duration};
        out_.time_lost[cause_] += Seconds{duration};
    }

    void finish(double at) {
        const double before = progress_.slowed();
        progress_.finish(slowdown_);
        if (slowdown_ > 1.0) out_.time_lost[slowest_] += Seconds{progress_.slowed() - before};
        now_ = at;
        out_.finished = true;
        record("work done");
    }

    void take_failure() {
        const auto failed = clock_.take();
        if (!failed) return;
        const FailureClass& component = job_.classes[*failed];
        ++out_.failures[*failed];
        if (component.effect == model::Effect::corrupts) {
            corruptions_.push_back({now_ + detection_time(*failed), *failed, progress_.intervals()});
            record(component.name, " corrupts the work");
            return;
        }
        if (component.effect != model::Effect::stops) {
            push_return({now_ + repair_time(*failed), *failed, false});
            if (component.effect == model::Effect::slows) change_slow(*failed, 1);
            record(component.name,
                   component.effect == model::Effect::slows ? " slows the job" : " fails, without effect");
            return;
        }
        ++out_.stops;
        const bool begins = phase_ == Phase::running;
        if (begins) cause_ = *failed;
        hits_[*failed].any = true;
        ++hits_[*failed].in_place;
        record(component.name, " fails");
        rung_ = 0;
        if (begins) {
            phase_end_ = now_ + detection_time(*failed);
            if (phase_end_ > now_) phase_ = Phase::undetected;
        }
        if (phase_ != Phase::undetected) prepare_rung();
    }

    [[nodiscard]] std::vector<Corruption>::iterator first_corruption() {
        return std::min_element(corruptions_.begin(), corruptions_.end(),
                                [](const Corruption& a, const Corruption& b) { return a.noticed < b.noticed; });
    }

    void notice_corruption() {
        const auto found = first_corruption();
        const Corruption corruption = *found;
        corruptions_.erase(found);
        ++out_.stops;
        if (phase_ == Phase::running) cause_ = corruption.component;
        hits_[corruption.component].any = true;
        ++hits_[corruption.component].in_place;
        clean_ = std::min(clean_, corruption.clean);
        record(job_.classes[corruption.component].name, ": corruption is noticed");
        rung_ = 0;
        prepare_rung();
    }

    /// Finds the next rung that can be tried, replaces what must be replaced first, and starts or waits.
    void prepare_rung() {
        for (; rung_ < job_.ladder.size(); ++rung_)
            if (can_try(job_.ladder[rung_])) break;
        const bool in_place = rung_ < job_.ladder.size() && !job_.ladder[rung_].needs_spare &&
                              job_.ladder[rung_].lost != Lost::since_checkpoint;
        if (!in_place) remove_failed();
        phase_ = Phase::waiting;
        start_rung_when_complete();
    }

    [[nodiscard]] bool can_try(const Rung& rung) const {
        std::uint64_t nodes = 0;
        if (clean_ != no_corruption && rung.lost != Lost::since_checkpoint) return false;
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            if (hits_[i].any && !rung.covers[i]) return false;
            if (job_.classes[i].takes_node) nodes += hits_[i].in_place;
        }
        return !rung.needs_spare || nodes <= static_cast<std::uint64_t>(spares_);
    }

    void remove_failed() {
        for (std::size_t i = 0; i < hits_.size(); ++i)
            for (; hits_[i].in_place > 0; --hits_[i].in_place) remove(i);
    }

    void remove(std::size_t component) {
        const double repair = repair_time(component);
        if (job_.classes[component].takes_node) {
            push_return({now_ + repair, component, true});
            if (spares_ > 0) {
                out_.fewest_spares = std::min(out_.fewest_spares, --spares_);
                clock_.renew(component, age());
            } else {
                missing_.push_back(component);
            }
        } else if (repair > 0.0) {
            push_return({now_ + repair, component, false});
            ++num_repairing_;
        } else {
            clock_.renew(component, age());
        }
    }

    void start_rung_when_complete() {
        if (!missing_.empty() || num_repairing_ > 0) return;
        Seconds time = rung_ < job_.ladder.size() ? sample(job_.ladder[rung_].time, ladder_draws_)
                                                  : sample(job_.restart, restart_draws_);
        too_long_ = rung_ < job_.ladder.size() && job_.ladder[rung_].limit && time > *job_.ladder[rung_].limit;
        if (too_long_) time = *job_.ladder[rung_].limit;
        phase_ = Phase::recovering;
        phase_end_ = now_ + time.value();
    }

    void end_rung() {
        const bool on_ladder = rung_ < job_.ladder.size();
        const bool fails =
            on_ladder && job_.ladder[rung_].success < 1.0 && ladder_draws_.uniform() >= job_.ladder[rung_].success;
        if (fails || too_long_) {
            record(job_.ladder[rung_].action, too_long_ ? " passes its limit" : " does not succeed");
            ++rung_;
            prepare_rung();
            return;
        }
        lose_work();
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            for (; hits_[i].in_place > 0; --hits_[i].in_place) clock_.renew(i, age());
            hits_[i].any = false;
        }
        ++out_.recoveries[rung_];
        phase_ = Phase::running;
        record(on_ladder ? job_.ladder[rung_].action : std::string{"restart"}, " succeeds");
    }

    void lose_work() {
        double lost = 0.0;
        switch (rung_ < job_.ladder.size() ? job_.ladder[rung_].lost : Lost::since_checkpoint) {
            case Lost::nothing:
                progress_.abandon_write();
                break;
            case Lost::one_step:
                lost = progress_.lose_step();
                break;
            case Lost::since_checkpoint:
                lost = progress_.lose_since_checkpoint(slowdown_);
                if (clean_ < progress_.intervals()) lost += progress_.lose_to(clean_);
                clean_ = no_corruption;
                // What was corrupted after this checkpoint is done again; its members are out with the noticed ones.
                std::erase_if(corruptions_, [&](const Corruption& one) {
                    if (one.clean < progress_.intervals()) return false;
                    clock_.renew(one.component, age());
                    return true;
                });
                break;
        }
        out_.lost += Seconds{lost};
        out_.time_lost[cause_] += Seconds{lost};
    }

    void take_return() {
        std::pop_heap(returns_.begin(), returns_.end(), std::greater<>{});
        const Return back = returns_.back();
        returns_.pop_back();
        if (!back.node) {
            clock_.renew(back.component, age());
            if (job_.classes[back.component].effect == model::Effect::slows) change_slow(back.component, -1);
            if (stops_job(job_.classes[back.component].effect)) --num_repairing_;
            record(job_.classes[back.component].name, " is repaired");
        } else if (missing_.empty()) {
            ++spares_;
            record("a node returns to the pool");
        } else {
            clock_.renew(missing_.front(), age());
            missing_.pop_front();
            record("a node returns and joins the job");
        }
        if (phase_ == Phase::waiting) start_rung_when_complete();
    }

    void change_slow(std::size_t component, int by) {
        num_slow_[component] += by;
        slowdown_ = 1.0;
        for (std::size_t i = 0; i < num_slow_.size(); ++i)
            if (num_slow_[i] > 0 && job_.classes[i].slow_factor > slowdown_) {
                slowdown_ = job_.classes[i].slow_factor;
                slowest_ = i;
            }
    }

    [[nodiscard]] double detection_time(std::size_t component) {
        return sample(job_.classes[component].detection, detection_draws_).value();
    }
    [[nodiscard]] double repair_time(std::size_t component) {
        return sample(job_.classes[component].repair, repair_draws_[component]).value();
    }

    void push_return(const Return& back) {
        returns_.push_back(back);
        std::push_heap(returns_.begin(), returns_.end(), std::greater<>{});
    }

    void record(const std::string& subject, const char* verb = "") {
        if (log_ == nullptr || log_->size() >= most_logged_) return;
        log_->push_back({Seconds{now_}, subject + verb, progress_.work_done() / job_.step_time.value(), spares_});
    }

    History summed_up() {
        if (phase_ == Phase::undetected)
            while (rung_ < job_.ladder.size() && !can_try(job_.ladder[rung_])) ++rung_;
        if (!out_.finished && phase_ != Phase::running) lose_work();  // what the rung in hand would cost is not useful
        out_.wall = Seconds{now_};
        out_.useful = Seconds{progress_.work_done()};
        out_.slowed = Seconds{progress_.slowed()};
        out_.checkpoint = Seconds{progress_.checkpoint_time()};
        out_.checkpoints = progress_.checkpoints();
        return std::move(out_);
    }

    const JobOnCluster& job_;
    FailureClock clock_;
    Progress progress_;
    base::Draws restart_draws_, ladder_draws_, detection_draws_;
    std::vector<base::Draws> repair_draws_;  ///< by class
    double now_ = 0.0, running_time_ = 0.0, horizon_ = never;
    Phase phase_ = Phase::running;
    double phase_end_ = never;  ///< of the rung in hand
    bool too_long_ = false;     ///< it passes its limit
    static constexpr std::int64_t no_corruption = std::numeric_limits<std::int64_t>::max();
    std::int64_t clean_ = no_corruption;  ///< intervals before the corruption that was noticed
    std::vector<Corruption> corruptions_;
    std::size_t rung_ = 0;             ///< index in the ladder; its size: the restart
    std::size_t cause_ = 0;            ///< class that began the outage
    std::vector<Hit> hits_;            ///< by class
    std::deque<std::size_t> missing_;  ///< slots without a node, by class, in order
    int num_repairing_ = 0;            ///< members repaired in place that the job waits for
    int spares_ = 0;
    std::vector<Return> returns_;  ///< min-heap
    std::vector<int> num_slow_;    ///< by class
    double slowdown_ = 1.0;
    std::size_t slowest_ = 0;  ///< class of the slowest member
    std::uint64_t num_events_ = 0;
    History out_;
    std::vector<HistoryEvent>* log_;
    std::size_t most_logged_;
};

}  // namespace

History history(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial) {
    return Walk{job, seed, trial, nullptr, 0}.run();
}

History history(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial, std::vector<HistoryEvent>& events,
                std::size_t most) {
    return Walk{job, seed, trial, &events, most}.run();
}

Seconds failure_free_time(const JobOnCluster& job) {
    base::expects(job.num_steps.has_value(), "work to do");
    return Seconds{Progress{job}.time_to_finish(1.0)};
}

}  // namespace windtunnel::avail
