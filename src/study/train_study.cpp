#include "windtunnel/study/train_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "layout_columns.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/base/pack.hpp"
#include "windtunnel/study/layout_choice.hpp"
#include "windtunnel/study/schema.hpp"
#include "windtunnel/train/memory.hpp"
#include "windtunnel/train/rules.hpp"

namespace windtunnel::study {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse_sweep(std::string message) {
    throw base::InputError{
        {{"", 0, 0, "--sweep", std::move(message), "cards=FIRST..LASTxFACTOR, for example cards=256..8192x2"}}};
}

/// The batch that keeps the published work per card, as a multiple of what a step needs.
std::int64_t batch_for(const model::Layout& published, const model::Layout& layout) {
    std::int64_t unit = std::int64_t{layout.micro_batch_size} * std::max(1, layout.data_parallel());
    const std::int64_t least = unit * layout.least_micro_batches();
    unit *= layout.micro_batch_multiple();
    const double wanted = static_cast<double>(published.global_batch_size) * layout.cards / published.cards;
    return std::max(least, unit * std::max<std::int64_t>(1, std::llround(wanted / static_cast<double>(unit))));
}

std::vector<model::Layout> swept_layouts(const model::Layout& published, const CardSweep& sweep,
                                         const model::Cluster& cluster) {
    if (sweep.first < 1 || sweep.last < sweep.first || sweep.last > cluster.num_cards())
        refuse_sweep(fmt::format("{} to {} cards do not lie in 1 to {} of the cluster", sweep.first, sweep.last,
                                 cluster.num_cards()));
    if (!(sweep.factor >= 1.01 && sweep.factor <= 1e6))
        refuse_sweep(fmt::format("the factor {} does not lie in 1.01 to 1e6", sweep.factor));
    std::vector<model::Layout> layouts;
    for (double cards = sweep.first; cards <= sweep.last * (1.0 + 1e-9); cards *= sweep.factor) {
        model::Layout layout = published;
        layout.cards = static_cast<int>(std::lround(cards));
        if (!layouts.empty() && layout.cards == layouts.back().cards) continue;
        layout.global_batch_size = batch_for(published, layout);
        layouts.push_back(layout);
    }
    return layouts;
}

void pack_step(base::Packer& packer, const train::StepResult& step) {
    for (const double value : {step.step_time.value(), step.bubble_fraction, step.model_flops.value(),
                               step.model_flops_full_attention.value(), step.hardware_flops.value(), step.mfu, step.hfu,
                               step.mfu_full_attention, step.peak_used.value(), step.tokens_per_second,
                               step.relative_error_90, step.fill, step.micro_batch_imbalance})
        packer.put(value);
    for (const Seconds time : step.parts.of) packer.put(time.value());
    packer.put(step.last_stage);
    packer.put(step.evidence);
    packer.put(static_cast<std::uint8_t>(step.outside_fitted_range));
}

train::StepResult unpack_step(base::Unpacker& unpacker) {
    train::StepResult step;
    const auto number = [&] { return unpacker.get<double>(); };
    step.step_time = Seconds{number()};
    step.bubble_fraction = number();
    step.model_flops = Flops{number()};
    step.model_flops_full_attention = Flops{number()};
    step.hardware_flops = Flops{number()};
    step.mfu = number();
    step.hfu = number();
    step.mfu_full_attention = number();
    step.peak_used = FlopsPerSecond{number()};
    step.tokens_per_second = number();
    step.relative_error_90 = number();
    step.fill = number();
    step.micro_batch_imbalance = number();
    for (Seconds& time : step.parts.of) time = Seconds{number()};
    step.last_stage = unpacker.get<int>();
    step.evidence = unpacker.get<model::Evidence>();
    step.outside_fitted_range = unpacker.get<std::uint8_t>() != 0;
    return step;
}

constexpr std::array memory_parts{&train::StageMemory::weights,   &train::StageMemory::gradients,
                                  &train::StageMemory::optimizer, &train::StageMemory::activations,
                                  &train::StageMemory::logits,    &train::StageMemory::buffers,
                                  &train::StageMemory::reserve};

}  // namespace

