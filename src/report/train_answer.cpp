#include "windtunnel/report/train_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "windtunnel/report/json_parts.hpp"
#include "windtunnel/report/plan_notes.hpp"
#include "windtunnel/report/plan_summary.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using model::VerdictReason;
using study::TrainPoint;
using train::StageMemory;

struct Component {
    const char* name;
    Bytes StageMemory::*bytes;
};
constexpr Component components[] = {{"weights", &StageMemory::weights},     {"gradients", &StageMemory::gradients},
                                    {"optimizer", &StageMemory::optimizer}, {"activations", &StageMemory::activations},
                                    {"logits", &StageMemory::logits},       {"buffers", &StageMemory::buffers},
                                    {"reserve", &StageMemory::reserve}};

/// Of a plan, for the step of one layout.
const std::vector<std::string_view> unused_sections{"search", "cost", "failures", "recovery", "rehearsal"};

std::string verdict_text(const TrainPoint& point) {
    if (point.verdict.feasible()) return "fits";
    if (point.verdict.reason == VerdictReason::out_of_memory)
        return fmt::format("does not fit: stage {} lacks {}", point.verdict.stage, human(point.verdict.missing));
    return fmt::format("{}: {}", model::to_text(point.verdict.reason), point.verdict.detail);
}

/// Neighbouring stages of equal memory.
struct StageRun {
    std::size_t first = 0;
    std::size_t last = 0;
};

std::vector<StageRun> runs_of_equal_stages(const std::vector<StageMemory>& memory) {
    std::vector<StageRun> runs;
    for (std::size_t stage = 0; stage < memory.size(); ++stage) {
        if (!runs.empty() && memory[runs.back().first].total() == memory[stage].total())
            runs.back().last = stage;
        else
            runs.push_back({stage, stage});
    }
    return runs;
}

constexpr std::size_t most_runs = 6;  ///< on one screen

/// All, or the first, the fullest and the last.
std::vector<StageRun> shown_runs(const std::vector<StageRun>& runs, const std::vector<StageMemory>& memory) {
    if (runs.size() <= most_runs) return runs;
    const auto fullest =
        std::ranges::max_element(runs, {}, [&](const StageRun& run) { return memory[run.first].total().value(); });
    std::vector<StageRun> shown{runs.front()};
    if (fullest != runs.begin() && fullest + 1 != runs.end()) shown.push_back(*fullest);
    shown.push_back(runs.back());
    return shown;
}

std::string memory_table(const TrainPoint& point) {
    std::vector<std::string> heads{"stage"};
    for (const Component& component : components) heads.emplace_back(component.name);
    heads.emplace_back("total");
    heads.emplace_back("usable");
    TextTable table{heads};
    const std::vector<StageRun> runs = runs_of_equal_stages(point.memory);
    for (const StageRun& run : shown_runs(runs, point.memory)) {
        const StageMemory& stage = point.memory[run.first];
        std::vector<std::string> cells{run.first == run.last ? fmt::format("{}", run.first)
                                                             : fmt::format("{} to {}", run.first, run.last)};
        for (const Component& component : components) cells.push_back(human(stage.*component.bytes));
        cells.push_back(human(stage.total()));
        cells.push_back(human(point.usable_memory));
        table.add_row(std::move(cells));
    }
    if (runs.size() <= most_runs) return table.text();
    return table.text() +
           fmt::format("  first, fullest and last of {} stages; all of them in --json and in the result file\n",
                       point.memory.size());
}

std::string parts_table(const train::StepResult& step) {
    TextTable table{{"part", "time", "share"}};
    for (int i = 0; i < train::num_parts; ++i) {
        const auto part = static_cast<train::Part>(i);
        if (step.parts[part] > Seconds{0.0})
            table.add_row({train::to_text(part), human(step.parts[part]), percent(step.parts[part] / step.step_time)});
    }
    table.add_row({"step", human(step.step_time), percent(step.parts.total() / step.step_time)});
    return table.text();
}

void add_step(Json& document, const train::StepResult& step) {
    document["step_time_s"] = step.step_time.value();
    document["step_time_relative_error_90"] = step.relative_error_90 > 0 ? Json(step.relative_error_90) : Json(nullptr);
    Json parts = Json::object();
    for (int i = 0; i < train::num_parts; ++i)
        parts[train::to_text(static_cast<train::Part>(i))] = step.parts[static_cast<train::Part>(i)].value();
    document["parts_s"] = parts;
    document["last_stage"] = step.last_stage;
    document["bubble_fraction"] = step.bubble_fraction;
    document["tokens_per_second"] = step.tokens_per_second;
    document["mfu"] = step.mfu;
    document["hfu"] = step.hfu;
    document["mfu_full_attention"] = step.mfu_full_attention;
    document["peak_used_flops_per_s"] = step.peak_used.value();
    document["model_flops"] = step.model_flops.value();
    document["hardware_flops"] = step.hardware_flops.value();
    if (step.fill != 1.0 || step.micro_batch_imbalance != 1.0) {
        document["fill"] = step.fill;
        document["micro_batch_imbalance"] = step.micro_batch_imbalance;
    }
    document["evidence"] = evidence_text(step.evidence);
    document["outside_fitted_range"] = step.outside_fitted_range;
}

