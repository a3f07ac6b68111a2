#include "windtunnel/input/hugging_face.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "hugging_face_config.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/model/layout_rules.hpp"

namespace windtunnel::input {
namespace {

using model::Activation;
using model::AttentionKind;
using model::Transformer;
using Config = HuggingFaceConfig;

/// What a family writes in its own way.
enum class Family { llama, gpt2, falcon, mpt, bloom, opt, moe, deepseek };

struct FamilyOf {
    std::string_view model_type;
    std::string_view architecture;  ///< how the class name starts
    Family family;
    bool tied = false;  ///< default of tie_word_embeddings
    bool query_key_value_bias = false;
};

constexpr std::array families{
    FamilyOf{"llama", "Llama", Family::llama},
    FamilyOf{"mistral", "Mistral", Family::llama},
    FamilyOf{"qwen2", "Qwen2ForCausalLM", Family::llama, false, true},
    FamilyOf{"qwen3", "Qwen3ForCausalLM", Family::llama},
    FamilyOf{"gemma", "GemmaForCausalLM", Family::llama, true},
    FamilyOf{"gemma2", "Gemma2", Family::llama, true},
    FamilyOf{"gemma3_text", "Gemma3", Family::llama, true},
    FamilyOf{"glm", "GlmForCausalLM", Family::llama},
    FamilyOf{"glm4", "Glm4ForCausalLM", Family::llama},
    FamilyOf{"pangu_embedded", "PanguEmbedded", Family::llama},
    FamilyOf{"gpt2", "GPT2", Family::gpt2, true},
    FamilyOf{"falcon", "Falcon", Family::falcon, true},
    FamilyOf{"RefinedWeb", "RWForCausalLM", Family::falcon, true},
    FamilyOf{"RefinedWebModel", "RWForCausalLM", Family::falcon, true},
    FamilyOf{"mpt", "MPT", Family::mpt, true},
    FamilyOf{"bloom", "Bloom", Family::bloom, true},
    FamilyOf{"opt", "OPT", Family::opt, true},
    FamilyOf{"mixtral", "Mixtral", Family::moe},
    FamilyOf{"qwen2_moe", "Qwen2Moe", Family::moe, false, true},
    FamilyOf{"qwen3_moe", "Qwen3Moe", Family::moe},
    FamilyOf{"glm4_moe", "Glm4Moe", Family::moe},
    FamilyOf{"minimax_m2", "MiniMaxM2", Family::moe},
    FamilyOf{"gpt_oss", "GptOss", Family::moe},
    FamilyOf{"llama4_text", "Llama4", Family::moe},
    FamilyOf{"PanguProMoE", "PanguProMoE", Family::moe},
    FamilyOf{"deepseek_v2", "DeepseekV2", Family::deepseek},
    FamilyOf{"deepseek_v3", "DeepseekV3", Family::deepseek},
    FamilyOf{"kimi_k2", "KimiK2", Family::deepseek},
    FamilyOf{"pangu_ultra_moe", "PanguUltraMoE", Family::deepseek},
};

/// Published families with layers that the model has no terms for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> not_modelled{{
    {"deepseek_v32", "sparse attention with an indexer"},
    {"deepseek_v4", "compressed sparse attention"},
    {"glm_moe_dsa", "sparse attention with an indexer"},
    {"qwen3_next", "linear attention layers"},
    {"qwen3_5", "linear attention layers"},
    {"qwen3_5_moe", "linear attention layers"},
    {"minimax_text_01", "linear attention layers"},
    {"minimax", "linear attention layers"},
    {"nemotron_h", "state-space layers"},
    {"mamba", "state-space layers"},
    {"jamba", "state-space layers"},
}};

