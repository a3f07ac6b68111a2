#include <algorithm>

#include "binders.hpp"

namespace windtunnel::input {
namespace {

using model::PipelineSchedule;
using model::Precision;
using model::Recompute;

const std::vector<std::pair<std::string, Recompute>> recomputes{
    {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};
const std::vector<std::pair<std::string, PipelineSchedule>> schedules{{"1f1b", PipelineSchedule::one_f_one_b},
                                                                      {"gpipe", PipelineSchedule::gpipe},
                                                                      {"interleaved", PipelineSchedule::interleaved},
                                                                      {"zb_1p", PipelineSchedule::zb_1p},
                                                                      {"zb_v", PipelineSchedule::zb_v},
                                                                      {"v_half", PipelineSchedule::v_half},
                                                                      {"v_min", PipelineSchedule::v_min},
                                                                      {"dualpipe", PipelineSchedule::dualpipe},
                                                                      {"dualpipe_v", PipelineSchedule::dualpipe_v}};
const std::vector<std::pair<std::string, Precision>> precisions{
    {"bf16", Precision::bf16},   {"fp16", Precision::fp16}, {"fp8", Precision::fp8},   {"mxfp8", Precision::mxfp8},
    {"nvfp4", Precision::nvfp4}, {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"int8", Precision::int8}};

template <class Number>
model::Axis<Number> integer_axis(const Value& value) {
    model::Axis<Number> axis{value.any, {}};
    for (const std::int64_t integer : value.integers) axis.values.push_back(static_cast<Number>(integer));
    return axis;
}

template <class Word>
model::Axis<Word> word_axis(const Value& value, const std::vector<std::pair<std::string, Word>>& words) {
    model::Axis<Word> axis{value.any, {}};
    for (const std::string& text : value.texts) axis.values.push_back(enum_of(text, words));
    return axis;
}

model::PipelineSplit split_of(const Value& value) {
    using model::SplitKind;
    model::PipelineSplit split;
    split.kind = SplitKind::explicit_chunks;
    if (!value.text.empty())
        split.kind = enum_of<SplitKind>(
            value.text,
            {{"uniform", SplitKind::uniform}, {"slots", SplitKind::slots}, {"short_last", SplitKind::short_last}});
    for (const std::int64_t layers : value.integers) split.layers_per_chunk.push_back(static_cast<int>(layers));
    return split;
}

/// The published value of an axis: its own key, else the one value of the space, else the default.
template <class Number>
Number published_number(const Values& values, const char* path, const model::Axis<Number>& axis, Number fallback) {
    if (values.given(path)) return static_cast<Number>(values[path].integer);
    return axis.fixed() ? axis.values.front() : fallback;
}

template <class Word>
Word published_word(const Values& values, const char* path, const model::Axis<Word>& axis,
                    const std::vector<std::pair<std::string, Word>>& words, Word fallback) {
    if (values.given(path)) return enum_of(values.text(path), words);
    return axis.fixed() ? axis.values.front() : fallback;
}

model::LayoutSpace bind_space(const Values& train) {
    const Values values = train.below("layout");
    model::LayoutSpace space;
    space.cards = integer_axis<int>(values["cards"]);
    space.tensor_parallel = integer_axis<int>(values["tensor_parallel"]);
    space.pipeline_parallel = integer_axis<int>(values["pipeline_parallel"]);
    space.virtual_pipeline = integer_axis<int>(values["virtual_pipeline"]);
    space.context_parallel = integer_axis<int>(values["context_parallel"]);
    space.expert_parallel = integer_axis<int>(values["expert_parallel"]);
    space.expert_tensor_parallel = integer_axis<int>(values["expert_tensor_parallel"]);
    space.micro_batch_size = integer_axis<int>(values["micro_batch_size"]);
    space.global_batch_size = integer_axis<std::int64_t>(train["global_batch_size"]);
    space.recompute = word_axis(values["recompute"], recomputes);
    space.schedule = word_axis(values["pipeline_schedule"], schedules);
    space.optimizer_sharding = integer_axis<int>(values["optimizer_sharding"]);
    space.sequence_parallel = values.flag("sequence_parallel");
    space.split = split_of(values["pipeline_split"]);
    return space;
}

model::Layout bind_published(const Values& train, const model::LayoutSpace& space, const model::Cluster& cluster,
                             Findings& findings) {
    const Values values = train.below("published");
    model::Layout layout;
    layout.cards = published_number(values, "cards", space.cards, cluster.num_cards());
    layout.tensor_parallel = published_number(values, "tensor_parallel", space.tensor_parallel, 1);
    layout.pipeline_parallel = published_number(values, "pipeline_parallel", space.pipeline_parallel, 1);
    layout.virtual_pipeline = published_number(values, "virtual_pipeline", space.virtual_pipeline, 1);
    layout.context_parallel = published_number(values, "context_parallel", space.context_parallel, 1);
    layout.expert_parallel = published_number(values, "expert_parallel", space.expert_parallel, 1);
    layout.expert_tensor_parallel = published_number(values, "expert_tensor_parallel", space.expert_tensor_parallel, 1);
    layout.micro_batch_size = published_number(values, "micro_batch_size", space.micro_batch_size, 1);
    layout.global_batch_size = published_number<std::int64_t>(values, "global_batch_size", space.global_batch_size, 0);
    layout.recompute = published_word(values, "recompute", space.recompute, recomputes, Recompute::none);
    layout.schedule =
        published_word(values, "pipeline_schedule", space.schedule, schedules, PipelineSchedule::one_f_one_b);
    layout.optimizer_sharding = published_number(values, "optimizer_sharding", space.optimizer_sharding, 1);
    layout.sequence_parallel =
        values.given("sequence_parallel") ? values.flag("sequence_parallel") : space.sequence_parallel;
    layout.split = values.given("pipeline_split") ? split_of(values["pipeline_split"]) : space.split;
    if (layout.global_batch_size == 0 && !train["global_batch_size"].bad)
        findings.push_back(finding_at(values.place, field_of(values, "global_batch_size"),
                                      "is missing, and train.global_batch_size has more than one value",
                                      "the batch of the published layout"));
    return layout;
}

}  // namespace

model::Training bind_training(const Values& plan, const model::Cluster& cluster, Findings& findings) {
    model::Training training;
    Values values = plan.below("train");
    training.sequence_length = values.integer("sequence_length");
    training.tokens = values.number("tokens");
    training.precision = enum_of(values.text("precision"), precisions);
    training.gradient_precision = enum_of(values.text("gradient_precision"), precisions);
    training.activation_precision = enum_of(values.text("activation_precision"), precisions);
    training.flash_attention = values.flag("flash_attention");
    training.fused_operators = values.flag("fused_operators");
    if (values.given("reserve")) training.reserve_fraction = values.number("reserve");
    training.methods = bind_methods(values, findings);
    training.documents = bind_documents(values, training.sequence_length, findings);
    training.layout = bind_space(values);
    if (values.has_section("published"))
        training.published = bind_published(values, training.layout, cluster, findings);
    return training;
}

model::Search bind_search(const Values& plan) {
    using model::Objective;
    const Values values = plan.below("search");
    model::Search search;
    search.objective =
        enum_of<Objective>(values.text("objective"), {{"tokens_per_second", Objective::tokens_per_second},
                                                      {"step_time", Objective::step_time},
                                                      {"cost", Objective::cost},
                                                      {"energy", Objective::energy},
                                                      {"time_to_tokens", Objective::time_to_tokens}});
    search.pareto = values["pareto"].texts;
    search.top = values.integer("top");
    search.margin = values.number("margin");
    if (values.given("limits.parameters")) search.max_parameters = values.number("limits.parameters");
    if (values.given("limits.activated_parameters"))
        search.max_activated_parameters = values.number("limits.activated_parameters");
    if (values.given("limits.usd")) search.max_usd = Usd{values.number("limits.usd")};
    if (values.given("limits.power")) search.max_power = Watts{values.number("limits.power")};
    return search;
}

}  // namespace windtunnel::input
