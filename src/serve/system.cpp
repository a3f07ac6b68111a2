#include "windtunnel/serve/system.hpp"

#include <algorithm>
#include <cmath>

#include "windtunnel/base/contracts.hpp"
#include "windtunnel/serve/due_times.hpp"
#include "windtunnel/serve/router.hpp"

namespace windtunnel::serve {
namespace {

constexpr std::uint32_t purpose_router = 506;

/// Instances of one kind with their router.
struct Part {
    Part(const PartSetup& setup, const SystemSetup& system, const base::RandomStream& stream)
        : ranks{setup.ranks},
          router{system.routing, static_cast<std::size_t>(setup.instances) * static_cast<std::size_t>(setup.ranks),
                 stream},
          due{static_cast<std::size_t>(setup.instances)},
          links(static_cast<std::size_t>(setup.instances) * static_cast<std::size_t>(setup.ranks), 0) {
        instances.reserve(static_cast<std::size_t>(setup.instances));
        for (int i = 0; i < setup.instances; ++i) {
            instances.emplace_back(setup.rules, setup.ranks, setup.times);
            instances.back().jump = system.jump;
        }
    }
    int ranks;
    std::vector<Instance> instances;
    Router router;
    DueTimes due;
    std::vector<std::int64_t> links;  ///< when the link of a rank is free again
};

class Run {
public:
    Run(const SystemSetup& setup, Load& load, std::uint64_t seed, std::uint64_t trial,
        const std::function<void(const Served&)>& each)
        : setup_{setup}, load_{load}, each_{each}, main_{widest(setup), setup, {seed, purpose_router, trial}} {
        if (setup.prefill) prefill_.emplace(*setup.prefill, setup, base::RandomStream{seed, purpose_router + 1, trial});
        active_ = setup.main.instances;
        before_ns_ = std::llround(setup.before_queue.value() * 1e9);
        if (setup.autoscaling.most_instances > 0) next_scaling_ns_ = interval_ns();
    }

    RunMetrics run() {
        while (true) {
            const std::int64_t next = load_.next_ns(), arrival = next == never ? never : next + before_ns_,
                               sent = transfers_.empty() ? never : transfers_.front().at_ns;
            const std::int64_t step = main_.due.next_ns(), prompt = prefill_ ? prefill_->due.next_ns() : never;
            const std::int64_t now = std::min({arrival, sent, step, prompt});
            if (now == never) break;
            if (next_scaling_ns_ < now) {
                pass(next_scaling_ns_);
                scale();
                continue;
            }
            pass(now);
            if (arrival == now)
                arrive();
            else if (sent == now)
                deliver();
            else if (prompt == now)
                wake(*prefill_, prefill_->due.next());
            else
                wake(main_, main_.due.next());
        }
        return finish();
    }

private:
    struct Transfer {
        std::int64_t at_ns = 0, number = 0;
        Served served;
        friend bool operator>(const Transfer& a, const Transfer& b) noexcept {
            return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
        }
    };

    static PartSetup widest(const SystemSetup& setup) {
        PartSetup main = setup.main;
        main.instances = std::max(main.instances, setup.autoscaling.most_instances);
        return main;
    }
    [[nodiscard]] std::int64_t interval_ns() const {
        return std::max<std::int64_t>(1, std::llround(setup_.autoscaling.interval.value() * 1e9));
    }

    /// Time goes on: what is counted over time.
    void pass(std::int64_t now) {
        base::ensures(now >= now_ns_, "events come in the order of their times");
        const auto time = static_cast<double>(now - now_ns_);
        in_system_time_ += time * static_cast<double>(in_system_);
        instance_time_ += time * (active_ + static_cast<int>(starting_.size()));
        now_ns_ = now;
        while (!starting_.empty() && starting_.front() <= now) {
            starting_.erase(starting_.begin());
            ++active_;
        }
    }

    void scale() {
        const model::Autoscaling& rule = setup_.autoscaling;
        const double wished = std::ceil(static_cast<double>(in_system_) / rule.requests_per_instance);
        const int wanted = static_cast<int>(
            std::clamp(wished, static_cast<double>(setup_.main.instances), static_cast<double>(rule.most_instances)));
        const int there = active_ + static_cast<int>(starting_.size());
        for (int i = there; i < wanted; ++i) starting_.push_back(now_ns_ + std::llround(rule.start_time.value() * 1e9));
        if (wanted < there) {
            const int stop = std::min(there - wanted, static_cast<int>(starting_.size()));
            starting_.resize(starting_.size() - static_cast<std::size_t>(stop));
            active_ = std::min(active_, std::max(wanted, setup_.main.instances));
        }
        next_scaling_ns_ = now_ns_ + interval_ns();
    }

    void arrive() {
        const Request request = load_.take();
        if (first_counted_ns_ < 0 && request.counted) first_counted_ns_ = request.arrival_ns;
        if (request.counted) last_arrival_ns_ = request.arrival_ns;
        ++in_system_;
        route(prefill_ ? *prefill_ : main_, request, nullptr);
    }

