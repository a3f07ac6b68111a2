#include "windtunnel/study/search_study.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "layout_columns.hpp"
#include "windtunnel/base/contracts.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/study/long_rounds.hpp"
#include "windtunnel/study/schema.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::study {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_front_points = 20'000;
constexpr std::uint64_t slices_per_block = 8;  // threads of a rank that can work at once

/// Designs that one thread walks at a time: about half a millisecond of work. How many of a sample reach the memory
/// rules says how much a design costs; most of a space may be cut off in whole ranges. At least 512 blocks where the
/// space has so many designs, at most about a million.
std::uint64_t designs_per_slice(const search::Sweep& sweep) {
    constexpr double memory_us = 5.0, cut_us = 0.01, wanted_us = 500.0;
    constexpr std::uint64_t windows = 16, window = 256, fewest = 64, most = 32'768;
    constexpr double golden_ratio = 0.6180339887498949;  // its multiples modulo 1 spread evenly
    const std::uint64_t size = sweep.space().size();
    std::uint64_t walked = 0, reached = 0;
    for (std::uint64_t i = 0; size > window && i < windows; ++i) {
        const double place = std::fmod(golden_ratio * static_cast<double>(i + 1), 1.0);
        const auto begin = static_cast<std::uint64_t>(place * static_cast<double>(size - window));
        reached += sweep.walk(begin, begin + window).reached_memory;
        walked += window;
    }
    const double share = walked == 0 ? 1.0 : static_cast<double>(reached) / static_cast<double>(walked);
    const auto wanted = static_cast<std::uint64_t>(wanted_us / (memory_us * share + cut_us));
    const std::uint64_t enough_blocks = std::clamp(size / (512 * slices_per_block), fewest, most);
    return std::max(std::clamp(wanted, fewest, enough_blocks), (size >> 20U) / slices_per_block + 1);
}

Round sweep_round(std::uint64_t size, std::uint64_t per_slice) {
    Round round;
    round.label = "search: closed form";
    round.num_items = size;
    round.items_per_slice = per_slice;
    round.items_per_block = per_slice * slices_per_block;
    round.items_per_block *= joined_blocks(round.num_blocks());
    return round;
}

Round executor_round(std::size_t designs) {
    Round round;
    round.phase = 1;
    round.number = 1;
    round.label = "search: executor";
    round.num_items = designs;
    round.items_per_block = 16;
    round.items_per_slice = 4;
    return round;
}

/// Numbers of the executor's designs, as bytes that every rank gets: item i at 8 i.
std::uint64_t design_of_item(std::string_view context, std::uint64_t item) {
    std::uint64_t index = 0;
    if (context.size() / sizeof index <= item) throw base::PackError{"the round context is shorter than its round"};
    std::memcpy(&index, context.data() + item * sizeof index, sizeof index);
    return index;
}

void put_ranked(Rows& rows, const RankedDesign& design) {
    put_layout(rows, design.layout);
    rows.real(design.step_time.value())
        .real(design.closed_form.value())
        .real(design.tokens_per_second)
        .real(design.mfu)
        .real(design.memory.value())
        .integer(design.fullest_stage)
        .real(design.time_to_tokens.value())
        .real(design.cost.value())
        .real(design.energy.value());
}

}  // namespace

SearchStudy::SearchStudy(const model::Plan& plan, const SearchOptions& options)
    : identity_{plan.resolved_text +
                "\nstudy = search\nstore = " + (options.store == StoreDesigns::all ? "all" : "best") + "\n"},
      options_{options},
      objective_{plan.search.objective},
      sweep_{std::make_shared<const search::Sweep>(plan)} {
    const train::FlopsPerToken flops = train::flops_per_token(plan.transformer, plan.training->sequence_length);
    flops_per_token_ = flops.weights + flops.attention_causal;
    designs_per_slice_ = designs_per_slice(*sweep_);
}

std::string SearchStudy::identity() const {
    return identity_;
}