TrainPoint train_point(const train::Job& job, const model::Layout& layout) {
    TrainPoint point;
    point.layout = layout;
    point.usable_memory = train::usable_memory(job);
    point.verdict = train::rule_verdict(job, layout);
    if (!point.verdict.feasible()) return point;
    const train::UnitCosts costs = train::unit_costs(job, train::unit_key(layout));
    point.verdict = train::memory_verdict(job, layout, costs);
    point.memory = train::stage_memory(job, layout, costs);
    point.step = train::step_result(job, layout, costs);
    point.closed_form = train::closed_form_step_time(job, layout, costs);
    point.smallest_cards = train::smallest_cards_that_fit(job, layout);
    point.largest_micro_batch = train::largest_micro_batch_that_fits(job, layout);
    return point;
}

TrainStudy::TrainStudy(const model::Plan& plan, const TrainOptions& options)
    : identity_{plan.resolved_text + "\nstudy = train\n"}, layouts_{chosen_layout(plan)}, job_{train::job_of(plan)} {
    if (!options.sweep) return;
    layouts_ = swept_layouts(layouts_.front(), *options.sweep, plan.cluster);
    identity_ +=
        fmt::format("sweep = cards {} {} {}\n", options.sweep->first, options.sweep->last, options.sweep->factor);
}

std::optional<Round> TrainStudy::next_round(const State& state) const {
    if (state.points.size() >= layouts_.size()) return std::nullopt;
    Round round;
    round.label = "train: executor";
    round.num_items = layouts_.size();
    return round;
}

TrainStudy::Partial TrainStudy::evaluate(const Round&, ItemRange items, std::string_view) const {
    Partial points;
    for (std::uint64_t item = items.begin; item < items.end; ++item)
        points.push_back(train_point(job_, layouts_.at(item)));
    return points;
}

void TrainStudy::merge(Partial& partial, const Partial& other) const {
    partial.insert(partial.end(), other.begin(), other.end());
}

std::string TrainStudy::pack(const Partial& partial) const {
    base::Packer packer;
    packer.put(static_cast<std::uint64_t>(partial.size()));
    for (const TrainPoint& point : partial) {
        packer.put(point.verdict.reason);
        packer.put(std::string_view{point.verdict.detail});
        packer.put(point.verdict.missing.value());
        packer.put(point.verdict.stage);
        packer.put(point.closed_form.value());
        packer.put(point.usable_memory.value());
        packer.put(point.smallest_cards);
        packer.put(point.largest_micro_batch);
        packer.put(static_cast<std::uint8_t>(point.step.has_value()));
        if (point.step) pack_step(packer, *point.step);
        packer.put(static_cast<std::uint64_t>(point.memory.size()));
        for (const train::StageMemory& stage : point.memory)
            for (const auto part : memory_parts) packer.put((stage.*part).value());
    }
    return std::move(packer).take();
}

TrainStudy::Partial TrainStudy::unpack(std::string_view bytes) const {
    base::Unpacker unpacker{bytes};
    Partial points;
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        TrainPoint& point = points.emplace_back();
        point.verdict.reason = unpacker.get<model::VerdictReason>();
        if (static_cast<unsigned>(point.verdict.reason) >= unsigned{model::num_verdict_reasons})
            throw base::PackError{"a packed verdict is none"};
        point.verdict.detail = unpacker.get_text();
        point.verdict.missing = Bytes{unpacker.get<double>()};
        point.verdict.stage = unpacker.get<int>();
        point.closed_form = Seconds{unpacker.get<double>()};
        point.usable_memory = Bytes{unpacker.get<double>()};
        point.smallest_cards = unpacker.get<int>();
        point.largest_micro_batch = unpacker.get<int>();
        if (unpacker.get<std::uint8_t>() != 0) point.step = unpack_step(unpacker);
        for (auto stages = unpacker.get<std::uint64_t>(); stages > 0; --stages) {
            train::StageMemory& stage = point.memory.emplace_back();
            for (const auto part : memory_parts) stage.*part = Bytes{unpacker.get<double>()};
        }
    }
    return points;
}