void read_activation(const Config& config, Transformer& model, bool gated, const std::string& otherwise) {
    const Config::Names names{"hidden_act", "hidden_activation", "activation_function"};
    const std::string word = config.word(names, otherwise);
    const auto is = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is({"silu", "swish"}))
        model.activation = Activation::swiglu;
    else if (is({"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"}))
        model.activation = gated ? Activation::geglu : Activation::gelu;
    else if (is({"relu"}))
        model.activation = Activation::relu;
    else if (is({"relu2", "squared_relu"}))
        model.activation = Activation::squared_relu;
    else
        config.add("hidden_act", fmt::format("\"{}\" is not known", word), "silu, gelu, relu or relu2");
    if (is({"silu", "swish"}) && !gated)
        config.add("hidden_act", "silu in a feed-forward block without gate is not modelled", "gelu or relu");
}

/// Grouped-query attention from head counts; head size from its key, else hidden / heads.
void read_attention(const Config& config, Transformer& model, const Config::Names& heads,
                    const Config::Names& kv_heads) {
    model::Attention& attention = model.attention;
    attention.num_heads = config.required(heads);
    attention.num_kv_heads = config.optional(kv_heads, attention.num_heads, 1);
    const bool divides = model.hidden % attention.num_heads == 0;
    attention.head_dim =
        config.optional({"head_dim", "attention_head_dim"}, divides ? model.hidden / attention.num_heads : 1, 1);
    const auto nearest_divisors = [](int number, int given) {
        return fmt::format("{}", fmt::join(model::nearest_choices(model::divisors(number, number), given, 3), ", "));
    };
    if (!divides && config.usable(heads) && config.usable({"hidden_size", "n_embd", "n_embed", "d_model"}) &&
        config.find({"head_dim", "attention_head_dim"}) == nullptr)
        config.add(heads.front(),
                   fmt::format("{} heads do not divide hidden size {} and there is no head_dim", attention.num_heads,
                               model.hidden),
                   fmt::format("head_dim, or nearest: {}", nearest_divisors(model.hidden, attention.num_heads)));
    if (config.usable(heads) && attention.num_heads % attention.num_kv_heads != 0)
        config.add(
            kv_heads.front(),
            fmt::format("{} key/value heads do not divide {} heads", attention.num_kv_heads, attention.num_heads),
            fmt::format("nearest: {}", nearest_divisors(attention.num_heads, attention.num_kv_heads)));
    attention.kind = attention.num_kv_heads == attention.num_heads ? AttentionKind::mha
                     : attention.num_kv_heads == 1                 ? AttentionKind::mqa
                                                                   : AttentionKind::gqa;
}

/// Sliding windows: layer_types counts the layers; else a pattern or every layer.
void read_window(const Config& config, Transformer& model, const std::string& model_type) {
    const int window = config.optional({"sliding_window"}, 0);
    if (window == 0 || !config.flag({"use_sliding_window"}, true)) return;
    int layers = model.num_layers;
    if (const nlohmann::json* types = config.find({"layer_types"}); types != nullptr && types->is_array())
        layers = static_cast<int>(std::count(types->begin(), types->end(), "sliding_attention"));
    else if (model_type == "gemma2" || model_type == "gpt_oss")
        layers = (model.num_layers + 1) / 2;
    else if (const int pattern = config.optional({"sliding_window_pattern", "_sliding_window_pattern"},
                                                 model_type == "gemma3_text" ? 6 : 0);
             pattern > 1)
        layers = model.num_layers - model.num_layers / pattern;
    else if (model_type.starts_with("qwen"))
        layers = std::max(0, model.num_layers - config.optional({"max_window_layers"}, model.num_layers));
    if (layers == 0) return;
    model.attention.sliding_window = window;
    model.attention.num_sliding_layers = std::min(layers, model.num_layers);
}

void read_llama(const Config& config, Transformer& model) {
    model.hidden = config.required({"hidden_size"});
    model.num_layers = config.required({"num_hidden_layers"});
    model.vocabulary = config.required({"vocab_size"});
    read_attention(config, model, {"num_attention_heads"}, {"num_key_value_heads"});
    read_activation(config, model, true, "silu");
}

void read_gpt2(const Config& config, Transformer& model) {
    model.hidden = config.required({"n_embd"});
    model.num_layers = config.required({"n_layer"});
    model.vocabulary = config.required({"vocab_size"});
    model.ffn = config.optional({"n_inner"}, 4 * std::min(model.hidden, 1'000'000), 1);
    model.learned_positions = config.optional({"n_positions", "n_ctx"}, 1024);
    model.biases = true;
    read_attention(config, model, {"n_head"}, {"n_head"});
    read_activation(config, model, false, "gelu_new");
}