SearchStudy::State SearchStudy::start() const {
    State state;
    state.sweep = sweep_->nothing();
    return state;
}

std::optional<Round> SearchStudy::next_round(const State& state) const {
    const Round first = sweep_round(sweep_->space().size(), designs_per_slice_);
    if (state.sweep_blocks < first.num_blocks()) return first;
    const Round second = executor_round(executor_designs(state).size());
    if (state.executor_blocks < second.num_blocks()) return second;
    return std::nullopt;
}

std::vector<std::uint64_t> SearchStudy::executor_designs(const State& state) const {
    std::vector<std::uint64_t> designs = state.sweep.sample.indices();
    for (const search::Candidate& candidate : state.sweep.best.candidates()) designs.push_back(candidate.index);
    for (const search::FrontPoint& point : state.sweep.front.points()) designs.push_back(point.index);
    std::sort(designs.begin(), designs.end());
    designs.erase(std::unique(designs.begin(), designs.end()), designs.end());
    return designs;
}

std::string SearchStudy::round_context(const State& state, const Round& round) const {
    if (round.phase != 1) return {};
    const std::vector<std::uint64_t> designs = executor_designs(state);
    return {reinterpret_cast<const char*>(designs.data()), designs.size() * sizeof(std::uint64_t)};
}

SearchStudy::Partial SearchStudy::evaluate(const Round& round, ItemRange items, std::string_view context) const {
    Partial partial;
    if (round.phase == 0) {
        partial.sweep = sweep_->walk(
            items.begin, items.end, options_.store == StoreDesigns::all ? search::KeepRows::yes : search::KeepRows::no);
        return partial;
    }
    partial.sweep = sweep_->nothing();
    train::StepWorkspace workspace;
    for (std::uint64_t item = items.begin; item < items.end; ++item) {
        const std::uint64_t index = design_of_item(context, item);
        partial.index.push_back(index);
        partial.step_time_s.push_back(sweep_->step_time(index, workspace).value());
    }
    return partial;
}

void SearchStudy::merge(Partial& partial, const Partial& other) const {
    partial.sweep.merge(other.sweep);
    partial.index.insert(partial.index.end(), other.index.begin(), other.index.end());
    partial.step_time_s.insert(partial.step_time_s.end(), other.step_time_s.begin(), other.step_time_s.end());
}

std::string SearchStudy::pack(const Partial& partial) const {
    base::Packer packer;
    partial.sweep.pack(packer);
    packer.put(partial.index);
    packer.put(partial.step_time_s);
    return std::move(packer).take();
}

SearchStudy::Partial SearchStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial partial;
    partial.sweep = sweep_->nothing();
    partial.sweep.unpack(unpacker);
    partial.index = unpacker.get_vector<std::uint64_t>();
    partial.step_time_s = unpacker.get_vector<double>();
    const auto outside = [size = sweep_->space().size()](std::uint64_t index) { return index >= size; };
    if (partial.index.size() != partial.step_time_s.size() || std::ranges::any_of(partial.index, outside) ||
        std::ranges::any_of(partial.sweep.row_index, outside) ||
        std::ranges::any_of(partial.sweep.best.candidates(),
                            [&](const search::Candidate& candidate) { return outside(candidate.index); }) ||
        std::ranges::any_of(partial.sweep.sample.indices(), outside) ||
        std::ranges::any_of(partial.sweep.front.points(),
                            [&](const search::FrontPoint& point) { return outside(point.index); }))
        throw base::PackError{"a packed design lies outside the space"};
    return partial;
}

