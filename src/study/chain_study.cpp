#include "windtunnel/study/chain_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rows.hpp"
#include "stop_rule_text.hpp"
#include "windtunnel/base/hash.hpp"
#include "windtunnel/study/schema.hpp"

namespace windtunnel::study {
namespace {

constexpr std::int64_t first_round = 500;
constexpr std::uint64_t slices_per_block = 4;
constexpr std::uint64_t events_per_slice = 400'000;  // about 20 ms: each slice copies the states that are known
constexpr std::uint64_t events_per_path = 10;        // what a path costs beside its events
constexpr std::uint64_t most_trials_per_slice = 1U << 16U;

std::int64_t trials_done(const std::vector<avail::SampleSums>& sums) {
    return sums.empty() ? 0 : static_cast<std::int64_t>(sums.front().trials);
}

}  // namespace

ChainStudy::ChainStudy(std::vector<model::Chain> chains, const ChainOptions& options)
    : options_{options}, chains_{std::make_shared<const std::vector<model::Chain>>(std::move(chains))} {
    if (!options_.stop.trials && !options_.stop.looks_at_results())
        options_.stop.trials = options_.method == avail::SampleMethod::splitting ? ChainOptions::usual_splitting_trials
                                                                                 : ChainOptions::usual_trials;
    identity_ = fmt::format("study = avail of chains\nseed = {}\nmethod = {}\n", options_.seed,
                            static_cast<int>(options_.method)) +
                rule_text(options_.stop);
    std::uint64_t events = 0;
    for (const model::Chain& chain : *chains_) {
        identity_ += fmt::format("{} {} {}\n", chain.id, chain.variant, base::hex_text(chain.text_hash));
        events = std::max(events, samplers_.emplace_back(chain, options_.method).try_out(options_.seed));
    }
    trials_per_slice_ =
        std::clamp<std::uint64_t>(events_per_slice / (events + events_per_path), 1, most_trials_per_slice);
}

ChainStudy::State ChainStudy::start() const {
    State state;
    for (const model::Chain& chain : *chains_) {
        state.sums.emplace_back().measures.resize(chain.measures.size());
    }
    return state;
}

bool ChainStudy::narrow_enough(const State& state) const {
    for (const SampledChain& chain : answer(state))
        for (const avail::SampledMeasure& measure : chain.measures) {
            if (!std::isfinite(measure.value) || measure.unreached > 0) continue;  // more trials do not help
            const double half = (measure.high - measure.low) / 2.0;
            const StopRule& rule = options_.stop;
            if (rule.relative_half_width && half > *rule.relative_half_width * std::abs(measure.value)) return false;
            if (rule.absolute_half_width && half > *rule.absolute_half_width) return false;
        }
    return true;
}

std::optional<Round> ChainStudy::next_round(const State& state) const {
    const StopRule& rule = options_.stop;
    const std::int64_t done = trials_done(state.sums);
    std::int64_t more = rule.trials.value_or(first_round) - done;
    if (rule.looks_at_results() && more <= 0) {
        if (done >= StopRule::most_trials || narrow_enough(state)) return std::nullopt;
        more = std::min(std::max(first_round, done), StopRule::most_trials - done);
    }
    if (more <= 0) return std::nullopt;
    const std::uint64_t number = chains_->size();
    Round round;
    round.number = state.rounds_done;
    round.first_item = static_cast<std::uint64_t>(done) * number;
    round.num_items = static_cast<std::uint64_t>(more) * number;
    round.items_per_slice = trials_per_slice_;
    round.items_per_block = slices_per_block * trials_per_slice_;
    round.label = fmt::format("trials {} to {}", done, done + more - 1);
    return round;
}

ChainStudy::Partial ChainStudy::evaluate(const Round& round, ItemRange items, std::string_view) const {
    // The trials of one chain lie together, so that a slice seldom needs two tables of states.
    Partial sums = start().sums;
    const std::uint64_t done = round.first_item / chains_->size(), more = round.num_items / chains_->size();
    for (std::uint64_t item = items.begin - round.first_item; item < items.end - round.first_item;) {
        const std::uint64_t chain = item / more, end = std::min((chain + 1) * more, items.end - round.first_item);
        avail::ChainSampler sampler{samplers_[chain]};
        avail::SampleSums part = sampler.nothing();
        sampler.run(options_.seed, {done + item - chain * more, done + end - chain * more}, part);
        sums[chain].merge(part);
        item = end;
    }
    return sums;
}

void ChainStudy::merge(Partial& partial, const Partial& other) const {
    for (std::size_t i = 0; i < partial.size(); ++i) partial[i].merge(other.at(i));
}

std::string ChainStudy::pack(const Partial& partial) const {
    base::Packer packer;
    for (const avail::SampleSums& sums : partial) sums.pack(packer);
    return std::move(packer).take();
}

ChainStudy::Partial ChainStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial partial;
    for (std::size_t i = 0; i < chains_->size(); ++i) {
        partial.push_back(avail::SampleSums::unpack(unpacker));
        if (partial.back().measures.size() != chains_->at(i).measures.size())
            throw base::PackError{"a block of sampled paths has other measures than the chain"};
    }
    return partial;
}

void ChainStudy::absorb(State& state, const Round& round, std::uint64_t, const Partial& partial) const {
    merge(state.sums, partial);
    if (++state.blocks < round.num_blocks()) return;
    state.blocks = 0;
    ++state.rounds_done;
}

std::vector<SampledChain> ChainStudy::answer(const State& state) const {
    std::vector<SampledChain> answers;
    for (std::size_t i = 0; i < chains_->size(); ++i) {
        const model::Chain& chain = chains_->at(i);
        SampledChain& one = answers.emplace_back();
        one.title = chain.title;
        one.variant = chain.variant;
        one.time_unit = chain.time_unit;
        one.trials = state.sums[i].trials;
        one.events = state.sums[i].events;
        one.measures = samplers_[i].answers(state.sums[i]);
        for (const model::ChainMeasure& measure : chain.measures) one.kinds.push_back(measure.kind);
    }
    return answers;
}

std::vector<store::Table> ChainStudy::tables(const State& state) const {
    Rows rows{sampled_measures_schema()};
    for (const SampledChain& chain : answer(state))
        for (const avail::SampledMeasure& measure : chain.measures)
            rows.text(chain.variant)
                .text(measure.name)
                .real(measure.value)
                .real(measure.standard_error)
                .real(measure.low)
                .real(measure.high)
                .integer(static_cast<std::int64_t>(chain.trials))
                .integer(static_cast<std::int64_t>(measure.unreached))
                .text(measure.method);
    std::vector<store::Table> tables;
    tables.push_back(std::move(rows).take());
    return tables;
}

std::string ChainStudy::part_refusal() const {
    return rule_part_refusal(options_.stop);
}

}  // namespace windtunnel::study