void read_falcon(const Config& config, Transformer& model) {
    model.hidden = config.required({"hidden_size", "n_embed"});
    model.num_layers = config.required({"num_hidden_layers", "n_layer"});
    model.vocabulary = config.required({"vocab_size"});
    model.ffn = config.optional({"ffn_hidden_size"}, 4 * std::min(model.hidden, 1'000'000), 1);
    model.biases = config.flag({"bias"}, false);
    // The old decoder has one key/value head with multi_query, else one per head; the new one says how many.
    const bool grouped = config.flag({"new_decoder_architecture"}, config.find({"n_head_kv"}) != nullptr);
    read_attention(config, model, {"num_attention_heads", "n_head"}, {"num_kv_heads", "n_head_kv"});
    if (!grouped) {
        const bool one = config.flag({"multi_query"}, true);
        model.attention.num_kv_heads = one ? 1 : model.attention.num_heads;
        model.attention.kind = one ? AttentionKind::mqa : AttentionKind::mha;
    }
    model.activation = Activation::gelu;
}

void read_mpt(const Config& config, Transformer& model) {
    model.hidden = config.required({"d_model"});
    model.num_layers = config.required({"n_layers"});
    model.vocabulary = config.required({"vocab_size"});
    model.ffn = config.optional({"expansion_ratio"}, 4, 1) * std::min(model.hidden, 1'000'000);
    model.biases = !config.flag({"no_bias"}, true);
    read_attention(config, model, {"n_heads"}, {"n_heads"});
    const auto attention = config.nested({"attn_config"});
    const bool alibi = attention && attention->flag({"alibi"}, false);
    if (attention) {
        const std::string type = attention->word({"attn_type"}, "multihead_attention");
        int kv_heads = model.attention.num_heads;
        if (type == "multiquery_attention")
            kv_heads = 1;
        else if (type == "grouped_query_attention")
            kv_heads = attention->required({"kv_n_heads"});
        else if (type != "multihead_attention")
            attention->add("attn_type", fmt::format("\"{}\" is not known", type),
                           "multihead_attention, multiquery_attention or grouped_query_attention");
        if (model.attention.num_heads % kv_heads != 0)
            attention->add("kv_n_heads",
                           fmt::format("{} does not divide {} heads", kv_heads, model.attention.num_heads), {});
        model.attention.num_kv_heads = kv_heads;
        model.attention.kind = kv_heads == model.attention.num_heads ? AttentionKind::mha
                               : kv_heads == 1                       ? AttentionKind::mqa
                                                                     : AttentionKind::gqa;
    }
    if (!alibi && config.flag({"learned_pos_emb"}, true)) model.learned_positions = config.optional({"max_seq_len"}, 0);
    model.activation = Activation::gelu;
}

void read_bloom(const Config& config, Transformer& model) {
    model.hidden = config.required({"hidden_size", "n_embed"});
    model.num_layers = config.required({"num_hidden_layers", "n_layer"});
    model.vocabulary = config.required({"vocab_size"});
    model.ffn = 4 * std::min(model.hidden, 1'000'000);
    model.biases = true;
    read_attention(config, model, {"num_attention_heads", "n_head"}, {"num_attention_heads", "n_head"});
    model.activation = Activation::gelu;
}

void read_opt(const Config& config, Transformer& model) {
    model.hidden = config.required({"hidden_size"});
    model.num_layers = config.required({"num_hidden_layers"});
    model.vocabulary = config.required({"vocab_size"});
    model.ffn = config.required({"ffn_dim"});
    model.biases = config.flag({"enable_bias"}, true);
    model.learned_positions = config.optional({"max_position_embeddings"}, 2048);
    read_attention(config, model, {"num_attention_heads"}, {"num_attention_heads"});
    read_activation(config, model, false, "relu");
}

