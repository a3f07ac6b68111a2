#include "windtunnel/report/training_step.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "windtunnel/report/plan_summary.hpp"
#include "windtunnel/report/text_table.hpp"
#include "windtunnel/report/units.hpp"

namespace windtunnel::report {
namespace {

using Json = nlohmann::ordered_json;
using model::VerdictReason;
using train::StageMemory;

struct Component {
    const char* name;
    Bytes StageMemory::*bytes;
};
constexpr Component components[] = {{"weights", &StageMemory::weights},     {"gradients", &StageMemory::gradients},
                                    {"optimizer", &StageMemory::optimizer}, {"activations", &StageMemory::activations},
                                    {"logits", &StageMemory::logits},       {"buffers", &StageMemory::buffers},
                                    {"reserve", &StageMemory::reserve}};

std::string verdict_text(const TrainingStep& answer) {
    if (answer.verdict.feasible()) return "fits";
    if (answer.verdict.reason == VerdictReason::out_of_memory)
        return fmt::format("does not fit: stage {} lacks {}", answer.verdict.stage, human(answer.verdict.missing));
    return fmt::format("{}: {}", model::to_text(answer.verdict.reason), answer.verdict.detail);
}

std::string memory_table(const TrainingStep& answer) {
    std::vector<std::string> heads{"stage"};
    for (const Component& component : components) heads.emplace_back(component.name);
    heads.emplace_back("total");
    heads.emplace_back("usable");
    TextTable table{heads};
    for (std::size_t first = 0; first < answer.stages.size();) {
        std::size_t last = first;
        const StageMemory& stage = answer.stages[first];
        while (last + 1 < answer.stages.size() && answer.stages[last + 1].total() == stage.total()) ++last;
        std::vector<std::string> cells{first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last)};
        for (const Component& component : components) cells.push_back(human(stage.*component.bytes));
        cells.push_back(human(stage.total()));
        cells.push_back(human(answer.usable));
        table.add_row(std::move(cells));
        first = last + 1;
    }
    return table.text();
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

Json layout_json(const model::Layout& layout) {
    return {{"cards", layout.cards},
            {"tp", layout.tensor_parallel},
            {"cp", layout.context_parallel},
            {"dp", layout.data_parallel()},
            {"pp", layout.pipeline_parallel},
            {"vpp", layout.virtual_pipeline},
            {"ep", layout.expert_parallel},
            {"etp", layout.expert_tensor_parallel},
            {"edp", layout.expert_data_parallel()},
            {"micro_batch_size", layout.micro_batch_size},
            {"global_batch_size", layout.global_batch_size},
            {"recompute", model::to_text(layout.recompute)},
            {"pipeline_schedule", model::to_text(layout.schedule)},
            {"optimizer_sharding", layout.optimizer_sharding},
            {"pipeline_split", model::to_text(layout.split)}};
}

void add_step(Json& document, const train::StepResult& step) {
    document["step_time_s"] = step.step_time.value();
    document["step_time_relative_error_90"] = step.relative_error_90 > 0 ? Json(step.relative_error_90) : Json(nullptr);
    Json parts = Json::object();
    for (int i = 0; i < train::num_parts; ++i)
        parts[train::to_text(static_cast<train::Part>(i))] = step.parts[static_cast<train::Part>(i)].value();
    document["parts_s"] = parts;
    document["bubble_fraction"] = step.bubble_fraction;
    document["tokens_per_second"] = step.tokens_per_second;
    document["mfu"] = step.mfu;
    document["hfu"] = step.hfu;
    document["mfu_full_attention"] = step.mfu_full_attention;
    document["peak_used_flops_per_s"] = step.peak_used.value();
    document["model_flops"] = step.model_flops.value();
    document["hardware_flops"] = step.hardware_flops.value();
    document["evidence"] = evidence_text(step.evidence);
    document["outside_fitted_range"] = step.outside_fitted_range;
}

}  // namespace

bool has_step(const TrainingStep& answer) noexcept {
    return answer.verdict.feasible() || answer.verdict.reason == VerdictReason::out_of_memory;
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

std::string evidence_note(const train::StepResult& step) {
    std::string note = "evidence: " + evidence_text(step.evidence);
    note += step.relative_error_90 > 0
                ? fmt::format("; 90 % interval of step time +- {}", percent(step.relative_error_90))
                : "; the error of the step time is not known";
    if (step.outside_fitted_range) note += "; WARNING: outside the range of the measurements behind the efficiencies";
    return note + '\n';
}

std::string plan_notes(const model::Plan& plan) {
    std::string text;
    for (const std::string& line : plan.implicit_defaults) text += "default: " + line + '\n';
    for (const std::string& line : plan.assumptions) text += "assumed: " + line + '\n';
    return text;
}

std::string training_step_text(const model::Plan& plan, const TrainingStep& answer) {
    std::string text = plan.title + '\n';
    if (has_step(answer)) {
        const train::StepResult& step = answer.step;
        text += fmt::format("step {}   MFU {}   {} tokens/s   {}\n", human(step.step_time), percent(step.mfu),
                            human_count(step.tokens_per_second), verdict_text(answer));
        text += evidence_note(step);
    } else {
        text += verdict_text(answer) + '\n';
    }
    text += fmt::format("layout   {}\ngroups   {}\n", model::to_text(answer.layout),
                        groups_text(plan.transformer, answer.layout));
    if (has_step(answer)) {
        const train::StepResult& step = answer.step;
        text += fmt::format("HFU {}, MFU with full attention {}; peak {} per card; pipeline idle {} (mean of stages)\n",
                            percent(step.hfu), percent(step.mfu_full_attention), human(step.peak_used),
                            percent(step.bubble_fraction));
        text += fmt::format("\ntime of a step (stage {}, which ends last)\n{}", step.last_stage, parts_table(step));
        text += fmt::format("\nmemory of a card\n{}", memory_table(answer));
        text += answer.smallest_cards > 0
                    ? fmt::format("smallest number of cards that fits: {}\n", grouped(answer.smallest_cards))
                    : std::string{"no number of cards up to the cluster's size fits\n"};
        text += answer.largest_micro_batch > 0
                    ? fmt::format("largest micro-batch that fits: {}\n", answer.largest_micro_batch)
                    : std::string{"no micro-batch fits\n"};
        if (plan.training && plan.training->tokens > 0)
            text += fmt::format("{} tokens without failures: {}\n", human_count(plan.training->tokens),
                                human(Seconds{plan.training->tokens / step.tokens_per_second}));
    }
    return text + plan_notes(plan);
}

std::string training_step_json(const model::Plan& plan, const TrainingStep& answer) {
    Json document{{"title", plan.title},
                  {"layout", layout_json(answer.layout)},
                  {"verdict",
                   {{"reason", model::to_text(answer.verdict.reason)},
                    {"detail", answer.verdict.detail},
                    {"stage", answer.verdict.stage},
                    {"missing_bytes", answer.verdict.missing.value()}}}};
    document["recompute"] = model::to_text(answer.layout.recompute);
    if (has_step(answer)) {
        add_step(document, answer.step);
        Json stages = Json::array();
        for (const StageMemory& stage : answer.stages) {
            Json row = Json::object();
            for (const Component& component : components)
                row[std::string{component.name} + "_bytes"] = (stage.*component.bytes).value();
            row["total_bytes"] = stage.total().value();
            stages.push_back(std::move(row));
        }
        document["memory"] = stages;
        document["usable_bytes"] = answer.usable.value();
        document["smallest_cards_that_fit"] = answer.smallest_cards;
        document["largest_micro_batch_that_fits"] = answer.largest_micro_batch;
    }
    document["implicit_defaults"] = plan.implicit_defaults;
    document["assumptions"] = plan.assumptions;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel::report
