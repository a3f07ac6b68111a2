#include "windtunnel/study/avail_study.hpp"

#include "stop_rule_text.hpp"
#include "windtunnel/study/layout_choice.hpp"

namespace windtunnel::study {

AvailStudy::AvailStudy(const model::Plan& plan, const AvailOptions& options)
    : seed_{plan.seed}, stop_{resolved_rule(plan, options.stop)}, names_{variant_names(plan)} {
    check_trials(plan, stop_);
    identity_ = plan.resolved_text + "\nstudy = avail\n" + rule_text(stop_);
    point_ = train_point(train::job_of(plan), chosen_layout(plan));
    if (point_.verdict.feasible()) jobs_.emplace(plan, point_.layout, point_.step->step_time);
}

AvailStudy::State AvailStudy::start() const {
    State state;
    if (jobs_) state.sums = jobs_->nothing();
    return state;
}

std::optional<Round> AvailStudy::next_round(const State& state) const {
    if (!jobs_) return std::nullopt;
    return next_trials(stop_, state.sums, jobs_->jobs(), 0, state.rounds_done);
}

AvailStudy::Partial AvailStudy::evaluate(const Round&, ItemRange items, std::string_view) const {
    return jobs_->run(seed_, items);
}

std::string AvailStudy::pack(const Partial& partial) const {
    base::Packer packer;
    partial.pack(packer);
    return std::move(packer).take();
}

AvailStudy::Partial AvailStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    return TrialSums::unpack(unpacker);
}

void AvailStudy::absorb(State& state, const Round& round, std::uint64_t, const Partial& partial) const {
    state.sums.merge(partial);
    if (++state.blocks < round.num_blocks()) return;
    state.blocks = 0;
    ++state.rounds_done;
}

AvailAnswer AvailStudy::answer(const State& state) const {
    AvailAnswer answer{point_, {}};
    if (jobs_) answer.variants = variant_answers(names_, *jobs_, state.sums, stop_);
    return answer;
}

std::vector<store::Table> AvailStudy::tables(const State& state) const {
    return trial_tables("avail", answer(state).variants, names_);
}

std::string AvailStudy::part_refusal() const {
    return rule_part_refusal(stop_);
}

}  // namespace windtunnel::study