/// Which layers have experts: leading dense layers, then every n-th layer. Another pattern is a finding.
void read_moe_pattern(const Config& config, Transformer& model, int step) {
    model.moe_layer_step = std::max(1, step);
    model.num_dense_layers = config.optional({"first_k_dense_replace", "num_dense_layers"}, 0);
    std::vector<int> dense = config.integers({"mlp_only_layers"});
    std::sort(dense.begin(), dense.end());
    for (const int layer : dense) {
        if (layer != model.num_dense_layers || model.moe_layer_step != 1) {
            config.add("mlp_only_layers", "dense layers behind the first MoE layer are not modelled",
                       "leading layers only");
            return;
        }
        ++model.num_dense_layers;
    }
    if (model.num_dense_layers > model.num_layers)
        config.add("first_k_dense_replace",
                   fmt::format("{} dense layers of {}", model.num_dense_layers, model.num_layers),
                   "at most the number of layers");
}

void read_experts(const Config& config, Transformer& model, const std::string& model_type) {
    model::Experts experts;
    const Config::Names routed{"n_routed_experts", "num_local_experts", "num_experts", "num_routed_experts"};
    experts.num_routed = config.required(routed);
    experts.top_k = config.required({"num_experts_per_tok", "experts_per_token", "num_experts_per_token"});
    const bool one_size = model_type == "mixtral" || model_type == "minimax_m2" || model_type == "gpt_oss" ||
                          model_type == "llama4_text";  // intermediate_size is that of an expert
    experts.ffn = one_size ? config.required({"intermediate_size"}) : config.required({"moe_intermediate_size"});
    if (one_size) model.ffn = config.optional({"intermediate_size_mlp"}, 0);
    const int shared = config.optional({"n_shared_experts", "num_shared_experts"}, model_type == "llama4_text" ? 1 : 0);
    experts.shared_ffn = config.optional({"shared_expert_intermediate_size", "shared_intermediate_size"},
                                         std::min(shared, 1000) * experts.ffn);
    if (config.usable(routed) && experts.top_k > experts.num_routed)
        config.add("num_experts_per_tok", fmt::format("{} of {} experts", experts.top_k, experts.num_routed),
                   "at most the number of routed experts");
    model.experts = experts;
    const int step = model_type == "llama4_text" ? config.optional({"interleave_moe_layer_step"}, 1, 1)
                                                 : config.optional({"decoder_sparse_step", "moe_layer_freq"}, 1, 1);
    read_moe_pattern(config, model, step);
    if (model.num_moe_layers() == 0) config.add("num_experts", "no layer has experts", "at least one MoE layer");
}

void read_latent_attention(const Config& config, Transformer& model) {
    model::Attention& attention = model.attention;
    attention.kind = AttentionKind::mla;
    attention.num_heads = config.required({"num_attention_heads"});
    attention.num_kv_heads = attention.num_heads;
    attention.head_dim = 0;
    attention.q_lora_rank = config.optional({"q_lora_rank", "attention_q_lora_dim"}, 0);
    attention.kv_lora_rank = config.required({"kv_lora_rank", "attention_kv_lora_dim"});
    attention.qk_nope_head_dim = config.required({"qk_nope_head_dim", "attention_qk_dim"});
    attention.qk_rope_head_dim = config.required({"qk_rope_head_dim", "attention_qk_rope_dim"});
    attention.v_head_dim = config.required({"v_head_dim", "attention_v_dim"});
}

int mtp_layers(const Config& config) {
    const int modules = config.optional({"num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules"}, 0);
    return config.flag({"use_mtp"}, true) ? modules : 0;
}

