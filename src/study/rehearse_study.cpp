#include "windtunnel/study/rehearse_study.hpp"

#include "rows.hpp"
#include "stop_rule_text.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

constexpr std::uint32_t trials_phase = 2;

void merge_each(std::vector<rehearse::Summary>& into, const std::vector<rehearse::Summary>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
}

store::Table time_table(const RehearseAnswer& answer, const std::vector<std::string>& names) {
    Rows rows{time_to_tokens_schema(names)};
    const auto put = [&rows](const rehearse::Quantile& quantile) {
        rows.real(quantile.value).real(quantile.interval.low).real(quantile.interval.high);
        rows.integer(quantile.finished ? 1 : 0);
    };
    for (std::size_t variant = 0; variant < answer.times.size(); ++variant) {
        const TimeToTokens& times = answer.times[variant];
        for (std::size_t i = 0; i < times.time_s.size(); ++i) {
            rows.integer(static_cast<std::int64_t>(variant)).real(times.time_s[i].fraction);
            put(times.time_s[i]);
            rows.real(answer.step_time_error_90());
            put(times.with_error_s[i]);
            rows.real(times.tokens[i].value);
        }
    }
    return std::move(rows).take();
}

}  // namespace

void CampaignSums::merge(const CampaignSums& other) {
    merge_each(variants, other.variants);
    merge_each(with_error, other.with_error);
}

void CampaignSums::pack(base::Packer& packer) const {
    for (const auto* all : {&variants, &with_error}) {
        packer.put(static_cast<std::uint64_t>(all->size()));
        for (const rehearse::Summary& one : *all) one.pack(packer);
    }
}

CampaignSums CampaignSums::unpack(base::Unpacker& unpacker) {
    CampaignSums sums;
    for (auto* all : {&sums.variants, &sums.with_error})
        for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left)
            all->push_back(rehearse::Summary::unpack(unpacker));
    return sums;
}

TrialSums CampaignSums::histories() const {
    TrialSums sums;
    for (const rehearse::Summary& variant : variants) sums.variants.push_back(variant.histories);
    return sums;
}

double RehearseAnswer::step_time_error_90() const noexcept {
    return winner.empty() || !winner.front().step ? 0.0 : winner.front().step->relative_error_90;
}

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
    const auto best = search_.winner(state.search);
    if (!best) return std::nullopt;
    const TrialJobs jobs{plan_, search_.sweep().space().layout(best->first), Seconds{best->second}};
    return next_trials(stop_, state.trials.histories(), jobs.jobs(), trials_phase,
                       trials_phase + state.trial_rounds_done);
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
    const std::vector<rehearse::Campaign> all = campaigns(search_.sweep().space().layout(index), step_time);
    const bool error_known = all.front().step_time_error_90 > 0.0;
    std::vector<rehearse::Campaign> sure = all;
    for (rehearse::Campaign& campaign : sure) campaign.step_time_error_90 = 0.0;
    partial.trials.variants.resize(all.size());
    if (error_known) partial.trials.with_error.resize(all.size());
    for (std::uint64_t item = items.begin; item < items.end; ++item) {
        const std::size_t variant = item % all.size();
        const std::uint64_t trial = item / all.size();
        partial.trials.variants[variant].add(rehearse::outcome(sure[variant], plan_.seed, trial));
        if (error_known) partial.trials.with_error[variant].add(rehearse::outcome(all[variant], plan_.seed, trial));
    }
    return partial;
}

/// One for each failure variant, with the error of the step time where the calibration knows it.
std::vector<rehearse::Campaign> RehearseStudy::campaigns(const model::Layout& layout, Seconds step_time) const {
    const double tokens = plan_.rehearsal.tokens.value_or(plan_.training->tokens);
    const double per_step = static_cast<double>(layout.global_batch_size) * plan_.training->sequence_length;
    std::vector<rehearse::Campaign> all;
    const TrialJobs jobs{plan_, layout, step_time};
    for (const avail::JobOnCluster& job : jobs.jobs())
        all.push_back({job, tokens, per_step, search_.sweep().job().efficiency.step_time_error_90});
    return all;
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
    partial.trials = CampaignSums::unpack(unpacker);
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
    RehearseAnswer answer{search_.answer(state.search), {}, {}, {}};
    if (const auto best = search_.winner(state.search)) {
        const model::Layout layout = search_.sweep().space().layout(best->first);
        const TrialJobs jobs{plan_, layout, Seconds{best->second}};
        answer.winner.push_back(train_point(search_.sweep().job(), layout));
        answer.variants = variant_answers(names_, jobs, state.trials.histories(), stop_);
        for (std::size_t i = 0; i < answer.variants.size(); ++i) {
            const auto of = [i](const std::vector<rehearse::Summary>& all) {
                return i < all.size() ? all[i] : rehearse::Summary{};
            };
            const rehearse::Summary sure = of(state.trials.variants), unsure = of(state.trials.with_error);
            answer.times.push_back({sure.time_to_tokens_s(), unsure.time_to_tokens_s(), sure.tokens_trained()});
        }
    }
    return answer;
}

std::vector<store::Table> RehearseStudy::tables(const State& state) const {
    std::vector<store::Table> tables = search_.tables(state.search);
    const RehearseAnswer whole = answer(state);
    for (store::Table& table : train_tables(search_.sweep().job(), whole.winner)) tables.push_back(std::move(table));
    for (store::Table& table : trial_tables("rehearsal", whole.variants, names_)) tables.push_back(std::move(table));
    tables.push_back(time_table(whole, names_));
    return tables;
}

std::string RehearseStudy::part_refusal() const {
    return rule_part_refusal(stop_);
}

}  // namespace windtunnel::study