    void route(Part& part, const Request& request, const Served* before) {
        const std::size_t active = (&part == &main_ ? static_cast<std::size_t>(active_) : part.instances.size()) *
                                   static_cast<std::size_t>(part.ranks);
        const std::size_t rank = part.router.choose(active, request.input, [&](std::size_t which) {
            const Instance& of = part.instances[which / static_cast<std::size_t>(part.ranks)];
            const Rank& there = of.rank(static_cast<int>(which % static_cast<std::size_t>(part.ranks)));
            return std::int64_t{there.cached_blocks(request)} * there.rules().block_size;
        });
        const std::size_t number = rank / static_cast<std::size_t>(part.ranks);
        Instance& instance = part.instances[number];
        if (!instance.enqueue(static_cast<int>(rank % static_cast<std::size_t>(part.ranks)), request, now_ns_,
                              before)) {
            Served refused = before != nullptr ? *before : Served{};
            refused.request = request;
            refused.refused = true;
            refused.last_token_ns = now_ns_;
            return end(refused);
        }
        part.router.add(rank, 1);
        // Others may come in the same nanosecond: a batch is made when all of them are there.
        part.due.set(number, instance.idle_slot() ? now_ns_ : instance.due_ns());
    }

    void wake(Part& part, std::size_t number) {
        Instance& instance = part.instances[number];
        served_.clear();
        instance.wake(now_ns_, served_);
        part.due.set(number, instance.due_ns());
        if (served_.empty()) return;
        std::vector<Served> done;
        done.swap(served_);
        for (Served& served : done) {
            const std::size_t rank =
                number * static_cast<std::size_t>(part.ranks) + static_cast<std::size_t>(served.rank);
            served.rank = static_cast<std::int32_t>(rank);
            part.router.add(rank, -1);
            if (&part == &main_ || served.request.output == 1)
                end(served);
            else
                send(part, served, rank);
        }
        done.clear();
        served_.swap(done);
    }

    void send(Part& part, const Served& served, std::size_t rank) {
        const Seconds time =
            setup_.transfer_per_token * static_cast<double>(served.request.input) / setup_.transfer_bandwidth;
        const std::int64_t start = std::max(now_ns_, part.links[rank]);
        part.links[rank] = start + std::llround(time.value() * 1e9);
        const std::int64_t at = part.links[rank] + std::llround(setup_.transfer_latency.value() * 1e9);
        metrics_.transfer_seconds += seconds_of(at - start);
        metrics_.transfer_wait_seconds += seconds_of(start - now_ns_);
        if (served.request.counted)
            metrics_.latency[static_cast<std::size_t>(Latency::transfer)].add(seconds_of(at - now_ns_));
        transfers_.push_back({at, sent_++, served});
        std::push_heap(transfers_.begin(), transfers_.end(), std::greater<>{});
    }

    void deliver() {
        std::pop_heap(transfers_.begin(), transfers_.end(), std::greater<>{});
        const Served served = transfers_.back().served;
        transfers_.pop_back();
        route(main_, served.request, &served);
    }

    void end(const Served& served) {
        --in_system_;
        end_ns_ = std::max(end_ns_, now_ns_);
        sojourn_ns_ += static_cast<double>(now_ns_ - served.request.arrival_ns - before_ns_);
        add_request(metrics_, served, setup_.slo);
        if (!served.refused && load_.total() > 0) {
            const auto group =
                std::min<std::int64_t>(num_groups - 1, served.request.number * num_groups / load_.total());
            wait_s_[static_cast<std::size_t>(group)] += seconds_of(served.first_token_ns - served.request.arrival_ns);
            ++waits_[static_cast<std::size_t>(group)];
            service_s_ += seconds_of(served.last_token_ns - served.first_token_ns);
        }
        if (each_) each_(served);
        load_.ended(served.request, now_ns_);
    }

    void gather(const Part& part, double duration_s) {
        double blocks = 0.0, used = 0.0, busy = 0.0;
        for (const Instance& instance : part.instances) {
            const Instance::Counters& of = instance.counters();
            busy += seconds_of(of.busy_ns);
            used += of.block_seconds;
            metrics_.steps += of.steps;
            metrics_.stretches += of.stretches;
            metrics_.latency[static_cast<std::size_t>(Latency::itl)].merge(instance.inter_token);
            for (std::size_t i = 0; i < of.waiting_seconds.size(); ++i)
                metrics_.waiting_seconds[i] += of.waiting_seconds[i];
            for (int r = 0; r < instance.num_ranks(); ++r) {
                const Rank& rank = instance.rank(r);
                const Rank::Counters& counters = rank.counters();
                base::ensures(rank.pool().free() == rank.pool().total(), "every block came back");
                base::ensures(rank.unfinished() == 0, "every request left its rank");
                blocks += static_cast<double>(rank.pool().total());
                metrics_.hit_tokens += static_cast<double>(counters.hit_tokens);
                metrics_.prefill_tokens += static_cast<double>(counters.prefill_tokens);
                metrics_.recomputed_tokens += static_cast<double>(counters.recomputed_tokens);
                metrics_.preemptions += counters.preemptions;
                emitted_ += static_cast<double>(counters.emitted);
                if (rank.pool().total() > 0)
                    metrics_.peak_block_share =
                        std::max(metrics_.peak_block_share,
                                 static_cast<double>(counters.peak_blocks) / static_cast<double>(rank.pool().total()));
            }
        }
        if (duration_s <= 0.0 || part.instances.empty()) return;
        if (&part == &main_ && blocks > 0.0) metrics_.block_share = used / (duration_s * blocks);
        metrics_.busy_share =
            std::max(metrics_.busy_share, busy / (duration_s * static_cast<double>(part.instances.size())));
    }