void SearchStudy::absorb(State& state, const Round& round, std::uint64_t, const Partial& partial) const {
    if (round.phase == 0) {
        ++state.sweep_blocks;
        // Rows of all designs stay in the journal; the result file gets them block by block.
        search::SweepResult without_rows = partial.sweep;
        without_rows.row_index.clear();
        without_rows.row_step_time_s.clear();
        without_rows.row_memory_bytes.clear();
        state.sweep.merge(without_rows);
        if (state.sweep.front.size() > most_front_points) {
            state.front_cut = true;
            state.sweep.front.keep_first(most_front_points);
        }
        return;
    }
    ++state.executor_blocks;
    state.index.insert(state.index.end(), partial.index.begin(), partial.index.end());
    state.step_time_s.insert(state.step_time_s.end(), partial.step_time_s.begin(), partial.step_time_s.end());
}

RankedDesign SearchStudy::ranked(std::uint64_t index, Seconds step_time, train::StepWorkspace& workspace) const {
    const search::Valuation& valuation = sweep_->valuation();
    const train::Job& job = sweep_->job();
    RankedDesign design;
    design.index = index;
    design.layout = sweep_->space().layout(index);
    design.step_time = step_time;
    design.closed_form = sweep_->closed_form(index, workspace);
    design.tokens_per_second = valuation.tokens_per_second(design.layout, step_time);
    const FlopsPerSecond peak = job.cluster.accelerator.peak(job.precision) * static_cast<double>(design.layout.cards);
    design.mfu = flops_per_token_ * design.tokens_per_second / peak.value();
    const train::FullestStage fullest = sweep_->fullest_stage(index);
    design.memory = fullest.total;
    design.fullest_stage = fullest.stage;
    const bool tokens = valuation.tokens > 0.0, power = valuation.card_power.value() > 0.0;
    const bool priced = valuation.card.value() > 0.0 && (power || !(valuation.energy_price.value() > 0.0));
    design.time_to_tokens = tokens ? valuation.time_to_tokens(design.layout, step_time) : Seconds{unknown};
    design.cost = tokens && priced ? valuation.cost(design.layout, step_time) : Usd{unknown};
    design.energy = tokens && power ? valuation.energy(design.layout, step_time) : Joules{unknown};
    return design;
}

std::optional<std::pair<std::uint64_t, double>> SearchStudy::winner(const State& state) const {
    std::optional<std::pair<search::Candidate, double>> best;
    for (std::size_t i = 0; i < state.index.size(); ++i) {
        const Seconds step{state.step_time_s[i]};
        const model::Layout layout = sweep_->space().layout(state.index[i]);
        if (!sweep_->within_limits(layout, step)) continue;
        const Bytes memory = sweep_->fullest_stage(state.index[i]).total;
        const search::Candidate candidate{sweep_->valuation().score(sweep_->objective(), layout, step, memory),
                                          state.index[i]};
        if (!best || candidate < best->first) best = {candidate, step.value()};
    }
    if (!best) return std::nullopt;
    return std::pair{best->first.index, best->second};
}

