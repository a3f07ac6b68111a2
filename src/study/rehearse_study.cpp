#include "windtunnel/study/rehearse_study.hpp"

#include "stop_rule_text.hpp"

namespace windtunnel::study {
namespace {

constexpr std::uint32_t trials_phase = 2;

}  // namespace

RehearseStudy::RehearseStudy(const model::Plan& plan, const RehearseOptions& options)
    : plan_{plan}, stop_{resolved_rule(plan, options.stop)}, names_{variant_names(plan)}, search_{plan} {
    check_trials(plan, stop_);
    identity_ = plan.resolved_text + "\nstudy = rehearse\n" + rule_text(stop_);
}

RehearseStudy::State RehearseStudy::start() const {
    State state;
    state.search = search_.start();
    return state;
}

std::optional<Round> RehearseStudy::next_round(const State& state) const {
    if (auto round = search_.next_round(state.search)) return round;
    if (!search_.winner(state.search)) return std::nullopt;
    return next_trials(stop_, state.trials, names_.size(), trials_phase, trials_phase + state.trial_rounds_done);
}

std::string RehearseStudy::round_context(const State& state, const Round& round) const {
    if (round.phase != trials_phase) return search_.round_context(state.search, round);
    base::Packer packer;
    if (const auto best = search_.winner(state.search)) {
        packer.put(best->first);
        packer.put(best->second);
    }
    return std::move(packer).take();
}

RehearseStudy::Partial RehearseStudy::evaluate(const Round& round, ItemRange items, std::string_view context) const {
    Partial partial;
    if (round.phase != trials_phase) {
        partial.search = search_.evaluate(round, items, context);
        return partial;
    }
    base::Unpacker unpacker{context};
    const auto index = unpacker.get<std::uint64_t>();
    const Seconds step_time{unpacker.get<double>()};
    partial.search = search_.nothing();
    partial.trials = TrialJobs{plan_, search_.sweep().space().layout(index), step_time}.run(plan_.seed, items);
    return partial;
}

void RehearseStudy::merge(Partial& partial, const Partial& other) const {
    search_.merge(partial.search, other.search);
    partial.trials.merge(other.trials);
}

std::string RehearseStudy::pack(const Partial& partial) const {
    base::Packer packer;
    packer.put(std::string_view{search_.pack(partial.search)});
    partial.trials.pack(packer);
    return std::move(packer).take();
}

RehearseStudy::Partial RehearseStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial partial;
    partial.search = search_.unpack(unpacker.get_text());
    partial.trials = TrialSums::unpack(unpacker);
    return partial;
}

void RehearseStudy::absorb(State& state, const Round& round, std::uint64_t block, const Partial& partial) const {
    if (round.phase != trials_phase) {
        search_.absorb(state.search, round, block, partial.search);
        return;
    }
    state.trials.merge(partial.trials);
    if (++state.trial_blocks < round.num_blocks()) return;
    state.trial_blocks = 0;
    ++state.trial_rounds_done;
}

RehearseAnswer RehearseStudy::answer(const State& state) const {
    RehearseAnswer answer{search_.answer(state.search), {}, {}};
    if (const auto best = search_.winner(state.search)) {
        const model::Layout layout = search_.sweep().space().layout(best->first);
        const TrialJobs jobs{plan_, layout, Seconds{best->second}};
        answer.winner.push_back(train_point(search_.sweep().job(), layout));
        answer.variants = variant_answers(names_, jobs, state.trials, stop_);
    }
    return answer;
}

std::vector<store::Table> RehearseStudy::tables(const State& state) const {
    std::vector<store::Table> tables = search_.tables(state.search);
    const RehearseAnswer whole = answer(state);
    for (store::Table& table : train_tables(whole.winner)) tables.push_back(std::move(table));
    for (store::Table& table : trial_tables("rehearsal", whole.variants, names_)) tables.push_back(std::move(table));
    return tables;
}

std::string RehearseStudy::part_refusal() const {
    return rule_part_refusal(stop_);
}

}  // namespace windtunnel::study