    RunMetrics finish() {
        base::ensures(in_system_ == 0, "every request ended");
        const double span = std::max(1.0, in_system_time_);
        base::ensures(std::abs(in_system_time_ - sojourn_ns_) <= 1e-9 * span,
                      "Little's law: the area under the number of requests is the sum of their times");
        const double duration_s = seconds_of(now_ns_);
        gather(main_, duration_s);
        if (prefill_) gather(*prefill_, duration_s);
        const bool whole_tokens = setup_.main.rules.gain == setup_.main.rules.per;
        base::ensures(!whole_tokens || emitted_ == metrics_.all_output_tokens,
                      "tokens that came out are those of the answers");
        metrics_.in_system = duration_s > 0.0 ? in_system_time_ * 1e-9 / duration_s : 0.0;
        metrics_.instance_seconds = instance_time_ * 1e-9;
        metrics_.first_arrival_s = seconds_of(std::max<std::int64_t>(0, first_counted_ns_));
        metrics_.last_arrival_s = seconds_of(last_arrival_ns_);
        metrics_.end_s = seconds_of(end_ns_);
        double waiting = 0.0;
        for (const double seconds : metrics_.waiting_seconds) waiting += seconds;
        metrics_.waiting = duration_s > 0.0 ? waiting / duration_s : 0.0;
        judge(waiting);
        return std::move(metrics_);
    }

    /// Saturated: first tokens come later from group to group of the arrivals. Limit: where requests lose most time.
    void judge(double waiting) {
        std::array<double, num_groups> mean{};
        for (std::size_t i = 0; i < num_groups; ++i)
            mean[i] = waits_[i] > 0 ? wait_s_[i] / static_cast<double>(waits_[i]) : 0.0;
        const double served = static_cast<double>(metrics_.all_requests - metrics_.all_refused);
        const double service = served > 0.0 ? service_s_ / served : 0.0;
        constexpr double twice = 2.0, least_share = 0.25;
        metrics_.saturated = waits_[1] > 0 && waits_[4] > 0 && mean[2] < mean[3] && mean[3] < mean[4] &&
                             mean[4] > twice * mean[1] && mean[4] - mean[1] > least_share * service;
        const auto& by = metrics_.waiting_seconds;
        const double total = sojourn_ns_ * 1e-9;
        const double link = metrics_.transfer_seconds + metrics_.transfer_wait_seconds;
        const double seats = by[static_cast<std::size_t>(Blocked::seats)],
                     blocks = by[static_cast<std::size_t>(Blocked::blocks)];
        constexpr double small = 0.05;
        if (link > small * total && link >= waiting)
            metrics_.limit = Layer::link;
        else if (waiting > small * total && blocks >= seats && blocks >= 0.5 * waiting)
            metrics_.limit = Layer::memory;
        else if (waiting > small * total && seats >= 0.5 * waiting)
            metrics_.limit = Layer::scheduler;
        else if (waiting > small * total || metrics_.saturated)
            metrics_.limit = Layer::engine;
        else
            metrics_.limit = Layer::load;
    }

    static constexpr std::size_t num_groups = 5;

    const SystemSetup& setup_;
    Load& load_;
    const std::function<void(const Served&)>& each_;
    Part main_;
    std::optional<Part> prefill_;
    RunMetrics metrics_;
    std::vector<Transfer> transfers_;
    std::vector<Served> served_;
    std::int64_t sent_ = 0, now_ns_ = 0, in_system_ = 0, end_ns_ = 0, first_counted_ns_ = -1, last_arrival_ns_ = 0;
    double in_system_time_ = 0.0, sojourn_ns_ = 0.0, instance_time_ = 0.0, emitted_ = 0.0, service_s_ = 0.0;
    std::array<double, num_groups> wait_s_{};
    std::array<std::int64_t, num_groups> waits_{};
    std::int64_t before_ns_ = 0;  ///< from arrival to the router
    int active_ = 1;
    std::vector<std::int64_t> starting_;  ///< when instances that were ordered will serve
    std::int64_t next_scaling_ns_ = never;
};

}  // namespace

RunMetrics run_system(const SystemSetup& setup, Load& load, std::uint64_t seed, std::uint64_t trial,
                      const std::function<void(const Served&)>& each) {
    return Run{setup, load, seed, trial, each}.run();
}

}  // namespace windtunnel::serve
