#include <algorithm>
#include <string_view>

#include "windtunnel/train/rules.hpp"
#include "windtunnel/validate/train_rows.hpp"

namespace windtunnel::validate {
namespace {

using model::Measurements;
using model::PublishedRow;
using model::RowDefaults;

/// Value of the row's file, else of its software family.
template <class Value>
std::optional<Value> default_of(const PublishedRow& row, const Measurements& measurements,
                                std::optional<Value> RowDefaults::*member) {
    for (const std::string& key : {row.file + '/' + row.software, row.file})
        if (const auto found = measurements.file_defaults.find(key);
            found != measurements.file_defaults.end() && found->second.*member)
            return found->second.*member;
    if (const auto found = measurements.software_defaults.find(row.software);
        found != measurements.software_defaults.end())
        return found->second.*member;
    return std::nullopt;
}

std::optional<model::Precision> precision_of(std::string_view dtype) {
    using model::Precision;
    if (dtype == "fp32") return Precision::fp32;
    if (dtype == "tf32") return Precision::tf32;
    if (dtype == "fp16") return Precision::fp16;
    if (dtype == "bf16") return Precision::bf16;
    if (dtype == "fp8") return Precision::fp8;
    if (dtype == "mxfp8") return Precision::mxfp8;
    if (dtype == "nvfp4") return Precision::nvfp4;
    if (dtype == "int8") return Precision::int8;
    return std::nullopt;
}

/// Names of the fields without which nothing can be said.
std::string missing_fields(const PublishedRow& row, bool micro_batch_known) {
    std::string list;
    const auto need = [&list](bool present, const char* name) {
        if (!present) list += (list.empty() ? "" : ", ") + std::string{name};
    };
    need(row.hidden.has_value(), "hidden");
    need(row.layers.has_value(), "layers");
    need(row.heads.has_value(), "heads");
    need(row.sequence.has_value(), "seq");
    need(row.cards.has_value(), "cards");
    need(row.tp.has_value(), "tp");
    need(row.pp.has_value(), "pp");
    need(row.mbs.has_value() || micro_batch_known, "mbs");
    need(row.gbs.has_value(), "gbs");
    need(row.ffn.has_value() || row.experts.has_value(), "ffn");
    need(row.vocabulary.has_value(), "vocab");
    return list;
}

model::Transformer transformer_of(const PublishedRow& row, const Measurements& measurements) {
    model::Transformer transformer;
    transformer.name = row.model;
    transformer.num_layers = *row.layers;
    transformer.num_dense_layers = *row.layers;
    transformer.hidden = *row.hidden;
    transformer.ffn = row.ffn.value_or(0);
    transformer.vocabulary = *row.vocabulary;
    transformer.activation = row.gated_mlp.value_or(true) ? model::Activation::swiglu : model::Activation::gelu;
    transformer.tied_embeddings =
        default_of(row, measurements, &RowDefaults::tied_embeddings).value_or(!row.gated_mlp.value_or(true));
    transformer.biases = default_of(row, measurements, &RowDefaults::biases).value_or(false);
    transformer.learned_positions = row.learned_positions ? *row.sequence : 0;
    transformer.num_mtp_layers = row.mtp_layers;

    model::Attention& attention = transformer.attention;
    attention.num_heads = *row.heads;
    attention.num_kv_heads = row.kv_heads.value_or(*row.heads);
    attention.head_dim = row.head_dim.value_or(*row.hidden / *row.heads);
    attention.kind = attention.num_kv_heads == attention.num_heads ? model::AttentionKind::mha
                     : attention.num_kv_heads == 1                 ? model::AttentionKind::mqa
                                                                   : model::AttentionKind::gqa;
    if (row.latent_attention) {
        attention.kind = model::AttentionKind::mla;
        attention.num_kv_heads = attention.num_heads;
        attention.q_lora_rank = row.latent_attention->q_lora_rank;
        attention.kv_lora_rank = row.latent_attention->kv_lora_rank;
        attention.qk_nope_head_dim = row.latent_attention->qk_nope_head_dim;
        attention.qk_rope_head_dim = row.latent_attention->qk_rope_head_dim;
        attention.v_head_dim = row.latent_attention->v_head_dim;
    }
    for (const model::WindowRule& rule : measurements.windows)
        if (row.model.starts_with(rule.model) && rule.window < *row.sequence) {
            attention.sliding_window = rule.window;
            attention.num_sliding_layers = *row.layers / std::max(1, rule.every);
        }

    if (row.experts) {
        const model::PublishedExperts& published = *row.experts;
        transformer.num_dense_layers = published.num_dense_layers;
        transformer.moe_layer_step = std::max(1, published.layer_step);
        // A table prints the shared width in total, or of one expert: then it equals the routed width though several
        // are shared.
        const int one = published.ffn, several = published.num_shared * one;
        const int printed = published.shared_ffn.value_or(several);
        transformer.experts = model::Experts{published.num_routed, published.top_k, published.ffn,
                                             published.num_shared > 1 && printed == one ? several : printed};
    }
    return transformer;
}

/// Layers that do not divide: each chunk takes the ceiling until none are left (short_last), or embedding and head
/// count as layers.
model::PipelineSplit split_of(const PublishedRow& row, const model::Layout& layout, const std::string& rule) {
    const int chunks = layout.pipeline_parallel * layout.virtual_pipeline;
    model::PipelineSplit split;
    if (chunks <= 0 || *row.layers % chunks == 0) return split;
    if (rule == "slots" && (*row.layers + 2 + row.mtp_layers) % chunks == 0) {
        split.kind = model::SplitKind::slots;
        return split;
    }
    if (*row.layers < chunks || chunks > 100000) return split;  // no split: the rule between values says so
    split.kind = model::SplitKind::explicit_chunks;
    const int most = (*row.layers + chunks - 1) / chunks;
    // As many full chunks as leave one layer at least for each chunk behind.
    int left = *row.layers;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int here = std::min(most, left - (chunks - 1 - chunk));
        split.layers_per_chunk.push_back(here);
        left -= here;
    }
    return split;
}

/// Model chunks of a pipeline rank where none are printed: so many layers each, where layers and micro-batches divide.
std::optional<int> chunks_of(const PublishedRow& row, const model::Layout& layout, std::optional<int> layers_per_chunk,
                             std::optional<int> assumed) {
    if (!layers_per_chunk || layout.pipeline_parallel < 2) return assumed;
    const int per_rank = *layers_per_chunk * layout.pipeline_parallel;
    const std::int64_t ranks = layout.model_parallel();
    if (*row.layers % per_rank != 0 || ranks > layout.cards || layout.cards % ranks != 0) return assumed;
    const std::int64_t at_once = std::int64_t{layout.micro_batch_size} * layout.data_parallel();
    const bool rounds = layout.global_batch_size % (at_once * layout.pipeline_parallel) == 0;
    return rounds ? std::optional{*row.layers / per_rank} : assumed;
}

/// Micro-batch where none is printed; without accumulation all sequences of a data-parallel rank.
std::optional<int> micro_batch_of(const PublishedRow& row, std::optional<int> assumed, bool whole_batch) {
    const int ranks = *row.tp * *row.pp * row.cp.value_or(1);
    if (!whole_batch || ranks < 1 || *row.cards % ranks != 0) return assumed;
    return std::max(1, static_cast<int>(*row.gbs) / (*row.cards / ranks));
}

model::Recompute recompute_of(const std::string& text) {
    if (text == "none") return model::Recompute::none;
    if (text == "full" || text.starts_with("block") || text.starts_with("uniform")) return model::Recompute::full;
    return model::Recompute::selective;  // "selective", or the name of a module
}

/// Spellings of the published tables; a schedule that is not printed is 1F1B, or interleaved with chunks.
model::PipelineSchedule schedule_of(const std::string& text, int virtual_pipeline) {
    using enum model::PipelineSchedule;
    static const std::vector<std::pair<std::string, model::PipelineSchedule>> spellings{
        {"gpipe", gpipe}, {"ZB-1P", zb_1p},          {"ZBV", zb_v},         {"ZB-V", zb_v}, {"V-half", v_half},
        {"V-min", v_min}, {"DualPipeV", dualpipe_v}, {"DualPipe", dualpipe}};
    for (const auto& [spelling, schedule] : spellings)
        if (text.starts_with(spelling) && (schedule != gpipe || virtual_pipeline == 1)) return schedule;
    return virtual_pipeline > 1 ? interleaved : one_f_one_b;
}

}  // namespace

