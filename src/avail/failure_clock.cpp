#include "windtunnel/avail/failure_clock.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "windtunnel/avail/law.hpp"
#include "windtunnel/avail/purposes.hpp"
#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/variates.hpp"

namespace windtunnel::avail {

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
}

FailureClock::FailureClock(const JobOnCluster& job, std::uint64_t seed, std::uint64_t trial)
    : draws_{base::RandomStream{seed, memoryless_failures, trial}} {
    place_.reserve(job.classes.size());
    for (std::size_t i = 0; i < job.classes.size(); ++i) {
        const FailureClass& component = job.classes[i];
        if (component.up.kind == model::LawKind::exponential) {
            const auto members = static_cast<double>(component.count);
            total_rate_ += members / component.up.scale.value();
            place_.emplace_back(true, memoryless_.size());
            memoryless_.push_back({i, members, total_rate_});
        } else {
            const auto purpose = ageing_failures + static_cast<std::uint32_t>(i);
            place_.emplace_back(false, ageing_.size());
            ageing_.push_back({i,
                               component.up,
                               base::Draws{base::RandomStream{seed, purpose, trial}},
                               job.fleet == FleetAge::stationary,
                               component.count,
                               0.0,
                               0.0,
                               {}});
            schedule_fresh(ageing_.back());
        }
    }
    schedule_memoryless();
    find_next();
}

void FailureClock::schedule_memoryless() noexcept {
    next_memoryless_ = total_rate_ > 0.0 ? next_memoryless_ + base::exponential(draws_, 1.0 / total_rate_) : never;
}

void FailureClock::schedule_fresh(Ageing& ageing) noexcept {
    if (ageing.fresh == 0) {
        ageing.next_fresh = never;
        return;
    }
    ageing.hazard += base::exponential(ageing.draws, 1.0 / static_cast<double>(ageing.fresh));
    ageing.next_fresh = std::max(ageing.next_fresh, (ageing.aged ? residual_time_at_hazard(ageing.law, ageing.hazard)
                                                                 : time_at_hazard(ageing.law, ageing.hazard))
                                                        .value());
}

void FailureClock::find_next() noexcept {
    next_ = next_memoryless_;
    next_ageing_ = ageing_.size();
    for (std::size_t i = 0; i < ageing_.size(); ++i) {
        const Ageing& ageing = ageing_[i];
        const double at =
            ageing.renewed.empty() ? ageing.next_fresh : std::min(ageing.next_fresh, ageing.renewed.front());
        if (at < next_) next_ = at, next_ageing_ = i;
    }
}

std::optional<std::size_t> FailureClock::take() {
    base::expects(next_ < never, "something can fail");
    std::optional<std::size_t> failed;
    if (next_ageing_ < ageing_.size()) {
        Ageing& ageing = ageing_[next_ageing_];
        failed = ageing.component;
        if (!ageing.renewed.empty() && ageing.renewed.front() <= ageing.next_fresh) {
            std::pop_heap(ageing.renewed.begin(), ageing.renewed.end(), std::greater<>{});
            ageing.renewed.pop_back();
        } else {
            --ageing.fresh;
            schedule_fresh(ageing);
        }
    } else {
        const double point = draws_.uniform() * total_rate_;
        auto at = std::find_if(memoryless_.begin(), memoryless_.end(),
                               [point](const Memoryless& one) { return point <= one.rate_up_to; });
        if (at == memoryless_.end()) --at;  // rounding of the last sum
        // The event hits each member of the class equally; those that are out of service cannot fail.
        const bool hits_one_in_service = at->out == 0 || draws_.uniform() * at->members >= static_cast<double>(at->out);
        if (hits_one_in_service) {
            ++at->out;
            failed = at->component;
        }
        schedule_memoryless();
    }
    find_next();
    return failed;
}

void FailureClock::renew(std::size_t component, double now) {
    const auto [is_memoryless, index] = place_[component];
    if (is_memoryless) {
        base::expects(memoryless_[index].out > 0, "a member is out of service");
        --memoryless_[index].out;
        return;
    }
    Ageing& ageing = ageing_[index];
    ageing.renewed.push_back(now + sample(ageing.law, ageing.draws).value());
    std::push_heap(ageing.renewed.begin(), ageing.renewed.end(), std::greater<>{});
    find_next();
}

}  // namespace windtunnel::avail