std::string evidence_note(const train::StepResult& step) {
    std::string note = "evidence: " + evidence_text(step.evidence);
    note += step.relative_error_90 > 0
                ? fmt::format("; 90 % interval of step time +- {}", percent(step.relative_error_90))
                : "; the error of the step time is not known";
    if (step.outside_fitted_range) note += "; WARNING: outside the range of the measurements behind the efficiencies";
    return note + '\n';
}

}  // namespace

Json point_json(const TrainPoint& point) {
    Json document{{"layout", layout_json(point.layout)},
                  {"verdict",
                   {{"reason", model::to_text(point.verdict.reason)},
                    {"detail", point.verdict.detail},
                    {"stage", point.verdict.stage},
                    {"missing_bytes", point.verdict.missing.value()}}}};
    if (!point.step) return document;
    add_step(document, *point.step);
    document["closed_form_s"] = point.closed_form.value();
    document["linearity"] = point.linearity;
    Json stages = Json::array();
    for (const StageMemory& stage : point.memory) {
        Json row = Json::object();
        for (const Component& component : components)
            row[std::string{component.name} + "_bytes"] = (stage.*component.bytes).value();
        row["total_bytes"] = stage.total().value();
        stages.push_back(std::move(row));
    }
    document["memory"] = stages;
    document["usable_bytes"] = point.usable_memory.value();
    document["smallest_cards_that_fit"] = point.smallest_cards;
    document["largest_micro_batch_that_fits"] = point.largest_micro_batch;
    return document;
}

std::string evidence_text(model::Evidence evidence) {
    switch (evidence) {
        case model::Evidence::measured:
            return "measured";
        case model::Evidence::fitted:
            return "fitted";
        case model::Evidence::assumed:
            return "assumed";
        case model::Evidence::first_principles:
            return "first_principles";
    }
    return "";
}

std::string train_point_text(const model::Plan& plan, const TrainPoint& point) {
    if (!point.step) return verdict_text(point) + '\n' + fmt::format("layout   {}\n", model::to_text(point.layout));
    const train::StepResult& step = *point.step;
    std::string text = fmt::format("step {}   MFU {}   {} tokens/s   {}\n", human(step.step_time), percent(step.mfu),
                                   human_count(step.tokens_per_second), verdict_text(point));
    text += evidence_note(step);
    text += fmt::format("layout   {}\ngroups   {}\n", model::to_text(point.layout),
                        groups_text(plan.transformer, point.layout));
    text += fmt::format("HFU {}, MFU with full attention {}; peak {} per card; pipeline idle {} (mean of stages)\n",
                        percent(step.hfu), percent(step.mfu_full_attention), human(step.peak_used),
                        percent(step.bubble_fraction));
    if (plan.training && plan.training->documents.vary())
        text += fmt::format("documents fill {} of the micro-batches; the heaviest has {:.3f} times the mean work\n",
                            percent(step.fill), step.micro_batch_imbalance);
    text += fmt::format("\ntime of a step (stage {}, which ends last)\n{}", step.last_stage, parts_table(step));
    text += fmt::format("\nmemory of a card\n{}", memory_table(point));
    text += point.smallest_cards > 0
                ? fmt::format("smallest number of cards that fits: {}\n", grouped(point.smallest_cards))
                : std::string{"no number of cards up to the cluster's size fits\n"};
    text += point.largest_micro_batch > 0
                ? fmt::format("largest micro-batch that fits: {}\n", point.largest_micro_batch)
                : std::string{"no micro-batch fits\n"};
    if (plan.training && plan.training->tokens > 0)
        text += fmt::format("time to {} tokens without failures: {}\n", human_count(plan.training->tokens),
                            human(Seconds{plan.training->tokens / step.tokens_per_second}));
    return text;
}

std::string train_text(const model::Plan& plan, const study::TrainAnswer& answer) {
    std::string text = plan.title + '\n';
    if (answer.points.size() == 1)
        return text + train_point_text(plan, answer.points[0]) + plan_notes(plan, unused_sections);
    TextTable table{{"cards", "step", "tokens/s", "MFU", "linearity", "batch", "layout", "verdict"}};
    for (const TrainPoint& point : answer.points) {
        const bool known = point.step.has_value();
        table.add_row({grouped(point.layout.cards), known ? human(point.step->step_time) : "-",
                       known ? human_count(point.step->tokens_per_second) : "-", known ? percent(point.step->mfu) : "-",
                       known ? percent(point.linearity) : "-", grouped(point.layout.global_batch_size),
                       groups_text(plan.transformer, point.layout), verdict_text(point)});
    }
    text += table.text();
    TextTable causes{{"part of the step", "share at the first", "share at the last"}};
    const TrainPoint& first = answer.points.front();
    const TrainPoint& last = answer.points.back();
    if (first.step && last.step) {
        for (int i = 0; i < train::num_parts; ++i) {
            const auto part = static_cast<train::Part>(i);
            causes.add_row({train::to_text(part), percent(first.step->parts[part] / first.step->step_time),
                            percent(last.step->parts[part] / last.step->step_time)});
        }
        text += "\nwhere the difference comes from\n" + causes.text();
    }
    return text + plan_notes(plan, unused_sections);
}

std::string train_json(const model::Plan& plan, const study::TrainAnswer& answer) {
    Json document{{"title", plan.title}};
    if (answer.points.size() == 1) {
        document.update(point_json(answer.points[0]));
    } else {
        Json points = Json::array();
        for (const TrainPoint& point : answer.points) points.push_back(point_json(point));
        document["points"] = points;
    }
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