const model::CalibrationRule* calibration_of(const PublishedRow& row, const Measurements& measurements) {
    const auto in = [](const std::vector<std::string>& list, const std::string& value) {
        return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    const auto alias = measurements.aliases.find(row.accelerator);
    const std::string& accelerator = alias == measurements.aliases.end() ? row.accelerator : alias->second;
    for (const model::CalibrationRule& rule : measurements.calibrations)
        if (in(rule.files, row.file) && in(rule.software, row.software) && in(rule.accelerators, accelerator) &&
            in(rule.dtypes, row.dtype) && (!rule.moe || *rule.moe == row.experts.has_value()))
            return &rule;
    return nullptr;
}

std::optional<double> measured_step_time_s(const PublishedRow& row) {
    if (row.step_time_s) return row.step_time_s;
    if (row.gbs && row.sequence) {
        const double tokens = static_cast<double>(*row.gbs) * *row.sequence;
        if (row.tokens_per_s_per_card && row.cards) return tokens / (*row.tokens_per_s_per_card * *row.cards);
        if (row.tokens_per_s) return tokens / *row.tokens_per_s;
    }
    return row.derived_step_time_s;
}

std::string family_of(const PublishedRow& row) {
    return row.accelerator + "/" + row.dtype + "/" + (row.experts ? "moe" : "dense") + "/" +
           (row.software.empty() ? "unknown" : row.software);
}

RowJob row_job(const PublishedRow& row, const Measurements& measurements) {
    RowJob result;
    const auto refuse = [&result](std::string problem) {
        result.problem = std::move(problem);
        return result;
    };
    const auto default_micro_batch = default_of(row, measurements, &RowDefaults::micro_batch_size);
    const bool whole_batch = default_of(row, measurements, &RowDefaults::no_accumulation).value_or(false);
    if (const std::string missing = missing_fields(row, whole_batch || default_micro_batch.has_value());
        !missing.empty())
        return refuse("not printed: " + missing);
    for (const model::UnsupportedModel& unsupported : measurements.unsupported)
        if (row.model.starts_with(unsupported.model)) return refuse(unsupported.reason);
    if (row.phase == "lora") return refuse("LoRA: adapters are not modelled");
    const auto alias = measurements.aliases.find(row.accelerator);
    const std::string id = alias == measurements.aliases.end() ? row.accelerator : alias->second;
    const auto accelerator = measurements.accelerators.find(id);
    if (accelerator == measurements.accelerators.end())
        return refuse("accelerator \"" + row.accelerator + "\" is not known");
    const auto precision = precision_of(row.dtype);
    if (!precision) return refuse("dtype \"" + row.dtype + "\" is not known");

    train::Job& job = result.job;
    job.transformer = transformer_of(row, measurements);
    job.cluster.id = id;
    job.cluster.accelerator = accelerator->second;
    if (row.cards_per_node) job.cluster.accelerator.cards_per_node = *row.cards_per_node;
    const int cards_per_node = std::max(1, job.cluster.accelerator.cards_per_node);
    if (const int domain = std::max(1, job.cluster.accelerator.scale_up_domain);
        domain % cards_per_node != 0 && cards_per_node % domain != 0)
        return refuse("nodes of " + std::to_string(cards_per_node) + " cards and a scale-up domain of " +
                      std::to_string(domain) + " cards do not fit into each other");
    job.cluster.num_nodes = (*row.cards - 1) / cards_per_node + 1;
    if (const auto rate = default_of(row, measurements, &RowDefaults::scale_out))
        job.cluster.accelerator.scale_out.bandwidth = *rate;
    if (const model::CalibrationRule* rule = calibration_of(row, measurements)) job.efficiency = rule->efficiency;
    job.efficiency.choose_release(row.release);
    job.sequence_length = *row.sequence;
    job.precision = *precision;
    job.gradient_precision =
        default_of(row, measurements, &RowDefaults::gradient_precision).value_or(model::Precision::fp32);
    if (*precision == model::Precision::fp16 &&
        default_of(row, measurements, &RowDefaults::fp16_gradients).value_or(false))
        job.gradient_precision = model::Precision::fp16;
    job.fused_operators = default_of(row, measurements, &RowDefaults::fused_operators).value_or(true);
    job.flash_attention = default_of(row, measurements, &RowDefaults::flash_attention).value_or(true);

    model::Layout& layout = result.layout;
    layout.cards = *row.cards;
    layout.tensor_parallel = *row.tp;
    layout.pipeline_parallel = *row.pp;
    layout.context_parallel = row.cp.value_or(1);
    layout.expert_parallel = row.ep.value_or(1);
    layout.global_batch_size = *row.gbs;
    const auto take = [&result](const auto& printed, const auto& assumed, auto last, const char* field) {
        if (printed) return *printed;
        result.assumed.emplace_back(field);
        return assumed ? *assumed : last;
    };
    layout.micro_batch_size = take(row.mbs, micro_batch_of(row, default_micro_batch, whole_batch), 1, "mbs");
    layout.virtual_pipeline =
        *row.pp == 1 ? 1
                     : take(row.vpp,
                            chunks_of(row, layout, default_of(row, measurements, &RowDefaults::layers_per_chunk),
                                      default_of(row, measurements, &RowDefaults::virtual_pipeline)),
                            1, "vpp");
    layout.recompute = recompute_of(
        take(row.recompute, default_of(row, measurements, &RowDefaults::recompute), std::string{"none"}, "recompute"));
    layout.optimizer_sharding =
        row.fsdp.value_or(false) && !row.zero
            ? 3
            : row.zero.value_or(default_of(row, measurements, &RowDefaults::optimizer_sharding).value_or(1));
    if (layout.optimizer_sharding > 1 &&
        layout.pipeline_parallel > 1) {  // what a pipeline gathers, it keeps for the step
        layout.optimizer_sharding = 1;
        result.assumed.emplace_back("zero");
    }
    layout.sequence_parallel =
        row.sequence_parallel.value_or(default_of(row, measurements, &RowDefaults::sequence_parallel).value_or(true));
    const bool expert_tensor = default_of(row, measurements, &RowDefaults::expert_tensor_is_tensor).value_or(false);
    layout.expert_tensor_parallel = row.etp.value_or(row.experts && expert_tensor ? *row.tp : 1);
    layout.schedule = schedule_of(row.schedule.value_or(std::string{}), layout.virtual_pipeline);
    layout.split = split_of(row, layout, default_of(row, measurements, &RowDefaults::pipeline_split).value_or("slots"));

    if (const model::Verdict verdict = train::rule_verdict(job, layout); !verdict.feasible())
        return refuse(model::to_text(verdict.reason) + ": " + verdict.detail);
    if (row.dp && *row.dp != layout.data_parallel())
        return refuse("printed dp " + std::to_string(*row.dp) +
                      " is not cards / (tp x pp x cp) = " + std::to_string(layout.data_parallel()));
    return result;
}

}  // namespace windtunnel::validate