void TrainStudy::absorb(State& state, const Round&, std::uint64_t block, const Partial& partial) const {
    for (std::size_t i = 0; i < partial.size() && block + i < layouts_.size(); ++i) {
        state.points.push_back(partial[i]);
        state.points.back().layout = layouts_[block + i];
    }
}

TrainAnswer TrainStudy::answer(const State& state) const {
    TrainAnswer answer{state.points};
    const auto per_card = [](const TrainPoint& point) {
        return point.step ? point.step->tokens_per_second / point.layout.cards : unknown;
    };
    for (TrainPoint& point : answer.points) point.linearity = per_card(point) / per_card(answer.points.front());
    return answer;
}

std::vector<store::Table> TrainStudy::tables(const State& state) const {
    return train_tables(job_, answer(state).points);
}

namespace {

Rows timeline_rows(const train::Job& job, const std::vector<TrainPoint>& points) {
    Rows rows{train_timeline_schema()};
    if (points.empty() || !points.front().step) return rows;
    const model::Layout& layout = points.front().layout;
    auto events = train::step_timeline(job, layout, train::unit_costs(job, train::unit_key(layout)));
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start, a.stage) < std::tie(b.start, b.stage);
    });
    if (events.size() > most_timeline_rows) events.resize(most_timeline_rows);
    for (const train::TimelineEvent& event : events)
        rows.integer(event.stage)
            .text(event.stream)
            .text(event.name)
            .real(event.start.value())
            .real(event.duration.value());
    return rows;
}

}  // namespace

std::vector<store::Table> train_tables(const train::Job& job, const std::vector<TrainPoint>& points) {
    Rows summary{train_summary_schema()}, parts{train_parts_schema()}, memory{train_memory_schema()};
    std::int64_t number = 0;
    for (const TrainPoint& point : points) {
        const bool runs = point.step.has_value();
        const train::StepResult step = point.step.value_or(train::StepResult{});
        const auto known = [runs](double value) { return runs ? value : unknown; };
        summary.integer(number);
        put_layout(summary, point.layout);
        summary.integer(static_cast<std::int64_t>(point.verdict.reason))
            .text(point.verdict.detail)
            .real(known(step.step_time.value()))
            .real(known(point.closed_form.value()))
            .real(known(step.tokens_per_second))
            .real(known(step.mfu))
            .real(known(step.mfu_full_attention))
            .real(known(step.hfu))
            .real(known(step.peak_used.value()))
            .real(known(step.bubble_fraction))
            .integer(step.last_stage)
            .real(known(step.relative_error_90))
            .integer(step.outside_fitted_range ? 1 : 0)
            .real(point.usable_memory.value())
            .integer(point.smallest_cards)
            .integer(point.largest_micro_batch)
            .real(point.linearity);
        for (int part = 0; runs && part < train::num_parts; ++part) {
            const Seconds time = step.parts[static_cast<train::Part>(part)];
            parts.integer(number).integer(part).real(time.value()).real(time / step.step_time);
        }
        std::int64_t stage_number = 0;
        for (const train::StageMemory& stage : point.memory) {
            memory.integer(number).integer(stage_number++);
            for (const auto part : memory_parts) memory.real((stage.*part).value());
            memory.real(stage.total().value());
        }
        ++number;
    }
    std::vector<store::Table> tables;
    Rows timeline = timeline_rows(job, points);
    for (Rows* rows : {&summary, &parts, &memory, &timeline}) tables.push_back(std::move(*rows).take());
    return tables;
}

}  // namespace windtunnel::study