Transformer read_family(const Config& config, const FamilyOf& family, const std::string& model_type) {
    Transformer model;
    switch (family.family) {
        case Family::llama:
            read_llama(config, model);
            break;
        case Family::gpt2:
            read_gpt2(config, model);
            break;
        case Family::falcon:
            read_falcon(config, model);
            break;
        case Family::mpt:
            read_mpt(config, model);
            break;
        case Family::bloom:
            read_bloom(config, model);
            break;
        case Family::opt:
            read_opt(config, model);
            break;
        case Family::moe:
            read_llama(config, model);
            read_experts(config, model, model_type);
            break;
        case Family::deepseek:
            model.hidden = config.required({"hidden_size"});
            model.num_layers = config.required({"num_hidden_layers"});
            model.vocabulary = config.required({"vocab_size"});
            read_latent_attention(config, model);
            read_activation(config, model, true, "silu");
            if (config.find({"n_routed_experts", "num_routed_experts"}) != nullptr)
                read_experts(config, model, model_type);
            break;
    }
    const bool has_dense = !model.experts || model.num_moe_layers() < model.num_layers;
    if (model.ffn == 0 && has_dense) model.ffn = config.required({"intermediate_size"});
    if (!model.experts) model.num_dense_layers = model.num_layers;
    model.tied_embeddings = config.flag({"tie_word_embeddings"}, family.tied);
    model.biases = model.biases || config.flag({"attention_bias", "bias", "qkv_bias"}, family.query_key_value_bias);
    model.num_mtp_layers = mtp_layers(config);
    if (family.family == Family::llama || family.family == Family::moe) read_window(config, model, model_type);
    return model;
}

const FamilyOf* family_of(const Config& config, const std::string& model_type) {
    for (const FamilyOf& family : families)
        if (family.model_type == model_type) return &family;
    if (!model_type.empty()) return nullptr;
    const nlohmann::json* names = config.find({"architectures"});
    if (names != nullptr && names->is_array() && !names->empty() && names->front().is_string())
        for (const FamilyOf& family : families)
            if (names->front().get<std::string>().starts_with(family.architecture)) return &family;
    return nullptr;
}

}  // namespace

std::vector<std::string> known_model_types() {
    std::vector<std::string> names;
    for (const FamilyOf& family : families) names.emplace_back(family.model_type);
    return names;
}

Transformer read_hugging_face(const std::string& text, const std::string& file_name,
                              std::vector<base::Finding>& findings) {
    nlohmann::json root;
    try {
        root = nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const TextPlace place = place_of(text, error.byte == 0 ? 0 : error.byte - 1);
        findings.push_back({file_name, place.line, place.column, {}, "not valid JSON", "the config.json of a model"});
        return {};
    } catch (const nlohmann::json::exception&) {  // out of range: thrown without a place
        findings.push_back({file_name, 0, 0, {}, "a number is too large to be read", "the config.json of a model"});
        return {};
    }
    if (!root.is_object()) {
        findings.push_back({file_name, 1, 1, {}, "not a JSON object", "the config.json of a model"});
        return {};
    }
    const Config outer{root, text, file_name, findings};
    const auto nested = outer.nested({"text_config", "llm_config", "language_config"});
    const Config& config = nested ? *nested : outer;
    std::string model_type = config.word({"model_type"}, "");
    if (model_type.empty() && nested) {
        model_type = outer.word({"model_type"}, "");
        if (model_type == "gemma3" || model_type == "llama4") model_type += "_text";
    }
    for (const auto& [name, why] : not_modelled)
        if (model_type == name) {
            config.add("model_type", fmt::format("\"{}\" has {}, which is not modelled", model_type, why),
                       "a model with MHA, MQA, GQA or MLA attention");
            return {};
        }
    const FamilyOf* family = family_of(config, model_type);
    if (family == nullptr) family = model_type.empty() ? family_of(outer, model_type) : nullptr;
    if (family == nullptr) {
        const std::vector<std::string> known = known_model_types();
        config.add("model_type",
                   model_type.empty() ? "is missing, and architectures names no known family"
                                      : fmt::format("\"{}\" is not known", model_type),
                   fmt::format("one of {}{}", fmt::join(known, ", "),
                               model_type.empty() ? "" : "; the nearest is " + base::nearest_name(model_type, known)));
        return {};
    }
    Transformer model = read_family(config, *family, std::string{family->model_type});
    model.name = outer.word({"_name_or_path", "name"}, "");
    if (model.name.empty()) model.name = std::string{family->model_type};
    return model;
}

}  // namespace windtunnel::input