SearchAnswer SearchStudy::answer(const State& state) const {
    SearchAnswer answer;
    answer.objective = objective_;
    answer.front_measures = sweep_->front_measures();
    answer.space_size = sweep_->space().size();
    answer.designs = state.sweep.designs;
    answer.reached_memory = state.sweep.reached_memory;
    answer.pareto_cut = state.front_cut;
    MarginCheck& check = answer.check;
    check.margin = sweep_->margin();
    check.cut = state.sweep.best.cut();

    std::vector<std::uint64_t> candidates;
    for (const search::Candidate& candidate : state.sweep.best.candidates()) candidates.push_back(candidate.index);
    std::sort(candidates.begin(), candidates.end());
    check.candidates = candidates.size();
    const auto is_candidate = [&](std::uint64_t index) {
        return std::binary_search(candidates.begin(), candidates.end(), index);
    };

    train::StepWorkspace workspace;
    std::vector<std::pair<search::Candidate, double>> run;  // score by the executor, and its step time
    search::Front front;
    check.least_ratio = check.greatest_ratio = unknown;
    for (std::size_t i = 0; i < state.index.size(); ++i) {
        const std::uint64_t index = state.index[i];
        const Seconds step{state.step_time_s[i]};
        const model::Layout layout = sweep_->space().layout(index);
        const double ratio = step / sweep_->closed_form(index, workspace);
        check.least_ratio = std::fmin(check.least_ratio, ratio);
        check.greatest_ratio = std::fmax(check.greatest_ratio, ratio);
        if (!is_candidate(index)) ++check.sampled;
        if (!sweep_->within_limits(layout, step)) {
            ++check.above_limit;
            continue;
        }
        const Bytes memory = sweep_->fullest_stage(index).total;
        run.push_back({{sweep_->valuation().score(sweep_->objective(), layout, step, memory), index}, step.value()});
        if (!answer.front_measures.empty()) front.add(sweep_->front_point(index, layout, step, memory));
    }
    std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(run.size(), sweep_->top()); ++i) {
        answer.best.push_back(ranked(run[i].first.index, Seconds{run[i].second}, workspace));
        if (!is_candidate(run[i].first.index)) ++check.sample_in_top;
    }
    std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) { return a.first.index < b.first.index; });
    for (const search::FrontPoint& point : front.points()) {
        const auto at = std::partition_point(run.begin(), run.end(),
                                             [&](const auto& one) { return one.first.index < point.index; });
        answer.pareto.push_back(ranked(point.index, Seconds{at->second}, workspace));
    }
    return answer;
}

std::vector<store::Table> SearchStudy::tables(const State& state) const {
    const SearchAnswer found = answer(state);
    Rows best{search_best_schema()}, pareto{search_pareto_schema()}, verdicts{search_verdicts_schema()},
        check{search_margin_check_schema()};
    std::int64_t rank = 0;
    for (const RankedDesign& design : found.best) {
        best.integer(++rank).integer(static_cast<std::int64_t>(design.index));
        put_ranked(best, design);
    }
    for (const RankedDesign& design : found.pareto) {
        pareto.integer(static_cast<std::int64_t>(design.index));
        put_ranked(pareto, design);
    }
    for (std::size_t reason = 0; reason < found.designs.size(); ++reason)
        verdicts.integer(static_cast<std::int64_t>(reason)).integer(static_cast<std::int64_t>(found.designs[reason]));
    const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    check.integer(count(found.space_size))
        .integer(count(found.reached_memory))
        .integer(count(found.fitting()))
        .real(found.check.margin)
        .integer(count(found.check.candidates))
        .integer(found.check.cut ? 1 : 0)
        .integer(count(found.check.sampled))
        .integer(count(found.check.sample_in_top))
        .integer(count(found.check.above_limit))
        .integer(found.pareto_cut ? 1 : 0)
        .real(found.check.least_ratio)
        .real(found.check.greatest_ratio);
    std::vector<store::Table> tables;
    for (Rows* rows : {&best, &pareto, &verdicts, &check}) tables.push_back(std::move(*rows).take());
    return tables;
}

std::vector<store::TableSchema> SearchStudy::bulk_tables() const {
    if (options_.store == StoreDesigns::all) return {search_designs_schema()};
    return {};
}

std::vector<store::Table> SearchStudy::bulk_rows(const Round& round, const Partial& partial) const {
    if (options_.store != StoreDesigns::all) return {};
    Rows rows{search_designs_schema()};
    for (std::size_t i = 0; round.phase == 0 && i < partial.sweep.row_index.size(); ++i) {
        const std::uint64_t index = partial.sweep.row_index[i];
        const model::Layout layout = sweep_->space().layout(index);
        const Seconds step{partial.sweep.row_step_time_s[i]};
        rows.integer(static_cast<std::int64_t>(index));
        put_layout(rows, layout);
        rows.real(step.value())
            .real(sweep_->valuation().tokens_per_second(layout, step))
            .real(partial.sweep.row_memory_bytes[i]);
    }
    std::vector<store::Table> tables;
    tables.push_back(std::move(rows).take());
    return tables;
}

}  // namespace windtunnel::study
