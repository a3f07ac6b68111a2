#include "windtunnel/model/layout.hpp"

namespace windtunnel::model {

std::string to_text(Recompute value) {
    switch (value) {
        case Recompute::none:
            return "none";
        case Recompute::selective:
            return "selective";
        case Recompute::full:
            return "full";
    }
    return "";
}

std::string to_text(PipelineSchedule value) {
    switch (value) {
        case PipelineSchedule::gpipe:
            return "gpipe";
        case PipelineSchedule::one_f_one_b:
            return "1f1b";
        case PipelineSchedule::interleaved:
            return "interleaved";
        case PipelineSchedule::zb_1p:
            return "zb_1p";
        case PipelineSchedule::zb_v:
            return "zb_v";
        case PipelineSchedule::v_half:
            return "v_half";
        case PipelineSchedule::v_min:
            return "v_min";
        case PipelineSchedule::dualpipe:
            return "dualpipe";
        case PipelineSchedule::dualpipe_v:
            return "dualpipe_v";
    }
    return "";
}

std::string to_text(const PipelineSplit& value) {
    switch (value.kind) {
        case SplitKind::uniform:
            return "uniform";
        case SplitKind::slots:
            return "slots";
        case SplitKind::short_last:
            return "short_last";
        case SplitKind::explicit_chunks:
            break;
    }
    std::string text = "[";
    for (const int layers : value.layers_per_chunk) text += (text.size() > 1 ? ", " : "") + std::to_string(layers);
    return text + "]";
}

std::string to_text(const Layout& layout) {
    const auto number = [](const char* name, auto value) { return std::string{name} + std::to_string(value); };
    const std::int64_t model_parallel = layout.model_parallel();
    const int dp = model_parallel > 0 ? layout.data_parallel() : 0;
    return number("cards ", layout.cards) + number(" = tp ", layout.tensor_parallel) +
           number(" x cp ", layout.context_parallel) + number(" x dp ", dp) +
           number(" x pp ", layout.pipeline_parallel) + number(", vpp ", layout.virtual_pipeline) +
           number(", ep ", layout.expert_parallel) + number(", etp ", layout.expert_tensor_parallel) +
           number(", micro-batch ", layout.micro_batch_size) + number(", global batch ", layout.global_batch_size) +
           ", recompute " + to_text(layout.recompute) + ", " + to_text(layout.schedule) +
           number(", zero ", layout.optimizer_sharding) + ", split " + to_text(layout.split) +
           (layout.tensor_parallel > 1 && !layout.sequence_parallel ? ", no sequence parallelism" : "");
}

}  // namespace windtunnel::model
